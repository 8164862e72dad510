"""Which encoding a text has: its mark names it, or its zeros do, or it is such as Windows writes in Western Europe."""

import codecs
import re
import unicodedata
from typing import Final

GUESSED_BY: Final = 200
"""So many bytes tell the encoding, and not fewer than `_FEWEST`."""
_FEWEST: Final = 8
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    # The longer marks first: that of UTF-32 begins like that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
WESTERN: Final = "cp1252"
_NO_WESTERN: Final = re.compile(rb"[\x00-\x08\x0e-\x1f\x81\x8d\x8f\x90\x9d]")
_FOREIGN: Final = re.compile(rb"[\x80-\xff]{3,}|[\xc2-\xd6][\x80-\xbf]|[A-Za-z][\xb3\xb9\xbf][a-z]")
"""What texts in the encodings of other scripts are full of, broken UTF-8 too, and those in Polish: ³, ¹, ¿ in words."""


def of(head: bytes) -> tuple[int, str | None]:
    """The length of a text's mark, and its encoding; `None` if neither mark nor zeros tell it.

    Every second byte of UTF-16 is zero where the text is English, and that of each space in any language.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return len(mark), encoding
    head = head[:GUESSED_BY] if len(head) >= _FEWEST else b""
    for encoding, zeros, others in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        if zeros.count(0) > len(zeros) // 2 and not others.count(0):
            return 0, encoding
        if zeros.count(0) and not others.count(0) and _is_written(head[: len(head) & ~1], encoding):
            return 0, encoding
    return 0, None


def is_western(text: bytes) -> bool:
    """Whether a text that is not UTF-8 may be Windows-1252: letters beyond ASCII stand among others."""
    beyond = len(text) - len(text.translate(None, bytes(range(0x80, 0x100))))
    foreign = sum(map(len, _FOREIGN.findall(text)))
    return _NO_WESTERN.search(text) is None and beyond * 2 <= len(text) and foreign * 5 <= beyond


def _is_written(head: bytes, encoding: str) -> bool:
    """Whether it is writing in another script than the Latin one, with spaces, commas or line breaks in it."""
    try:
        found = head[:-2].decode(encoding)
    except UnicodeDecodeError:
        return False
    return all(unicodedata.category(sign) not in ("Cn", "Co", "Cc") or sign in "\t\r\n" for sign in found)
