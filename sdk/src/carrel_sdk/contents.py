"""Contents: documents, instructions, criteria and fragments in the user's workspace."""

from collections.abc import Iterator, Mapping
from typing import Unpack

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.models import (
    Content,
    ContentChange,
    ContentCounts,
    ContentFields,
    ContentIn,
    ContentSummary,
    ContentType,
    ContentVersion,
    CriteriaRows,
    Resolution,
)
from carrel_sdk.transport import segment


class Contents:
    """The routes under `/contents`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(
        self,
        name: str,
        type: ContentType,  # noqa: A002  # the field's name
        body: str = "",
        **fields: Unpack[ContentFields],
    ) -> Content:
        """A new content. `variables` links a placeholder's name to a content's id, or leaves it open (None)."""
        return self._calls.post("/contents", Content, ContentIn(name=name, type=type, body=body, **fields))

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
        written = msgspec.convert(content, ContentChange, from_attributes=True)
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
