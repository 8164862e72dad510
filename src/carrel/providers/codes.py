"""Codes of provider errors that other modules than the one that raises them look at."""

FORM_REFUSED = "structured-output-refused"
"""The server refuses this form of a structured answer; the next call asks in a weaker form."""
ANSWER_TOO_LARGE = "answer-too-large"
"""The answer is longer, or has more elements, than any should have. The same call would bring it again."""
SERVICE_BUSY = "service-busy"
"""Long answers of the same user take all the memory that they may have."""
