"""Written by `sdk/generate.py` from `carrel_sdk.contents`. Change that, and run it again."""

from collections.abc import AsyncIterator, Mapping
from typing import Unpack

import msgspec

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.contents import _path
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


class AsyncContents:
    """The routes under `/contents`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def create(self, name: str, type: ContentType, body: str = "", **fields: Unpack[ContentFields]) -> Content:
        """A new content. `variables` links a placeholder's name to a content's id, or leaves it open (None)."""
        return await self._calls.post("/contents", Content, ContentIn(name=name, type=type, body=body, **fields))

    def find(
        self, q: str | None = None, *, type: ContentType | None = None, tag: str | None = None
    ) -> AsyncIterator[ContentSummary]:
        """Contents, newest first, that match the full-text search `q`, the type and the tag, as far as given."""
        return self._calls.each("/contents", ContentSummary, {"q": q, "type": type, "tag": tag})

    async def get(self, content_id: str) -> Content:
        """One content with its body."""
        return await self._calls.get(_path(content_id), Content)

    async def save(self, content: Content) -> Content:
        """Write a changed content back, as a new version.

        Raises:
            VersionMismatch: somebody else saved it since this one was read.
        """
        written = msgspec.convert(content, ContentChange, from_attributes=True)
        return await self._calls.put(_path(content.id), Content, written, if_match=content.etag or None)

    async def delete(self, content_id: str, *, if_match: str | None = None) -> None:
        """Delete it.

        Raises:
            Conflict: `content-in-use`, `errors` names the presets.
        """
        await self._calls.delete(_path(content_id), if_match=if_match)

    async def duplicate(self, content_id: str) -> Content:
        """A copy under a new id."""
        return await self._calls.post(f"{_path(content_id)}/duplicate", Content)

    async def resolve(self, content_id: str, variables: Mapping[str, str] | None = None) -> Resolution:
        """The body with its placeholders replaced: from `variables`, then from the linked contents."""
        return await self._calls.post(f"{_path(content_id)}/resolve", Resolution, {"variables": dict(variables or {})})

    async def counts(self) -> ContentCounts:
        """How many there are of each type."""
        return await self._calls.get("/contents/counts", ContentCounts)

    async def criteria_rows(self, body: str) -> CriteriaRows:
        """Criteria in YAML as rows. Nothing is saved, and the values are not checked."""
        return await self._calls.post("/contents/criteria-rows", CriteriaRows, {"body": body})

    def versions(self, content_id: str) -> AsyncIterator[ContentVersion]:
        """Its versions, newest first."""
        return self._calls.each(f"{_path(content_id)}/versions", ContentVersion)

    async def version(self, content_id: str, number: int) -> Content:
        """The content as it was saved as version `number`."""
        return await self._calls.get(f"{_path(content_id)}/versions/{number}", Content)
