"""What a check ignores of texts. Pure, and without the libraries that only workers import."""

from carrel.checks.definition import Check


def folded(check: Check, text: str) -> str:
    """The text without what the check ignores; two texts are equal for it if these are."""
    if check.ignore_case:
        text = text.casefold()
    return " ".join(text.split()) if check.ignore_space else text
