"""Extracts the text of a file. The bytes may be hostile, so this runs in a worker process and nowhere else."""

import codecs

from carrel.documents.refusals import (
    DocumentTooComplex,
    DocumentWithoutText,
    FormatMismatch,
    TextNotUtf8,
    TextTooLarge,
)
from carrel.documents.schemas import Format
from carrel.kit.plain_text import as_text

_MARK = codecs.BOM_UTF8
PIECE_BYTES = 256 * 1024


def text_of(claimed: Format, body: memoryview, max_bytes: int) -> str:
    """The text of a file, at most `max_bytes` of UTF-8.

    Raises:
        CarrelError: one of this package's refusals.
    """
    try:
        # A PDF may name half of a surrogate pair, and NUL.
        text = as_text(_read(claimed, body, max_bytes))
    except (MemoryError, RecursionError):
        raise DocumentTooComplex from None
    if len(text.encode()) > max_bytes:
        raise TextTooLarge
    if not text.strip():
        raise DocumentWithoutText
    return text


def _read(claimed: Format, body: memoryview, max_bytes: int) -> str:
    # Imported only where needed, because a reader takes time and memory to import.
    if claimed == "pdf":
        from carrel.documents import pdf

        return pdf.text(body, max_bytes)
    if claimed == "docx":
        from carrel.documents import docx

        return docx.text(body, max_bytes)
    _check(body)
    body = body[len(_MARK) :] if body[: len(_MARK)] == _MARK else body
    if claimed == "html":
        from carrel.documents import html

        return html.text(body, max_bytes)
    return str(body, "utf-8").replace("\r\n", "\n").replace("\r", "\n")


def _check(body: memoryview) -> None:
    """Check that a file is text, without a copy of all of it."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(body), PIECE_BYTES):
            # Such bytes are valid UTF-8, but they are not text.
            if "\0" in decoder.decode(body[start : start + PIECE_BYTES]):
                raise FormatMismatch
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise TextNotUtf8 from None
