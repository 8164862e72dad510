"""One row for every attempt to call a model, written before the call and completed after it."""

from typing import Literal, NamedTuple

import msgspec

from carrel.kit.database import Connection
from carrel.providers.base import Usage

Outcome = Literal["answered", "malformed", "failed", "unknown-outcome"]
"""How an attempt ended. `malformed` came back but not as asked for; of `unknown-outcome` nobody can tell whether the
provider did the work: the process died, or the call was cancelled on its way."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt as it ended. `cost_micros` is `None` where the price or the outcome is unknown, never 0 instead."""

    outcome: Outcome
    code: str | None = None
    usage: Usage | None = None
    cost_micros: int | None = None
    latency_ms: int | None = None


def begin(conn: Connection, *, run_id: str | None, task_key: str | None, attempt: int, model: str, free: bool) -> str:
    """Record that `model` (`provider:name`) is about to be called; the id of the row.

    A `free` call costs 0 whatever becomes of it.
    """
    call_id = conn.new_id()
    conn.run(
        "INSERT INTO calls (id, run_id, task_key, attempt, provider, model, outcome, cost_micros, started_at)"
        " VALUES (?, ?, ?, ?, ?, ?, 'running', ?, ?)",
        *(call_id, run_id, task_key, attempt, model.partition(":")[0], model, 0 if free else None, conn.now()),
    )
    return call_id


class Charge(msgspec.Struct, frozen=True):
    """What a call cost in millionths, `None` if nobody knows."""

    cost_micros: int | None


def end(conn: Connection, call_id: str, call: Call) -> Charge | None:
    """Complete the row, which says for good what the call cost; `None` if it was abandoned and charged before."""
    usage = call.usage
    rows = conn.all(
        "UPDATE calls SET outcome = ?, code = ?, input_tokens = ?, cached_tokens = ?, output_tokens = ?,"
        " cost_micros = coalesce(cost_micros, ?), latency_ms = ?, finished_at = ?"
        " WHERE id = ? AND outcome = 'running' RETURNING cost_micros",
        call.outcome,
        call.code,
        usage.input_tokens if usage else None,
        usage.cached_tokens if usage else None,
        usage.output_tokens if usage else None,
        call.cost_micros,
        call.latency_ms,
        conn.now(),
        call_id,
    )
    return Charge(rows[0][0]) if rows else None


class Lost(NamedTuple):
    """A call of which nobody learns what became; `cost_micros` is `None` unless such a call is free."""

    task_key: str
    attempt: int
    model: str
    cost_micros: int | None


def abandon(conn: Connection, run_id: str, task_key: str | None = None) -> list[Lost]:
    """Mark what was under way for a run, or for one task of it, as `unknown-outcome`; these calls, in their order."""
    rows = conn.all(
        "UPDATE calls SET outcome = 'unknown-outcome', finished_at = ? WHERE run_id = ? AND outcome = 'running'"
        " AND (? IS NULL OR task_key = ?) RETURNING seq, task_key, attempt, model, cost_micros",
        *(conn.now(), run_id, task_key, task_key),
    )
    return [Lost(*row[1:]) for row in sorted(rows)]
