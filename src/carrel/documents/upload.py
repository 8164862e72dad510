"""Reads the form of an uploaded document into memory, once."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final

from carrel.config import Settings
from carrel.documents import formats
from carrel.documents.refusals import DocumentEmpty, TextTooLarge
from carrel.documents.schemas import DocumentUpload, Format
from carrel.errors import BadInput
from carrel.http.requests.validation import name_of
from carrel.uploads import form
from carrel.uploads.form import Sink, UploadTooLarge

_MAX_PARTS: Final = 2
_MAX_NAME_BYTES: Final = 8 * 1024
_MOST_PLAIN: Final = 3
"""A longer text cannot become short enough: at most, each line break becomes half as long, and a mark goes."""
_ONCE: Final = "must be sent once"


@dataclass
class _Form:
    """What was read so far."""

    settings: Settings
    take: Callable[[int], None]
    file_name: str = ""
    format: Format | None = None
    body: bytearray = field(default_factory=bytearray)
    name: bytearray | None = None

    def begin(self, name: str, file_name: str, media_type: str | None) -> Sink:
        """Return what takes the bytes of a part."""
        if name == "file":
            if self.format is not None:
                raise BadInput.at("file", _ONCE)
            self.file_name = file_name
            self.format = formats.named(file_name, media_type)
            return self._add_to_file
        if name == "name":
            if self.name is not None:
                raise BadInput.at("name", _ONCE)
            self.name = bytearray()
            return self._add_to_name
        raise BadInput.at(name_of(name), "is not a known field")

    def _add_to_file(self, chunk: bytes | bytearray) -> None:
        if len(self.body) + len(chunk) > self.settings.max_upload_bytes:
            raise UploadTooLarge
        if self.format in formats.PLAIN and len(self.body) + len(chunk) > _MOST_PLAIN * self.settings.max_body_bytes:
            raise TextTooLarge
        self.take(len(chunk))
        self.body += chunk

    def _add_to_name(self, chunk: bytes | bytearray) -> None:
        self.name = (self.name or bytearray()) + chunk
        if len(self.name) > _MAX_NAME_BYTES:
            raise BadInput.at("name", "is too long")


async def read(
    stream: AsyncIterator[bytes], content_type: str, settings: Settings, take: Callable[[int], None]
) -> DocumentUpload:
    """The upload in a body of type multipart/form-data. `take` gets the number of bytes before they are kept.

    Raises:
        UploadTooLarge, TextTooLarge, FormatUnsupported, FormatMismatch, DocumentEncrypted, DocumentEmpty, Malformed
        BadInput
    """
    sent = _Form(settings, take)
    await form.read(stream, content_type, sent.begin, max_bytes=settings.max_upload_bytes, max_parts=_MAX_PARTS)
    return _upload(sent, settings)


def _upload(sent: _Form, settings: Settings) -> DocumentUpload:
    if sent.format is None:
        raise BadInput.at("file", "is required")
    if not sent.body:
        raise DocumentEmpty
    formats.check(sent.format, bytes(sent.body[:1024]))
    most = settings.max_name_characters
    if sent.name is None:
        return DocumentUpload((sent.file_name or "Document")[:most], sent.file_name, sent.format, sent.body)
    name = form.text_of("name", sent.name)
    if not 1 <= len(name) <= most:
        raise BadInput.at("name", f"must have 1 to {most} characters")
    return DocumentUpload(name, sent.file_name, sent.format, sent.body)
