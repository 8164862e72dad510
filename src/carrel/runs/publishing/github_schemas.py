"""What goes over the wire when texts come from a repository or go to one."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from carrel.contents.schemas import ContentType
from carrel.github.commits import MAX_FILES
from carrel.github.schemas import Branch, FilePath, FolderPath, Sha
from carrel.http.requests.schema import In, Tags
from carrel.runs.model.setup import RunId
from carrel.vault.ids import ContentId

MAX_IMPORTED = 100

Message = Annotated[str, Meta(min_length=1, max_length=1_000)]


class ImportIn(In, frozen=True):
    """Files that become contents of one type, as they are at a commit, or on the connection's branch without one."""

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
    """A file that did not become a content.

    `github-not-found`: there is no file at this path; `too-large`; `not-text`: it is not UTF-8; `invalid-input`: it is
    not a valid content of this type.
    """

    path: str
    code: Literal["github-not-found", "too-large", "not-text", "invalid-input"]


class ImportOutcome(msgspec.Struct, frozen=True):
    """The result for each file."""

    commit: str
    imported: list[Taken]
    refused: list[Left]


class ExportIn(In, frozen=True):
    """What becomes one commit: either `contents` or the answers of a `run`.

    A run sends the answers of the leading candidate, or all. `path` is the folder in the repository. A `branch` that
    does not exist is created; without `branch`, the commit goes to the connection's branch.
    """

    contents: Annotated[list[ContentId], Meta(min_length=1, max_length=MAX_FILES)] | None = None
    run: RunId | None = None
    answers: Literal["best", "all"] = "best"
    path: FolderPath = ""
    branch: Branch | None = None
    message: Message = "Add texts from Carrel"


class ExportedTo(msgspec.Struct, frozen=True):
    """The branch after the export. `changed` is false if all files were there already, as they are."""

    commit: str
    branch: str
    new_branch: bool
    changed: bool
    files: list[str]
