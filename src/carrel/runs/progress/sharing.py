"""Logs that a user shares with the operator: copies of times, keys, states, codes, models and counts, not of texts."""

from typing import Final, NewType

import msgspec

from carrel.errors import NotFound
from carrel.kit.clock import Time, rfc3339
from carrel.kit.ids import Id
from carrel.kit.sqlite import paging as pages
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging
from carrel.kit.sqlite.rows import Select, fields_of
from carrel.runs.model import run_transitions
from carrel.runs.model.setup import RunId

KEPT_SECONDS: Final = 14 * 24 * 3600
MAX_ENTRIES: Final = 20_000
"""If a log is longer, its last rows are shared."""
MAX_SHARES: Final = 20
"""How many copies of one user are stored; the oldest goes first."""


class SharedEntry(msgspec.Struct, frozen=True):
    """One row as it is shared: the list of allowed fields.

    Nothing else of a log row is copied, also if rows get new fields.
    """

    at: Time
    level: str
    event: str
    task_key: str | None
    state: str | None
    code: str | None
    model: str | None
    attempt: int | None
    latency_ms: int | None
    input_tokens: int | None
    output_tokens: int | None


class SharedLogOut(msgspec.Struct, frozen=True):
    """A copy of a log that the operator can read until `expires_at`; `fields` are all that it holds."""

    share_id: Id
    expires_at: Time
    fields: list[str]


class SharedLogSummary(msgspec.Struct, frozen=True):
    """A shared log in the operator's list. It does not name its user."""

    share_id: Id
    created_at: Time
    expires_at: Time
    entry_count: int


class SharedLog(SharedLogSummary, frozen=True):
    """A shared log with its rows, oldest first."""

    entries: list[SharedEntry]


ShareId = NewType("ShareId", Id)

_rows = Select(SharedEntry)
_summaries = Select(SharedLogSummary, share_id="id", entry_count="json_array_length(entries)")
_shared = Select(SharedLog, share_id="id", entry_count="json_array_length(entries)")


def copied(conn: Connection, run_id: RunId) -> list[SharedEntry]:
    """The part of the run's log that may be shared. Unbounded: to be scanned.

    Raises:
        NotFound: there is no such run.
    """
    source = "FROM run_log WHERE run = ? ORDER BY seq DESC LIMIT ?"
    return _rows.all(conn, source, run_transitions.present(conn, run_id).seq, MAX_ENTRIES)[::-1]


def put(conn: Connection, owner: str, entries: list[SharedEntry]) -> SharedLogOut:
    """Store a copy in `service.db` for 14 days, or until its user is deleted."""
    _purge(conn)
    share_id, expires_at = conn.new_id(), rfc3339(conn.clock.now() + KEPT_SECONDS)
    conn.run(
        "INSERT INTO shared_log (id, owner, entries, created_at, expires_at) VALUES (?, ?, ?, ?, ?)",
        *(share_id, owner, msgspec.json.encode(entries), conn.now(), expires_at),
    )
    conn.run(
        "DELETE FROM shared_log WHERE owner = ? AND seq NOT IN"
        " (SELECT seq FROM shared_log WHERE owner = ? ORDER BY seq DESC LIMIT ?)",
        *(owner, owner, MAX_SHARES),
    )
    return SharedLogOut(share_id, expires_at, list(fields_of(SharedEntry)))


def find(conn: Connection, paging: Paging) -> Page[SharedLogSummary]:
    """The shared logs that have not expired, newest first."""
    _purge(conn)
    return pages.fetch(conn, paging, _summaries, "FROM shared_log")


def get(conn: Connection, share_id: str) -> SharedLog:
    """One shared log.

    Raises:
        NotFound: there is none with this id, or it has expired.
    """
    _purge(conn)
    found = _shared.one(conn, "FROM shared_log WHERE id = ?", share_id)
    if found is None:
        raise NotFound
    return found


def _purge(conn: Connection) -> None:
    conn.run("DELETE FROM shared_log WHERE expires_at <= ?", conn.now())
