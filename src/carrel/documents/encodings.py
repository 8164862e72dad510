"""The text of a file in the encoding that its mark, its zeros or its page names; else in UTF-8 or Windows-1252."""

import codecs
import contextlib
import re
from collections import Counter
from typing import Final

from bs4.dammit import EncodingDetector

from carrel.documents.refusals import FormatMismatch, TextNotUtf8
from carrel.kit import encodings

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


_OTHERS: Final = {"windows-31j": "cp932", "windows-874": "cp874", "unicode": "utf-8", "logical": "iso8859-8"}
"""Encodings that Python knows under another name only."""
_UNREAD: Final = re.compile(rb"<!--.*?-->|<script.*?</script\s*>", re.DOTALL | re.IGNORECASE)


def decoded(body: memoryview, left_out: Counter[str], *, page: bool) -> str:
    """The text of a file; a web page may name its encoding within. A guess is said in `left_out`.

    Raises:
        FormatMismatch, TextNotUtf8
    """
    mark, encoding = encodings.of(bytes(body[: encodings.GUESSED_BY]))
    named = encoding or (_declared(body) if page else "")
    try:
        text = str(body[mark:], named or "utf-8")
    except (UnicodeError, LookupError):
        if named or not encodings.is_western(bytes(body)):
            raise TextNotUtf8 from None
        left_out["guessed_encoding"] += 1
        text = str(body, encodings.WESTERN)
    if "\0" in text:  # valid in these encodings, but no text
        raise FormatMismatch
    return text.replace("\r\n", "\n").replace("\r", "\n")


def forgiving(body: bytes, named: str) -> str:
    """The text in the encoding that something names; what is none of its characters becomes U+FFFD.

    What calls itself ASCII or names no encoding, and is more than ASCII, is UTF-8, or else what Windows wrote.
    """
    known = _known(named) or "ascii"
    if known == "ascii":
        with contextlib.suppress(UnicodeDecodeError):
            return body.decode()
    if known.startswith("utf-16") and b"\0" in body:
        return body.decode(known, "replace")
    try:
        return body.decode(_AS_BROWSERS_READ.get(known, known), "replace")
    except (LookupError, ValueError):  # what Python calls an encoding, and is none of texts
        return body.decode("utf-8", "replace")


def _known(named: str) -> str:
    """Python's name of an encoding, also where mails and pages name it otherwise; nothing for one it does not know."""
    plain = named.lower().removeprefix("x-").partition("//")[0]
    for name in (named, plain, plain.removesuffix("-i").removesuffix("-e"), plain.replace("cp-", "cp")):
        with contextlib.suppress(LookupError, ValueError):
            return codecs.lookup(_OTHERS.get(name, name)).name
    return ""


def _declared(page: memoryview) -> str:
    """The encoding that a page names; nothing if it names none."""
    named = EncodingDetector.find_declared_encoding(_UNREAD.sub(b"", bytes(page[:8192])), is_html=True)
    if not named:
        return ""
    found = _known(named)
    if not found:
        raise TextNotUtf8
    return _AS_BROWSERS_READ.get(found, found)
