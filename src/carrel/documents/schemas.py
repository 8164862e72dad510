"""What goes over the wire about documents, and a file as it came."""

from dataclasses import dataclass
from typing import Any, Final, Literal, NewType

import msgspec

from carrel.kit.clock import Time
from carrel.kit.ids import Id
from carrel.vault.ids import ContentId

DocumentId = NewType("DocumentId", Id)
Format = Literal["txt", "md", "html", "csv", "pdf", "docx", "pptx", "eml"]

RemarkKind = Literal[
    "attachment",
    "comment",
    "deleted_text",
    "doubtful_page",
    "guessed_encoding",
    "header_or_footer",
    "hidden_text",
    "page_without_text",
    "picture",
    "placeholder",
    "unreadable_page",
]

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


class DocumentRemark(msgspec.Struct, frozen=True):
    """Something of a file that is not in its text, or may be wrong there, and how often.

    A `doubtful_page` may be wrong, and all of a file with a `guessed_encoding`, Windows-1252.

    A picture counts when nothing describes it, a page when it shows no text, such as a scanned one. `pages` are the
    numbers of the first hundred of them.
    """

    kind: RemarkKind
    count: int
    pages: list[int] = []


class PdfPage(msgspec.Struct, frozen=True):
    """A page of a PDF: a picture of it as a JPEG, and the text that was read from it, which may be none.

    `is_doubtful` says that the text may not be what the page shows.
    """

    number: int
    pages: int
    text: str
    is_doubtful: bool
    image: bytes


class Document(msgspec.Struct, frozen=True):
    """An uploaded file; its text is the content `content_id`, whose version is its own.

    `remarks` say what of the file is not in the text, as it was read last; files read before there were any have none.
    """

    id: DocumentId
    content_id: ContentId
    name: str
    file_name: str
    format: Format
    bytes: int
    text_bytes: int
    remarks: list[DocumentRemark]
    version: int
    created_at: Time
