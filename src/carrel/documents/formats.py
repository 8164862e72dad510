"""Which format a file has: what its name or media type says, and whether its first bytes agree."""

from pathlib import PurePosixPath
from typing import Final

from carrel.documents.refusals import DocumentEncrypted, FormatMismatch, FormatUnsupported
from carrel.documents.schemas import Format

_BY_ENDING: Final[dict[str, Format]] = {
    ".txt": "txt",
    ".text": "txt",
    ".md": "md",
    ".markdown": "md",
    ".htm": "html",
    ".html": "html",
    ".csv": "csv",
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
    ".pptx": "pptx",
    ".pptm": "pptx",
    ".eml": "eml",
    ".mbox": "eml",
}
_BY_MEDIA_TYPE: Final[dict[str, Format]] = {
    "text/plain": "txt",
    "text/markdown": "md",
    "text/html": "html",
    "text/csv": "csv",
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "message/rfc822": "eml",
    "application/mbox": "eml",
}
PLAIN: Final[tuple[Format, ...]] = ("txt", "md", "csv")
"""The file is the text."""
_PDF: Final = b"%PDF-"
_PDF_WITHIN: Final = 1024
"""Readers look for the mark in the first kilobyte, because some programs put lines of their own before it."""
_PACKAGES: Final[tuple[Format, ...]] = ("docx", "pptx")
_ZIP: Final = b"PK\x03\x04"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of old Office files, and of new ones that are encrypted: Office wraps those in the old format."""


def named(file_name: str, media_type: str | None) -> Format:
    """The format by the name's ending; for a name without one, by the media type.

    Raises:
        FormatUnsupported: Carrel cannot read this format.
    """
    ending = PurePosixPath(file_name).suffix.lower()
    found = _BY_ENDING.get(ending) if ending else _BY_MEDIA_TYPE.get(media_type or "")
    if found is None:
        raise FormatUnsupported
    return found


def check(claimed: Format, head: bytes) -> None:
    """Check the first kilobyte of a file against the format that its name claims.

    Raises:
        FormatMismatch, DocumentEncrypted
    """
    if claimed in _PACKAGES and head.startswith(_OLE):
        raise DocumentEncrypted
    agrees = {
        "pdf": _PDF in head[:_PDF_WITHIN],
        **dict.fromkeys(_PACKAGES, head.startswith(_ZIP)),
    }.get(claimed, not head.startswith((_PDF, _ZIP, _OLE)))
    if not agrees:
        raise FormatMismatch
