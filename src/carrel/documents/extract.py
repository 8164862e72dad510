"""Extracts the text of a file. The bytes may be hostile, so this runs in a worker process and nowhere else."""

from carrel.documents.refusals import (
    DocumentTooComplex,
    DocumentWithoutText,
    FormatMismatch,
    TextNotUtf8,
    TextTooLarge,
)
from carrel.documents.schemas import Format


def text_of(claimed: Format, body: bytearray, max_bytes: int) -> str:
    """The text of a file, at most `max_bytes` of UTF-8.

    Raises:
        CarrelError: one of this package's refusals.
    """
    try:
        # A PDF may name half of a surrogate pair, which UTF-8 cannot encode; a text cannot hold NUL either.
        text = _read(claimed, body, max_bytes).encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    except (MemoryError, RecursionError):
        raise DocumentTooComplex from None
    if len(text.encode()) > max_bytes:
        raise TextTooLarge
    if not text.strip():
        raise DocumentWithoutText
    return text


def _read(claimed: Format, body: bytearray, max_bytes: int) -> str:
    # Imported only where needed, because a reader takes time and memory to import.
    if claimed == "pdf":
        from carrel.documents import pdf

        return pdf.text(body, max_bytes)
    if claimed == "docx":
        from carrel.documents import docx

        return docx.text(body, max_bytes)
    plain = _decoded(body)
    if claimed == "html":
        from carrel.documents import html

        return html.text(plain, max_bytes)
    return plain


def _decoded(body: bytearray) -> str:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TextNotUtf8 from None
    if "\0" in text:
        # Such bytes are valid UTF-8, but they are not text.
        raise FormatMismatch
    return text.replace("\r\n", "\n").replace("\r", "\n")
