"""What counts as text: whatever UTF-8 can encode, but NUL, at which programs and functions of SQLite end a text."""

import re
from typing import Final

NOT_TEXT: Final = "holds characters that are no text"
"""What callers are told of an input that is not text."""
_NUL_IN_JSON: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def is_text(text: str) -> bool:
    """Whether it is: JSON can name NUL, and half of a surrogate pair."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_text(text: str) -> str:
    """With marks in place of what is no text, for texts that nobody can be asked to mend."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def names_nul(json: bytes) -> bool:
    """Whether a string in valid JSON holds a NUL, which JSON can only name."""
    return b"\\u0000" in json and _NUL_IN_JSON.search(json) is not None
