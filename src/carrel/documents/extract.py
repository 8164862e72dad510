"""Extracts the text of a file. The bytes may be hostile, so this runs in a worker process and nowhere else."""

from collections import Counter
from typing import Final

import msgspec

from carrel.documents.refusals import DocumentTooComplex, DocumentWithoutText, TextTooLarge
from carrel.documents.schemas import DocumentRemark, Format, PdfPage
from carrel.errors import NotFound
from carrel.kit.plain_text import as_text

_MOST_NAMED: Final = 100
"""Pages of which something is said."""


class Extract(msgspec.Struct, frozen=True):
    """What a file says, and what of it is not in the text or may be wrong."""

    text: str
    remarks: list[DocumentRemark]


def text_of(claimed: Format, body: memoryview, max_bytes: int) -> Extract:
    """The text of a file, at most `max_bytes` of UTF-8.

    Raises:
        CarrelError: one of this package's refusals.
    """
    counted: Counter[str] = Counter()
    pages: dict[str, list[int]] = {}
    try:
        # A PDF may name half of a surrogate pair, and NUL.
        text = as_text(_read(claimed, body, max_bytes, counted, pages))
    except (MemoryError, RecursionError):
        raise DocumentTooComplex from None
    if len(text.encode()) > max_bytes:
        raise TextTooLarge
    if not text.strip():
        raise DocumentWithoutText
    remarks = [
        {"kind": kind, "count": n, "pages": pages.get(kind, [])[:_MOST_NAMED]} for kind, n in counted.items() if n
    ]
    return Extract(text, msgspec.convert(remarks, list[DocumentRemark]))


def page_of(claimed: Format, body: memoryview, number: int) -> PdfPage:
    """A page by its number, which counts from 1.

    Raises:
        NotFound: the file has no such page, or its format has no pages.
        CarrelError: one of this package's refusals.
    """
    if claimed != "pdf":
        raise NotFound
    from carrel.documents import pdf

    try:
        return pdf.page(body, number)
    except (MemoryError, RecursionError):
        raise DocumentTooComplex from None


def _read(
    claimed: Format, body: memoryview, max_bytes: int, left_out: Counter[str], pages: dict[str, list[int]]
) -> str:
    # Imported only where needed, because a reader takes time and memory to import.
    if claimed == "pdf":
        from carrel.documents import pdf

        return pdf.text(body, max_bytes, left_out, pages)
    if claimed == "docx":
        from carrel.documents import word

        return word.text(body, left_out)
    if claimed == "pptx":
        from carrel.documents import slides

        return slides.text(body, left_out)
    if claimed == "eml":
        from carrel.documents import mail

        return mail.text(body, left_out)
    from carrel.documents import encodings

    if claimed == "html":
        from carrel.documents import html

        return html.text(encodings.decoded(body, left_out, page=True), left_out)
    return encodings.decoded(body, left_out, page=False)
