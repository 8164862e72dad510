"""Which encoding a text has: the one that its mark or its page names, and UTF-8 without either. Nothing is guessed."""

import codecs
from typing import Final

from bs4.dammit import EncodingDetector

from carrel.documents.refusals import FormatMismatch, TextNotUtf8

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_AS_BROWSERS_READ: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "utf-16": "utf-8",
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}
"""Encodings that pages name for another that holds more; who could read the name of UTF-16 does not read UTF-16."""


def decoded(body: memoryview, *, page: bool) -> str:
    """The text of a file; a web page may name its encoding within.

    Raises:
        FormatMismatch, TextNotUtf8
    """
    mark, encoding = next(((mark, name) for mark, name in _MARKS if body[: len(mark)] == mark), (b"", ""))
    encoding = encoding or (_declared(body) if page else "") or "utf-8"
    try:
        text = str(body[len(mark) :], encoding)
    except (UnicodeError, LookupError):
        raise TextNotUtf8 from None
    if "\0" in text:  # valid in these encodings, but no text
        raise FormatMismatch
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _declared(page: memoryview) -> str:
    named = EncodingDetector.find_declared_encoding(bytes(page[:8192]), is_html=True)
    try:
        found = codecs.lookup(named or "utf-8")
    except LookupError:
        raise TextNotUtf8 from None
    return _AS_BROWSERS_READ.get(found.name, found.name)
