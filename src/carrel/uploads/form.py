"""Reads the form of an upload from the network, part by part, and never writes it to a disk.

The framework's own parser would keep big parts as plain temporary files, but a user's data may be on the disk only in
encrypted form.
"""

from collections.abc import AsyncIterator, Callable
from typing import Final

from multipart import (  # type: ignore[import-untyped]  # it carries its types, but says so nowhere
    MultipartError,
    MultipartSegment,
    PushMultipartParser,
    parse_options_header,
)

from carrel.errors import BadInput, Malformed, TooLarge
from carrel.kit.plain_text import NOT_TEXT, is_text

ENVELOPE_BYTES: Final = 64 * 1024
"""What boundaries, headers and the other fields may add to the file."""
_MAX_FILE_NAME: Final = 200

Sink = Callable[[bytes | bytearray], None]
"""Takes the bytes of one part as they come."""


class UploadTooLarge(TooLarge):
    """More bytes than `CARREL_MAX_UPLOAD_BYTES`."""

    code = "upload-too-large"
    detail = "The file is larger than an upload may be."


async def read(
    stream: AsyncIterator[bytes],
    content_type: str,
    begin: Callable[[str, str, str | None], Sink],
    *,
    max_bytes: int,
    max_parts: int,
) -> None:
    """Read a body of type multipart/form-data.

    `begin` gets the name of each part, its file name and its media type, and returns what takes its bytes.

    Raises:
        UploadTooLarge: the body has more than `max_bytes` and an envelope.
        BadInput: nothing came; `file` is required.
        Malformed: this is no form, or one of more than `max_parts`.
    """
    total = 0
    try:
        parser = PushMultipartParser(_boundary(content_type), max_segment_count=max_parts, strict=True)
        with parser:
            sink: Sink | None = None
            async for chunk in stream:
                total += len(chunk)
                if total > max_bytes + ENVELOPE_BYTES:
                    raise UploadTooLarge
                if not chunk or parser.closed:
                    continue
                for event in parser.parse(chunk):
                    if isinstance(event, MultipartSegment):
                        sink = begin(event.name, _clean(event.filename or ""), event.content_type)
                    elif event and sink is not None:
                        sink(event)
    except MultipartError:
        if not total:
            raise BadInput.at("file", "is required") from None
        raise Malformed(detail="The body is not a valid form.") from None


def text_of(name: str, field: bytes | bytearray) -> str:
    """The text in the field of this name, which is not the file.

    Raises:
        BadInput
    """
    try:
        text = field.decode()
    except UnicodeDecodeError:
        raise BadInput.at(name, "must be UTF-8") from None
    if not is_text(text):
        raise BadInput.at(name, NOT_TEXT)
    return text


def _boundary(content_type: str) -> str:
    boundary: str = parse_options_header(content_type)[1].get("boundary", "")
    return boundary


def _clean(file_name: str) -> str:
    """The file's name: some browsers send a whole path, and unprintable characters do not belong in a name."""
    last = file_name.replace("\\", "/").rpartition("/")[2]
    return "".join(one for one in last if one.isprintable()).strip()[-_MAX_FILE_NAME:]
