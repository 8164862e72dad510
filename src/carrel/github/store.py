"""The rows of connections. A stored token is read only to call GitHub with it."""

from typing import NamedTuple

from carrel.config import Secret
from carrel.errors import BadInput, FieldError, NotFound
from carrel.github.client import Target
from carrel.github.refusals import GithubHostNotAllowed
from carrel.github.schemas import ConnectionChange, ConnectionId, ConnectionIn, GithubConnection, LastConnectionTest
from carrel.http.answers.etag import IfMatch, require_unchanged
from carrel.kit.git_paths import is_plain
from carrel.kit.sqlite.database import Connection as Database
from carrel.kit.sqlite.paging import Page, Paging, fetch
from carrel.kit.sqlite.rows import Select
from carrel.providers import base_url
from carrel.providers.base_url import ProviderHostNotAllowed

_HINT_CHARACTERS = 4
_SHORTEST_HINTED = 12


class _Row(NamedTuple):
    id: ConnectionId
    name: str
    repository: str
    branch: str | None
    base_url: str
    token: str
    version: int
    created_at: str
    updated_at: str
    last_test_ok: bool | None
    last_test_at: str | None


_rows = Select(_Row)


def create(conn: Database, data: ConnectionIn, hosts: tuple[str, ...]) -> GithubConnection:
    """Store a connection; `hosts` are CARREL_GITHUB_HOSTS.

    Raises:
        BadInput: the base URL or the branch is not valid.
        GithubHostNotAllowed: the operator does not allow its host.
    """
    _check(data, hosts)
    connection_id, now = ConnectionId(conn.new_id()), conn.now()
    conn.run(
        "INSERT INTO github_connections (id, name, repository, branch, base_url, token, created_at, updated_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        *(connection_id, data.name, data.repository, data.branch, data.base_url, data.token, now, now),
    )
    return get(conn, connection_id)


def replace(
    conn: Database, connection_id: ConnectionId, data: ConnectionChange, if_match: IfMatch, hosts: tuple[str, ...]
) -> GithubConnection:
    """Change a connection, and forget the last test, which was about the old one.

    Raises:
        NotFound: there is no connection with this id.
        PreconditionFailed: it was changed in the meantime.
        BadInput: as `create`, or a read-only field differs, or the stored token would be sent to another address than
            the user gave it for.
        GithubHostNotAllowed: the operator does not allow its host.
    """
    _check(data, hosts)
    present = _row(conn, connection_id)
    if data.token is None and present.base_url != data.base_url:
        raise BadInput.at("token", "is required with another base_url")
    if_match.require(present.version)
    require_unchanged(data, lambda: get(conn, connection_id))
    conn.run(
        "UPDATE github_connections SET name = ?, repository = ?, branch = ?, base_url = ?, token = coalesce(?, token),"
        " updated_at = ?, version = version + 1, last_test_ok = NULL, last_test_at = NULL WHERE id = ?",
        *(data.name, data.repository, data.branch, data.base_url, data.token, conn.now(), connection_id),
    )
    return get(conn, connection_id)


def get(conn: Database, connection_id: ConnectionId) -> GithubConnection:
    """A connection as it is shown.

    Raises:
        NotFound: there is no connection with this id.
    """
    return _shown(_row(conn, connection_id))


def target(conn: Database, connection_id: ConnectionId) -> Target:
    """The target of calls to GitHub.

    Raises:
        NotFound: there is no connection with this id.
    """
    row = _row(conn, connection_id)
    return Target(row.base_url.rstrip("/"), row.repository, row.branch, Secret(row.token.encode()))


def listed(conn: Database, paging: Paging) -> Page[GithubConnection]:
    """The connections, newest first."""
    return fetch(conn, paging, _rows, "FROM github_connections").map(_shown)


def tested(conn: Database, connection_id: ConnectionId, version: int, *, ok: bool) -> None:
    """Store the outcome of a test, unless the connection was changed meanwhile."""
    conn.run(
        "UPDATE github_connections SET last_test_ok = ?, last_test_at = ? WHERE id = ? AND version = ?",
        *(ok, conn.now(), connection_id, version),
    )


def delete(conn: Database, connection_id: ConnectionId, if_match: IfMatch) -> None:
    """Delete a connection with its token.

    Raises:
        NotFound: there is no connection with this id.
        PreconditionFailed: it was changed in the meantime.
    """
    if_match.require(get(conn, connection_id).version)
    conn.run("DELETE FROM github_connections WHERE id = ?", connection_id)


def _check(data: ConnectionIn | ConnectionChange, hosts: tuple[str, ...]) -> None:
    if data.branch is not None and not is_plain(data.branch):
        raise BadInput.at("branch", "is not the name of a branch")
    try:
        base_url.check(data.base_url, hosts)
    except ProviderHostNotAllowed:
        raise GithubHostNotAllowed(
            errors=(FieldError("base_url", "must name a host that the operator allows"),)
        ) from None


def _row(conn: Database, connection_id: ConnectionId) -> _Row:
    row = _rows.one(conn, "FROM github_connections WHERE id = ?", connection_id)
    if row is None:
        raise NotFound
    return row


def _shown(row: _Row) -> GithubConnection:
    at = row.last_test_at
    return GithubConnection(
        id=row.id,
        name=row.name,
        repository=row.repository,
        branch=row.branch,
        base_url=row.base_url,
        # Four characters would reveal too much of a short token.
        hint=row.token[-_HINT_CHARACTERS:] if len(row.token) >= _SHORTEST_HINTED else "",
        version=row.version,
        created_at=row.created_at,
        updated_at=row.updated_at,
        last_test=None if at is None else LastConnectionTest(bool(row.last_test_ok), at),
    )
