"""The rows of batches: calls of a run that go to a provider together, at half the price.

A batch is claimed in one transaction, and its row says `sending` before the first byte leaves. A process that finds
such a row looks for the batch at the provider before it sends anything. So no batch is ever sent twice.
"""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, as_json
from carrel.providers.base import output_limit
from carrel.providers.batches import MAX_OUTPUT_TOKENS, MAX_PROMPT_BYTES, MAX_REQUESTS
from carrel.runs.costs import quotes
from carrel.runs.model.plan import Kind
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.tasks.attempts import Attempt

MAX_OPEN: Final = 20
"""How many batches of one run are prepared or under way at a time."""
State = Literal["prepared", "sending", "sent", "ended"]


class Batch(NamedTuple):
    """A batch that has not ended. Times are in seconds since the epoch. `host` is as in calls.

    `cancelled`: nobody wants its results, because the run was cancelled or deleted.
    """

    seq: int
    id: str
    run_id: RunId
    round: int
    model: str
    host: str | None
    state: State
    cancelled: bool
    remote_id: str | None
    due_at: int
    sending_at: int | None


class BatchCall(NamedTuple):
    """A call of a batch that has not ended."""

    id: str
    task_key: str
    attempt: int
    started_at: str
    price_id: str | None


class BatchTasks(NamedTuple):
    """The next tasks that go into one batch, in the order of the plan."""

    model: str
    tasks: list[int]


_open = Select(Batch, cancelled="cancelled OR run_id NOT IN (SELECT id FROM runs)")
_TO_DO: Final = (
    "FROM batches WHERE state <> 'ended'"
    " AND (state <> 'prepared' OR run_id NOT IN (SELECT id FROM runs WHERE state = 'paused'))"
)
_calls = Select(BatchCall)


class BatchCapacity:
    """How much more fits into one batch."""

    def __init__(self) -> None:
        self._bytes = MAX_PROMPT_BYTES
        self._tokens = MAX_OUTPUT_TOKENS

    def takes(self, attempt: Attempt) -> bool:
        """Count the attempt. Return whether there is room for another one of its size."""
        read = sum(
            quotes.bytes_of(text)
            for text in quotes.texts_of(attempt.matter, attempt.instructions, attempt.reference, attempt.criteria)
        )
        limit = output_limit("judge" if attempt.kind in ("score", "compare") else "generate", attempt.parameters)
        self._bytes -= read
        self._tokens -= limit
        return self._bytes >= read and self._tokens >= limit


def to_do(conn: Connection) -> list[Batch]:
    """The batches of all runs that have not ended, in their order, without those that a paused run has not sent."""
    return _open.all(conn, f"{_TO_DO} ORDER BY seq")


def any_to_do(conn: Connection) -> bool:
    """Whether there is any."""
    return conn.one(f"SELECT 1 {_TO_DO} LIMIT 1") is not None


def is_full(conn: Connection, setup: Setup) -> bool:
    """Whether the run has as many batches as it may have at a time."""
    count: int = conn.value("SELECT count(*) FROM batches WHERE run_id = ? AND state <> 'ended'", setup.id)
    return count >= MAX_OPEN


def waits(conn: Connection, setup: Setup) -> bool:
    """Whether a task of the round waits for the result of its call in a batch."""
    sql = (
        "SELECT 1 FROM calls JOIN tasks ON tasks.run = ? AND tasks.key = task_key WHERE run_id = ?"
        " AND outcome = 'running' AND batch IS NOT NULL AND tasks.state = 'running' AND tasks.round = ? LIMIT 1"
    )
    return conn.one(sql, setup.seq, setup.id, setup.round.number) is not None


def next_tasks(conn: Connection, setup: Setup, phase: Kind) -> BatchTasks | None:
    """The next tasks for a batch: those of one model, because a batch may hold no other. `None` if there are none."""
    column = "judge" if phase in ("score", "compare") else "candidate"
    named = [(one.ordinal, one.model) for one in (setup.round.judges if column == "judge" else setup.candidates)]
    of_models: dict[str, list[int]] = {}
    for ordinal, model in named:
        if model is not None and setup.batches(model):
            of_models.setdefault(model, []).append(ordinal)
    sql = (
        f"SELECT seq FROM tasks WHERE run = ? AND state = 'pending' AND kind = ?"
        f" AND {column} IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT {MAX_REQUESTS}"
    )
    for model, ordinals in of_models.items():
        tasks: list[int] = conn.column(sql, setup.seq, phase, as_json(ordinals))
        if tasks:
            return BatchTasks(model, tasks)
    return None


def prepare(conn: Connection, setup: Setup, model: str, host: str | None) -> int:
    """Make an empty batch for this host, and return its row."""
    conn.run(
        "INSERT INTO batches (id, run_id, round, model, host, state, created_at) VALUES (?, ?, ?, ?, ?, 'prepared', ?)",
        *(conn.new_id(), setup.id, setup.round.number, model, host, conn.now()),
    )
    return conn.last_insert_rowid()


def is_empty(conn: Connection, batch: int) -> bool:
    """Whether the batch has no call."""
    return conn.one("SELECT 1 FROM calls WHERE batch = ? LIMIT 1", batch) is None


def remove(conn: Connection, batch: int) -> None:
    """Remove a batch that is not sent, with its calls."""
    if conn.one("DELETE FROM batches WHERE seq = ? AND state = 'prepared' RETURNING 1", batch) is not None:
        conn.run("DELETE FROM calls WHERE batch = ? AND outcome = 'running'", batch)


def open_calls(conn: Connection, batch: int) -> list[BatchCall]:
    """The calls of the batch that have not ended, in the order in which they were claimed."""
    return _calls.all(conn, "FROM calls WHERE batch = ? AND outcome = 'running' ORDER BY seq", batch)


def remote_ids(conn: Connection) -> list[str]:
    """The providers' ids of all batches."""
    return conn.column("SELECT remote_id FROM batches WHERE remote_id IS NOT NULL")


def may_be_sent(conn: Connection, batch: Batch) -> bool:
    """Whether the batch may leave now: its run is under way in its round, and the wait is over."""
    if batch.cancelled or batch.due_at > conn.clock.now():
        return False
    sql = "SELECT 1 FROM runs WHERE id = ? AND state = 'running' AND round = ?"
    return conn.one(sql, batch.run_id, batch.round) is not None


def begin_sending(conn: Connection, seq: int) -> Batch | None:
    """Record that the batch is about to be sent; `None` if it must not be sent any more."""
    batch = _open.one(conn, "FROM batches WHERE seq = ? AND state IN ('prepared', 'sending')", seq)
    if batch is None or not may_be_sent(conn, batch):
        return None
    now = int(conn.clock.now())
    conn.run("UPDATE batches SET state = 'sending', sending_at = coalesce(sending_at, ?) WHERE seq = ?", now, seq)
    return batch._replace(state="sending", sending_at=batch.sending_at or now)


def sent(conn: Connection, seq: int, remote_id: str) -> None:
    """Record the provider's id of a batch."""
    conn.run("UPDATE batches SET state = 'sent', remote_id = ? WHERE seq = ? AND state = 'sending'", remote_id, seq)


def send_later(conn: Connection, seq: int, seconds: float) -> None:
    """Record that the provider certainly has no such batch, or did nothing with it, and that it is sent again later."""
    conn.run(
        "UPDATE batches SET state = 'prepared', remote_id = NULL, sending_at = NULL, due_at = ?"
        " WHERE seq = ? AND state IN ('sending', 'sent')",
        *(int(conn.clock.now() + seconds), seq),
    )


def ended(conn: Connection, seq: int) -> None:
    """Record that all results of the batch are recorded."""
    conn.run("UPDATE batches SET state = 'ended' WHERE seq = ?", seq)


def give_up(conn: Connection, run_id: RunId, task_key: str | None) -> Sequence[str]:
    """Nobody wants the results of a run, or of one task of it, any more: withdraw the calls that are not sent.

    Return their tasks. Without a task, the batches under way are to be cancelled.
    """
    keys: list[str] = conn.column(
        "DELETE FROM calls WHERE run_id = ?1 AND outcome = 'running' AND (?2 IS NULL OR task_key = ?2)"
        " AND batch IN (SELECT seq FROM batches WHERE run_id = ?1 AND state = 'prepared') RETURNING task_key",
        *(run_id, task_key),
    )
    if task_key is None:
        conn.run("UPDATE batches SET cancelled = 1 WHERE run_id = ? AND state IN ('sending', 'sent')", run_id)
    conn.run(
        "DELETE FROM batches WHERE run_id = ?1 AND state = 'prepared' AND seq NOT IN"
        " (SELECT batch FROM calls WHERE run_id = ?1 AND batch IS NOT NULL)",
        run_id,
    )
    return keys
