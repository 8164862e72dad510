"""Codes of provider errors that other modules than the one that raises them look at."""

FORM_REFUSED = "structured-output-refused"
"""The server refuses this form of a structured answer; the next call asks in a weaker form."""
