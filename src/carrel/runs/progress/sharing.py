"""Logs that a user shows to the operator: a copy of times, keys, states, codes, models and counts, never of a text."""

from typing import Final, NewType

import msgspec

from carrel.errors import NotFound
from carrel.kit.clock import Time, rfc3339
from carrel.kit.ids import Id
from carrel.kit.sqlite import paging as pages
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging
from carrel.runs.model import run_transitions
from carrel.runs.model.schemas import SharedLogOut
from carrel.runs.model.setup import RunId

KEPT_SECONDS: Final = 14 * 24 * 3600
MAX_ENTRIES: Final = 20_000
"""Of a longer log, its last rows are shared."""
MAX_SHARES: Final = 20
"""How many copies of one user are kept; the oldest goes first."""

FIELDS: Final = (
    "at", "level", "event", "task_key", "state", "code", "model", "attempt", "latency_ms", "input_tokens",
    "output_tokens",
)  # fmt: skip
"""The allow-list. Whatever a log row may hold one day, nothing else is copied."""


class SharedEntry(msgspec.Struct, frozen=True):
    """One row as it is shared."""

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


class SharedLogSummary(msgspec.Struct, frozen=True):
    """A shared log in the operator's list; it does not say whose it is."""

    share_id: Id
    created_at: Time
    expires_at: Time
    entry_count: int


class SharedLog(SharedLogSummary, frozen=True):
    """A shared log with its rows, oldest first."""

    entries: list[SharedEntry]


ShareId = NewType("ShareId", Id)

_entries = msgspec.json.Decoder(list[SharedEntry])


def copied(conn: Connection, run_id: RunId) -> list[SharedEntry]:
    """The run's log, as far as it may be shared. Unbounded: to be scanned.

    Raises:
        NotFound: there is no such run.
    """
    rows = conn.all(
        f"SELECT {', '.join(FIELDS)} FROM run_log WHERE run = ? ORDER BY seq DESC LIMIT ?",
        *(run_transitions.present(conn, run_id).seq, MAX_ENTRIES),
    )
    return [SharedEntry(*row) for row in reversed(rows)]


def put(conn: Connection, owner: str, entries: list[SharedEntry]) -> SharedLogOut:
    """Keep a copy in `service.db` for 14 days, or until its user is deleted."""
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
    return SharedLogOut(share_id, expires_at, list(FIELDS))


def find(conn: Connection, paging: Paging) -> Page[SharedLogSummary]:
    """The shared logs that have not expired, newest first."""
    _purge(conn)
    sql = "SELECT seq, id, created_at, expires_at, json_array_length(entries) FROM shared_log WHERE 1"
    return pages.fetch(conn, paging, sql, row=SharedLogSummary)


def get(conn: Connection, share_id: str) -> SharedLog:
    """One shared log.

    Raises:
        NotFound: there is none with this id, or it has expired.
    """
    _purge(conn)
    row = conn.one("SELECT created_at, expires_at, entries FROM shared_log WHERE id = ?", share_id)
    if row is None:
        raise NotFound
    entries = _entries.decode(row[2])
    return SharedLog(share_id, row[0], row[1], len(entries), entries)


def _purge(conn: Connection) -> None:
    conn.run("DELETE FROM shared_log WHERE expires_at <= ?", conn.now())
