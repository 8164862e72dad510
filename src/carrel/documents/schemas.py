"""What goes over the wire about documents, and a file as it came."""

from dataclasses import dataclass
from typing import Any, Final, Literal, NewType

import msgspec

from carrel.kit.clock import Time
from carrel.kit.ids import Id
from carrel.vault.ids import ContentId

DocumentId = NewType("DocumentId", Id)
Format = Literal["txt", "md", "html", "csv", "pdf", "docx"]

FORM: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["file"],
    "additionalProperties": False,
    "properties": {
        "file": {"type": "string", "format": "binary", "description": "The file, with its name."},
        "name": {
            "type": "string",
            "minLength": 1,
            "x-limit": "max_name_characters",
            "description": "The name of the content that its text becomes; else the file's.",
        },
    },
}
"""The form that `POST /documents` takes, as `openapi.json` shows it."""


@dataclass(frozen=True, repr=False)
class DocumentUpload:
    """A file as it came. `name` is what its content will be called."""

    name: str
    file_name: str
    format: Format
    body: bytearray


class Document(msgspec.Struct, frozen=True):
    """An uploaded file; its text is the content `content_id`. It never changes: its version is always 1."""

    id: DocumentId
    content_id: ContentId
    name: str
    file_name: str
    format: Format
    bytes: int
    text_bytes: int
    version: int
    created_at: Time
