"""The log of a run: one row for each event, written by the transaction that caused it. Numbers and codes only."""

from typing import Literal

import msgspec

from carrel.errors import NotFound
from carrel.kit.clock import Time
from carrel.kit.sqlite import paging
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging
from carrel.kit.sqlite.rows import Select
from carrel.runs.model.plan import Kind
from carrel.runs.model.setup import RunId

Level = Literal["info", "warning", "error"]
Event = Literal[
    "run-created",
    "run-started",
    "run-paused",
    "run-resumed",
    "run-cancelled",
    "run-finished",
    "run-retried",
    "round-started",
    "phase-started",
    "look-taken",
    "check-failed",
    "attempt-failed",
    "attempt-lost",
    "task-succeeded",
    "task-decided",
    "task-reused",
    "task-failed",
    "task-skipped",
    "vote-cast",
    "vote-undone",
    "vote-withdrawn",
    "votes-imported",
    "answer-noted",
    "answers-sent",
    "answers-delayed",
    "answers-not-sent",
]
"""`look-taken`: at the comparisons, `decided` or `undecided`. `check-failed`: the check of an answer took too long or
broke. `task-decided`: by a rule, without a call. `task-reused`: with the result of an earlier run. `attempt-lost`:
nobody knows whether the provider did the work. `answers-delayed`: sending them failed, and Carrel tries again."""


class LogEntry(msgspec.Struct, frozen=True):
    """One row of the log. `state` and `code` are the run's or the task's, as the event says.

    `kind` is the kind of the task that `task_key` names; both are null where the event concerns the whole run.
    """

    seq: int
    at: Time
    level: Level
    event: Event
    task_key: str | None
    kind: Kind | None
    state: str | None
    code: str | None
    model: str | None
    attempt: int | None
    latency_ms: int | None
    input_tokens: int | None
    output_tokens: int | None


_entries = Select(
    LogEntry, kind="(SELECT kind FROM tasks WHERE tasks.run = run_log.run AND tasks.key = run_log.task_key)"
)


def write(
    conn: Connection,
    run: int,
    event: Event,
    *,
    level: Level = "info",
    task_key: str | None = None,
    state: str | None = None,
    code: str | None = None,
    model: str | None = None,
    attempt: int | None = None,
    latency_ms: int | None = None,
    input_tokens: int | None = None,
    output_tokens: int | None = None,
) -> None:
    """Add a row, in the transaction of the event."""
    conn.run(
        "INSERT INTO run_log (run, at, level, event, task_key, state, code, model, attempt, latency_ms, input_tokens,"
        " output_tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(run, conn.now(), level, event, task_key, state, code, model, attempt, latency_ms),
        *(input_tokens, output_tokens),
    )


def page(
    conn: Connection, run_id: RunId, which: Paging, *, level: Level | None, task_key: str | None
) -> Page[LogEntry]:
    """The rows of one run, newest first. With a filter it is unbounded: to be scanned.

    Raises:
        NotFound: there is no such run.
    """
    where, params = _where(seq_of(conn, run_id), level, task_key)
    return paging.fetch(conn, which, _entries, f"FROM run_log WHERE {where}", *params)


def count(conn: Connection, run_id: RunId, *, level: Level | None, task_key: str | None) -> int:
    """How many rows `page` goes through. Unbounded: to be scanned.

    Raises:
        NotFound: there is no such run.
    """
    where, params = _where(seq_of(conn, run_id), level, task_key)
    found: int = conn.value(f"SELECT count(*) FROM run_log WHERE {where}", *params)
    return found


def after(
    conn: Connection, run: int, seq: int, limit: int, *, level: Level | None = None, task_key: str | None = None
) -> list[LogEntry]:
    """The next rows after `seq`, oldest first. With a filter it is unbounded: to be scanned."""
    where, params = _where(run, level, task_key)
    return _entries.all(conn, f"FROM run_log WHERE {where} AND seq > ? ORDER BY seq LIMIT ?", *params, seq, limit)


def newest(conn: Connection, run: int) -> int:
    """The last row of the run; 0 if it has none."""
    found: int | None = conn.value("SELECT max(seq) FROM run_log WHERE run = ?", run)
    return found or 0


def seq_of(conn: Connection, run_id: RunId) -> int:
    """The row of a run.

    Raises:
        NotFound: there is none with this id.
    """
    seq: int | None = conn.value("SELECT seq FROM runs WHERE id = ?", run_id)
    if seq is None:
        raise NotFound
    return seq


def _where(run: int, level: Level | None, task_key: str | None) -> tuple[str, list[int | str]]:
    params: list[int | str] = [run]
    where = "run = ?"
    if level is not None:
        where += " AND level = ?"
        params.append(level)
    if task_key is not None:
        where += " AND task_key = ?"
        params.append(task_key)
    return where, params
