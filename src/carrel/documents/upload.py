"""Reads the form of an upload from the network into memory, once, and never writes it to a disk.

The framework's own parser would keep big parts as plain temporary files, but a user's data may be on the disk only in
encrypted form.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final

from multipart import (  # type: ignore[import-untyped]  # it carries its types, but says so nowhere
    MultipartError,
    MultipartSegment,
    PushMultipartParser,
    parse_options_header,
)

from carrel.config import Settings
from carrel.documents import formats
from carrel.documents.refusals import DocumentEmpty, TextTooLarge, UploadTooLarge
from carrel.documents.schemas import Format, Upload
from carrel.errors import BadInput
from carrel.kit.http.problem import Malformed
from carrel.kit.http.validation import name_of

_MAX_PARTS: Final = 2
_MAX_NAME_BYTES: Final = 8 * 1024
_ENVELOPE_BYTES: Final = 64 * 1024
"""What boundaries, headers and the other field may add to the file."""
_MOST_PLAIN: Final = 3
"""A longer text cannot become short enough: at most, each line break becomes half as long, and a mark goes."""
_MAX_FILE_NAME: Final = 200
_ONCE: Final = "must be sent once"


@dataclass
class _Form:
    """What was read so far."""

    file_name: str = ""
    format: Format | None = None
    body: bytearray = field(default_factory=bytearray)
    name: bytearray | None = None


async def read(
    stream: AsyncIterator[bytes], content_type: str, settings: Settings, take: Callable[[int], None]
) -> Upload:
    """The upload in a body of type multipart/form-data. `take` gets the number of bytes before they are kept.

    Raises:
        UploadTooLarge, TextTooLarge, FormatUnsupported, FormatMismatch, DocumentEncrypted, DocumentEmpty, Malformed
        BadInput
    """
    form = _Form()
    total = 0
    try:
        parser = PushMultipartParser(_boundary(content_type), max_segment_count=_MAX_PARTS, strict=True)
        with parser:
            part: bytearray | None = None
            async for chunk in stream:
                total += len(chunk)
                if total > settings.max_upload_bytes + _ENVELOPE_BYTES:
                    raise UploadTooLarge
                if not chunk or parser.closed:
                    continue
                for event in parser.parse(chunk):
                    if isinstance(event, MultipartSegment):
                        part = _begin(form, event)
                    elif event and part is not None:
                        _add(form, part, event, settings, take)
    except MultipartError:
        if not total:
            raise BadInput.at("file", "is required") from None
        raise Malformed(detail="The body is not a valid form.") from None
    return _upload(form, settings)


def _boundary(content_type: str) -> str:
    boundary: str = parse_options_header(content_type)[1].get("boundary", "")
    return boundary


def _begin(form: _Form, segment: MultipartSegment) -> bytearray:
    """The destination of a part's bytes."""
    if segment.name == "file":
        if form.format is not None:
            raise BadInput.at("file", _ONCE)
        form.file_name = _clean(segment.filename or "")
        form.format = formats.named(form.file_name, segment.content_type)
        return form.body
    if segment.name == "name":
        if form.name is not None:
            raise BadInput.at("name", _ONCE)
        form.name = bytearray()
        return form.name
    raise BadInput.at(name_of(segment.name), "is not a known field")


def _add(form: _Form, part: bytearray, chunk: bytes, settings: Settings, take: Callable[[int], None]) -> None:
    if part is form.body:
        if len(part) + len(chunk) > settings.max_upload_bytes:
            raise UploadTooLarge
        if form.format in formats.PLAIN and len(part) + len(chunk) > _MOST_PLAIN * settings.max_body_bytes:
            raise TextTooLarge
        take(len(chunk))
    elif len(part) + len(chunk) > _MAX_NAME_BYTES:
        raise BadInput.at("name", "is too long")
    part += chunk


def _upload(form: _Form, settings: Settings) -> Upload:
    if form.format is None:
        raise BadInput.at("file", "is required")
    if not form.body:
        raise DocumentEmpty
    formats.check(form.format, bytes(form.body[:1024]))
    most = settings.max_name_characters
    if form.name is None:
        return Upload((form.file_name or "Document")[:most], form.file_name, form.format, form.body)
    try:
        name = form.name.decode()
    except UnicodeDecodeError:
        raise BadInput.at("name", "must be UTF-8") from None
    if not 1 <= len(name) <= most:
        raise BadInput.at("name", f"must have 1 to {most} characters")
    return Upload(name, form.file_name, form.format, form.body)


def _clean(file_name: str) -> str:
    """The file's name: some browsers send a whole path, and unprintable characters do not belong in a name."""
    last = file_name.replace("\\", "/").rpartition("/")[2]
    return "".join(one for one in last if one.isprintable()).strip()[-_MAX_FILE_NAME:]
