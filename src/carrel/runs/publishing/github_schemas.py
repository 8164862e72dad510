"""What goes over the wire when texts come from a repository or go to one."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from carrel.contents.schemas import ContentType
from carrel.github.commits import MAX_FILES
from carrel.github.schemas import Branch, FilePath, FolderPath, Sha
from carrel.kit.http.schema import In, Tags
from carrel.runs.model.setup import RunId
from carrel.vault.ids import ContentId

MAX_IMPORTED = 100

Message = Annotated[str, Meta(min_length=1, max_length=1_000)]


class ImportIn(In, frozen=True):
    """Files that become contents of one type, as they are at a commit; else where the connection's branch stands."""

    paths: Annotated[list[FilePath], Meta(min_length=1, max_length=MAX_IMPORTED)]
    type: ContentType = "input_document"
    tags: Tags = msgspec.field(default_factory=list)
    commit: Sha | None = None


class Taken(msgspec.Struct, frozen=True):
    """A file that became a content."""

    path: str
    content_id: ContentId
    name: str


class Left(msgspec.Struct, frozen=True):
    """A file that did not.

    `github-not-found`: there is none at this path; `too-large`; `not-text`: it is not UTF-8; `invalid-input`: it is no
    content of this type.
    """

    path: str
    code: Literal["github-not-found", "too-large", "not-text", "invalid-input"]


class ImportOutcome(msgspec.Struct, frozen=True):
    """What became of each file."""

    commit: str
    imported: list[Taken]
    refused: list[Left]


class ExportIn(In, frozen=True):
    """Contents, or the answers of a run, that become one commit; exactly one of `contents` and `run`.

    Of a run either the answers of whoever leads, or all. `path` is the folder that they go to. A `branch` that there is
    not is made; without one it is the connection's.
    """

    contents: Annotated[list[ContentId], Meta(min_length=1, max_length=MAX_FILES)] | None = None
    run: RunId | None = None
    answers: Literal["best", "all"] = "best"
    path: FolderPath = ""
    branch: Branch | None = None
    message: Message = "Add texts from Carrel"


class ExportedTo(msgspec.Struct, frozen=True):
    """Where the branch stands now. `changed` is false if all files were there already, as they are."""

    commit: str
    branch: str
    new_branch: bool
    changed: bool
    files: list[str]
