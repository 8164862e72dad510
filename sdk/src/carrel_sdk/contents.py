"""Contents: documents, instructions, criteria and fragments in the user's workspace."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.transport import segment

ContentType: TypeAlias = Literal[
    "input_document",
    "reference_document",
    "generation_instructions",
    "scoring_instructions",
    "comparison_instructions",
    "combination_instructions",
    "criteria",
    "fragment",
    "output_document",
]


class Content(msgspec.Struct, kw_only=True):
    """A content with its body. Change it and pass it to `Contents.save`."""

    id: str
    name: str
    type: ContentType
    body: str
    version: int
    created_at: str
    updated_at: str
    variables: dict[str, str | None] = msgspec.field(default_factory=dict)
    description: str = ""
    tags: list[str] = msgspec.field(default_factory=list)
    etag: str = ""


class ContentSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A content in a list: how its body begins and how many bytes it has."""

    id: str
    name: str
    type: ContentType
    version: int
    created_at: str
    updated_at: str
    body_preview: str
    body_bytes: int
    variables: dict[str, str | None] = msgspec.field(default_factory=dict)
    description: str = ""
    tags: list[str] = msgspec.field(default_factory=list)


class ContentVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a content, including the current one. `updated_at` is when it was saved."""

    version: int
    name: str
    updated_at: str
    body_preview: str
    body_bytes: int


class ContentCounts(msgspec.Struct, frozen=True):
    """How many contents there are, in total and of each type."""

    total: int
    by_type: dict[str, int]


class CriterionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion as its user wrote it: every value is a text, and None where there is none."""

    name: str | None
    description: str | None
    weight: str | None
    minimum: str | None
    maximum: str | None


class CriteriaRows(msgspec.Struct, frozen=True):
    """Criteria as rows. `comments` says whether the YAML has comments, which no row holds."""

    rows: list[CriterionRow]
    comments: bool


class Used(msgspec.Struct, frozen=True):
    """A replaced placeholder, and the content that replaced it; None if a given text did."""

    name: str
    content_id: str | None


class Resolution(msgspec.Struct, frozen=True):
    """A body with its placeholders replaced, except those in `unresolved`."""

    body: str
    unresolved: list[str]
    used: list[Used]


class Contents:
    """The routes under `/contents`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(
        self,
        name: str,
        type: ContentType,  # noqa: A002  # the field's name
        body: str = "",
        *,
        variables: Mapping[str, str | None] | None = None,
        description: str = "",
        tags: Sequence[str] = (),
    ) -> Content:
        """A new content. `variables` links a placeholder's name to a content's id, or leaves it open (None)."""
        written = _written(name, type, body, variables or {}, description, tags)
        return self._calls.post("/contents", Content, written)

    def find(
        self,
        q: str | None = None,
        *,
        type: ContentType | None = None,  # noqa: A002  # the parameter's name
        tag: str | None = None,
    ) -> Iterator[ContentSummary]:
        """Contents, newest first, that match the full-text search `q`, the type and the tag, as far as given."""
        return self._calls.each("/contents", ContentSummary, {"q": q, "type": type, "tag": tag})

    def get(self, content_id: str) -> Content:
        """One content with its body."""
        return self._calls.get(_path(content_id), Content)

    def save(self, content: Content) -> Content:
        """Write a changed content back, as a new version.

        Raises:
            VersionMismatch: somebody else saved it since this one was read.
        """
        written = _written(
            content.name, content.type, content.body, content.variables, content.description, content.tags
        )
        return self._calls.put(_path(content.id), Content, written, if_match=content.etag or None)

    def delete(self, content_id: str, *, if_match: str | None = None) -> None:
        """Delete it.

        Raises:
            Conflict: `content-in-use`, `errors` names the presets.
        """
        self._calls.delete(_path(content_id), if_match=if_match)

    def duplicate(self, content_id: str) -> Content:
        """A copy under a new id."""
        return self._calls.post(f"{_path(content_id)}/duplicate", Content)

    def resolve(self, content_id: str, variables: Mapping[str, str] | None = None) -> Resolution:
        """The body with its placeholders replaced: from `variables`, then from the linked contents."""
        return self._calls.post(f"{_path(content_id)}/resolve", Resolution, {"variables": dict(variables or {})})

    def counts(self) -> ContentCounts:
        """How many there are of each type."""
        return self._calls.get("/contents/counts", ContentCounts)

    def criteria_rows(self, body: str) -> CriteriaRows:
        """Criteria in YAML as rows. Nothing is saved, and the values are not checked."""
        return self._calls.post("/contents/criteria-rows", CriteriaRows, {"body": body})

    def versions(self, content_id: str) -> Iterator[ContentVersion]:
        """Its versions, newest first."""
        return self._calls.each(f"{_path(content_id)}/versions", ContentVersion)

    def version(self, content_id: str, number: int) -> Content:
        """The content as it was saved as version `number`."""
        return self._calls.get(f"{_path(content_id)}/versions/{number}", Content)


def _path(content_id: str) -> str:
    return f"/contents/{segment(content_id)}"


def _written(
    name: str,
    type: ContentType,  # noqa: A002  # the field's name
    body: str,
    variables: Mapping[str, str | None],
    description: str,
    tags: Sequence[str],
) -> dict[str, object]:
    return {
        "name": name,
        "type": type,
        "body": body,
        "variables": dict(variables),
        "description": description,
        "tags": list(tags),
    }
