"""The versions of a content. The earlier ones stay until somebody deletes the content; the current one counts, too."""

from carrel.contents.schemas import Content, VersionSummary
from carrel.contents.store import content_of
from carrel.errors import NotFound
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, fetch
from carrel.vault.ids import ContentId

_ALL = (
    "SELECT version, version, name, updated_at, body_preview, body_bytes FROM"
    " (SELECT version, name, updated_at, body_preview, body_bytes FROM contents WHERE seq = ?1"
    " UNION ALL"
    " SELECT version, name, updated_at, body_preview, body_bytes FROM content_versions WHERE content_seq = ?1)"
    " WHERE version > 0"
)
_ONE = (
    "SELECT id, earlier.name, type, earlier.body, earlier.variables, earlier.description, earlier.tags,"
    " earlier.version, created_at, earlier.updated_at"
    " FROM contents JOIN content_versions AS earlier ON earlier.content_seq = contents.seq"
    " WHERE contents.id = ?1 AND earlier.version = ?2 "
    "UNION ALL SELECT id, name, type, body, variables, description, tags, version, created_at, updated_at"
    " FROM contents WHERE id = ?1 AND version = ?2"
)


def page(conn: Connection, content_id: ContentId, paging: Paging) -> Page[VersionSummary]:
    """The versions, newest first.

    Raises:
        NotFound: there is no such content.
    """
    row = conn.one("SELECT seq FROM contents WHERE id = ?", content_id)
    if row is None:
        raise NotFound
    return fetch(conn, paging, _ALL, row[0], row=VersionSummary, seq="version")


def get(conn: Connection, content_id: ContentId, version: int) -> Content:
    """The content as it was when `version` was saved.

    Raises:
        NotFound: there is no such content, or no such version of it.
    """
    return content_of(conn.one(_ONE, content_id, version))
