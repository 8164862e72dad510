"""Reads the form of an uploaded table into memory, once."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, cast, get_args

import msgspec

from carrel.config import Settings
from carrel.datasets.refusals import TableEmpty, TableFormatUnsupported
from carrel.datasets.schemas import FORMATS, RESULT_ENDINGS, SPREADSHEETS, Format, Role, Source, TableUpload, WrittenBy
from carrel.errors import BadInput
from carrel.http.requests.validation import explain, name_of
from carrel.uploads import form
from carrel.uploads.form import Sink, UploadTooLarge

_MAX_FILES: Final = 10
_MAX_PARTS: Final = _MAX_FILES + 5
_MAX_FIELD_BYTES: Final = 64 * 1024
_BY_MEDIA_TYPE: Final[dict[str, Format]] = {
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/json": "json",
}
_SOURCES: Final = (*get_args(Source), "guess")
_roles = msgspec.json.Decoder(dict[str, Role])


@dataclass
class _Form:
    """What was read so far."""

    settings: Settings
    take: Callable[[int], None]
    file_name: str = ""
    format: Format | None = None
    body: bytearray = field(default_factory=bytearray)
    others: list[tuple[str, bytearray]] = field(default_factory=list)
    fields: dict[str, bytearray] = field(default_factory=dict)

    def begin(self, name: str, file_name: str, media_type: str | None) -> Sink:
        """Return what takes the bytes of a part."""
        if name in self.fields:
            raise BadInput.at(name_of(name), "must be sent once")
        if name == "file" and self.format is not None:
            if len(self.others) + 1 >= _MAX_FILES:
                raise BadInput.at("file", f"must be sent at most {_MAX_FILES} times")
            self.others.append((file_name, bytearray()))
            return self._add_to_other
        if name == "file":
            self.file_name, self.format = file_name, _format(file_name, media_type)
            return self._add_to_file
        if name not in ("name", "roles", "columns", "sheet", "source"):
            raise BadInput.at(name_of(name), "is not a known field")
        self.fields[name] = bytearray()
        return lambda chunk: self._add_to_field(name, chunk)

    def text(self, name: str) -> str | None:
        """A field that is not the file; `None` if it was not sent."""
        return form.text_of(name, self.fields[name]) if name in self.fields else None

    def _add_to_file(self, chunk: bytes | bytearray) -> None:
        self._add(self.body, chunk)

    def _add_to_other(self, chunk: bytes | bytearray) -> None:
        self._add(self.others[-1][1], chunk)

    def _add(self, body: bytearray, chunk: bytes | bytearray) -> None:
        sent = len(self.body) + sum(len(other) for _, other in self.others)
        if sent + len(chunk) > self.settings.max_upload_bytes:
            raise UploadTooLarge
        self.take(len(chunk))
        body += chunk

    def _add_to_field(self, name: str, chunk: bytes | bytearray) -> None:
        if len(self.fields[name]) + len(chunk) > _MAX_FIELD_BYTES:
            raise BadInput.at(name, "is too long")
        self.fields[name] += chunk


async def read(
    stream: AsyncIterator[bytes], content_type: str, settings: Settings, take: Callable[[int], None]
) -> TableUpload:
    """The table in a body of type multipart/form-data. `take` gets the number of bytes before they are kept.

    Raises:
        UploadTooLarge, TableFormatUnsupported, TableEmpty, Malformed
        BadInput
    """
    sent = _Form(settings, take)
    await form.read(stream, content_type, sent.begin, max_bytes=settings.max_upload_bytes, max_parts=_MAX_PARTS)
    if sent.format is None:
        raise BadInput.at("file", "is required")
    if not sent.body:
        raise TableEmpty
    most, name = settings.max_name_characters, sent.text("name")
    if name is None:
        name = (sent.file_name or "Data set")[:most]
    elif not 1 <= len(name) <= most:
        raise BadInput.at("name", f"must have 1 to {most} characters")
    chosen = _chosen(sent, "columns") | _chosen(sent, "roles")
    source = sent.text("source") or "table"
    if source not in _SOURCES:
        raise BadInput.at("source", f"must be one of: {', '.join(_SOURCES)}")
    if source == "table" and _is_no_table(sent.file_name):
        raise TableFormatUnsupported
    # No program writes its results as one.
    written_by = cast(WrittenBy, "table" if sent.format in SPREADSHEETS else source)
    others = tuple(sent.others)
    return TableUpload(name, sent.format, sent.body, chosen, sent.text("sheet"), written_by, sent.file_name, others)


def _chosen(sent: _Form, field: str) -> dict[str, Role]:
    text = sent.text(field)
    if text is None:
        return {}
    try:
        return _roles.decode(text)
    except msgspec.ValidationError as error:
        raise BadInput.at(field, explain(str(error)).message) from None
    except (msgspec.DecodeError, RecursionError):
        raise BadInput.at(field, "must be a JSON object") from None


def _format(file_name: str, media_type: str | None) -> Format:
    """The format by the name's ending; for a name without one, by the media type."""
    ending = PurePosixPath(file_name).suffix.lower()
    found = FORMATS.get(ending) if ending else _BY_MEDIA_TYPE.get(media_type or "")
    if _is_no_table(file_name):
        # What comes out of it are lines.
        found = "jsonl"
    if found is None:
        raise TableFormatUnsupported
    return found


def _is_no_table(file_name: str) -> bool:
    return PurePosixPath(file_name).suffix.lower() in RESULT_ENDINGS
