"""Codes of provider errors that are looked at elsewhere than where they are raised."""

FORM_REFUSED = "structured-output-refused"
"""The server will not be asked for a structured answer in this form; the next call asks in a weaker one."""
