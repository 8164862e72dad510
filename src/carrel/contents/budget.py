"""What the resolving of one request may take in all, however many texts it resolves."""

from collections.abc import Callable
from typing import Final

from carrel.errors import BadInput

MAX_REFERENCES: Final = 100_000
"""The most placeholders in all texts of one request. Each costs about 3 microseconds."""

_STEP: Final = 500
"""The number of placeholders between two calls of `pause`, about 2 milliseconds."""


class ResolveBudget(BadInput):
    """The texts of one request hold too many placeholders, or are too long together."""

    code = "resolve-budget"
    detail = "The texts of this request hold more placeholders, or are longer together, than one request may resolve."


class Budget:
    """Counts placeholders and bytes over all texts of one request, and refuses when either limit is passed.

    `pause` is called every few milliseconds of resolving: there the work may wait or end.
    """

    def __init__(self, max_bytes: int, pause: Callable[[], None] = lambda: None) -> None:
        self._references = MAX_REFERENCES
        self._bytes = max_bytes
        self._pause = pause
        self._pause_at = MAX_REFERENCES

    def visit(self, references: int = 1) -> None:
        """Count placeholders that are replaced or carried on.

        Raises:
            ResolveBudget: they are too many.
        """
        self._references -= references
        if self._references <= self._pause_at:
            if self._references < 0:
                raise ResolveBudget
            self._pause_at = max(self._references - _STEP, -1)
            self._pause()

    def read(self, size: int) -> None:
        """Count the bytes of a text that goes into the request's work.

        Raises:
            ResolveBudget: the texts are too long together.
        """
        self._bytes -= size
        if self._bytes < 0:
            raise ResolveBudget
        self._pause()
