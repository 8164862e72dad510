"""What the resolving of one request may take in all, however many texts it resolves."""

from typing import Final

from carrel.errors import BadInput

MAX_REFERENCES: Final = 100_000
"""The most placeholders in all texts of one request. Each costs about 3 microseconds."""


class ResolveBudget(BadInput):
    """The texts of one request hold too many placeholders, or are too long together."""

    code = "resolve-budget"
    detail = "The texts of this request hold more placeholders, or are longer together, than one request may resolve."


class Budget:
    """Counts placeholders and bytes over all texts of one request, and refuses when either limit is passed."""

    def __init__(self, max_bytes: int) -> None:
        self._references = MAX_REFERENCES
        self._bytes = max_bytes

    def visit(self, references: int = 1) -> None:
        """Count placeholders that are replaced or carried on.

        Raises:
            ResolveBudget: they are too many.
        """
        self._references -= references
        if self._references < 0:
            raise ResolveBudget

    def read(self, size: int) -> None:
        """Count the bytes of a text that goes into the request's work.

        Raises:
            ResolveBudget: the texts are too long together.
        """
        self._bytes -= size
        if self._bytes < 0:
            raise ResolveBudget
