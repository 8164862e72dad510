"""PDF files, read with pypdf. Pages are divided by an empty line."""

import io
import logging
import struct
import zlib
from typing import Final

from pypdf import PageObject, PdfReader, apply_configuration, get_configuration
from pypdf.errors import DependencyError, LimitReachedError, PyPdfError
from pypdf.generic import ArrayObject, DecodedStreamObject, PdfObject, StreamObject

from carrel.documents.refusals import DocumentBroken, DocumentEncrypted, DocumentTooComplex, TextTooLarge
from carrel.kit.memory_file import MemoryFile

_MAX_PAGES = 5_000
_MAX_STREAM_BYTES = 8 * 1024 * 1024
"""Of what one stream of a page unpacks to; a picture is not unpacked."""
_BUFFER_BYTES = 16 * 1024
_MAX_PARTS = 300_000
"""Of operators and operands of a page: each is an object, and a page of this many takes 30 MB and some seconds."""
_LIMITS: Final = {
    "array_based_stream_maximum_output_length": _MAX_STREAM_BYTES,
    "lzw_maximum_output_length": _MAX_STREAM_BYTES,
    "run_length_maximum_output_length": _MAX_STREAM_BYTES,
    "zlib_maximum_output_length": _MAX_STREAM_BYTES,
    "stream_parsing_work_maximum_count": _MAX_PARTS,
}
_LAME = (
    *(PyPdfError, DependencyError, struct.error, zlib.error),
    *(ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError),
)
"""The errors that pypdf raises on unexpected files: its own, and those of Python."""


def text(body: memoryview, max_bytes: int) -> str:
    """The text of every page, as far as the file's fonts say what their glyphs mean.

    Raises:
        DocumentBroken, DocumentEncrypted, DocumentTooComplex, TextTooLarge
    """
    # pypdf's messages about a damaged file quote the file.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    try:
        with apply_configuration(get_configuration().with_overwrites(**_LIMITS)):
            return _text(body, max_bytes)
    except (LimitReachedError, RecursionError):
        raise DocumentTooComplex from None
    except _LAME:
        raise DocumentBroken from None


def _text(body: memoryview, max_bytes: int) -> str:
    # The buffer is longer than what pypdf reads again and again, and spares a copy of the file.
    reader = PdfReader(io.BufferedReader(MemoryFile(body), _BUFFER_BYTES))
    # Many files are encrypted only to make programs refuse to print them; an empty password opens those.
    if reader.is_encrypted and not reader.decrypt(""):
        raise DocumentEncrypted
    if len(reader.pages) > _MAX_PAGES:
        raise DocumentTooComplex
    pages: list[str] = []
    size = 0
    for page in reader.pages:
        _check(page)
        pages.append("\n".join(line.rstrip() for line in page.extract_text().splitlines()).strip())
        size += len(pages[-1])
        if size > max_bytes:
            raise TextTooLarge
        # It keeps every stream that it has read; a page seldom needs those of another.
        reader.resolved_objects = {
            key: one for key, one in reader.resolved_objects.items() if not isinstance(one, StreamObject)
        }
    return "\n\n".join(page for page in pages if page)


def _check(page: PageObject) -> None:
    """Refuse long contents that are not packed; pypdf has limits only for those that are."""
    named = page.get("/Contents")
    contents = named.get_object() if isinstance(named, PdfObject) else None
    for one in contents if isinstance(contents, ArrayObject) else (contents,):
        found = one.get_object() if isinstance(one, PdfObject) else None
        if isinstance(found, DecodedStreamObject) and len(found.get_data()) > _MAX_STREAM_BYTES:
            raise DocumentTooComplex
