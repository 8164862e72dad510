"""Regular expressions whose time is linear in the text: RE2 has no pattern that takes longer. For workers only."""

from collections.abc import Iterable
from typing import Final, Protocol

import re2

_MAX_MEMORY_BYTES: Final = 2 * 1024 * 1024
"""For the program of one pattern, which takes up to 25 ms to compile. RE2 refuses one that needs more."""


class Pattern(Protocol):
    """A pattern that was compiled."""

    def search(self, text: str) -> object | None: ...


def compiled(pattern: str, *, ignore_case: bool) -> Pattern:
    """The pattern, compiled.

    Raises:
        ValueError: it is not in the syntax of RE2, or it is too large.
    """
    options = re2.Options()
    options.max_mem = _MAX_MEMORY_BYTES
    options.log_errors = False  # the library would print the pattern
    options.case_sensitive = not ignore_case
    try:
        made: Pattern = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError):
        raise ValueError("pattern") from None
    finally:
        re2.purge()  # it would keep the last 128 patterns, whosever they are
    return made


def of_words(texts: Iterable[str]) -> str:
    """A pattern for any of the texts as whole words. A text may begin or end with a mark, such as `C++`."""
    border = r"[^\pL\pN_]"
    return rf"(?:^|{border})(?:{'|'.join(re2.escape(text.strip()) for text in texts)})(?:{border}|$)"


def compiled_if_valid(pattern: str, *, ignore_case: bool) -> Pattern | None:
    """The pattern, compiled; `None` if it cannot be."""
    try:
        return compiled(pattern, ignore_case=ignore_case)
    except ValueError:
        return None
