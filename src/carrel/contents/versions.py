"""The versions of a content. The earlier ones stay until somebody deletes the content; the current one counts, too."""

from typing import Final

from carrel.contents.schemas import Content, ContentVersion
from carrel.contents.store import CONTENTS, VERSIONED
from carrel.errors import NotFound
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, fetch
from carrel.kit.sqlite.rows import Select
from carrel.vault.ids import ContentId

EARLIER: Final = Select(Content, **{name: f"earlier.{name}" for name in VERSIONED})
"""Contents as they were, `FROM contents JOIN content_versions AS earlier`."""

_summaries = Select(ContentVersion)
_ALL = (
    f"FROM (SELECT {_summaries.sql} FROM contents WHERE seq = ?1"
    f" UNION ALL SELECT {_summaries.sql} FROM content_versions WHERE content_seq = ?1) WHERE version > 0"
)


def page(conn: Connection, content_id: ContentId, paging: Paging) -> Page[ContentVersion]:
    """The versions, newest first.

    Raises:
        NotFound: there is no such content.
    """
    seq = conn.value("SELECT seq FROM contents WHERE id = ?", content_id)
    if seq is None:
        raise NotFound
    return fetch(conn, paging, _summaries, _ALL, seq, seq="version")


def get(conn: Connection, content_id: ContentId, version: int) -> Content:
    """The content as it was when `version` was saved.

    Raises:
        NotFound: there is no such content, or no such version of it.
    """
    source = "FROM contents JOIN content_versions AS earlier ON content_seq = seq WHERE id = ? AND earlier.version = ?"
    found = EARLIER.one(conn, source, content_id, version)
    if found is None:
        found = CONTENTS.one(conn, "FROM contents WHERE id = ? AND version = ?", content_id, version)
    if found is None:
        raise NotFound
    return found
