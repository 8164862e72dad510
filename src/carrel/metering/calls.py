"""One row for every attempt to call a model, written before the call and completed after it."""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

import msgspec

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, as_json
from carrel.providers.base import Usage

Outcome = Literal["answered", "malformed", "failed", "unknown-outcome"]
"""How an attempt ended. `malformed`: the answer did not have the requested form. `unknown-outcome`: the process died or
the call was cancelled, so nobody knows whether the provider did the work."""


class CallEnd(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that has ended. `cost_micros` is `None`, and not 0, where the price or the outcome is unknown.

    `credit_micros` is its cost in credits, if credits pay. If it is unknown or more than was held back,
    `unknown_costs` decides the charge. `is_told`: the cost is the provider's own word, and no price was used.
    """

    outcome: Outcome
    code: str | None = None
    usage: Usage | None = None
    cost_micros: int | None = None
    credit_micros: int | None = None
    latency_ms: int | None = None
    is_told: bool = False


class Hold(NamedTuple):
    """Credits that are held back for a call, under a random id that reveals nothing about it."""

    reservation: str
    micros: int


class Terms(NamedTuple):
    """What is known about a call's cost beforehand: its price, and the most that a call of its size can cost."""

    price_id: str | None = None
    most_micros: int | None = None
    hold: Hold | None = None


NO_TERMS = Terms()


def begin(
    conn: Connection,
    *,
    run_id: str | None,
    task_key: str | None,
    attempt: int,
    model: str,
    host: str | None,
    free: bool,
    phase: str | None = None,
    terms: Terms = NO_TERMS,
    batch: int | None = None,
) -> str:
    """Record that `model` (`provider:name`) is about to be called. Returns the id of the row.

    `host` is where it answers, `None` at its provider's own host.
    A `free` call costs 0, however it ends. `phase` is the purpose: a phase of a run, or the kind of a single call.
    A call of a `batch` is in flight until somebody reads its result, also while nobody works on its run.
    """
    call_id = conn.new_id()
    conn.run(
        "INSERT INTO calls (id, run_id, task_key, attempt, provider, model, host, outcome, cost_micros, started_at,"
        " phase, price_id, most_micros, reservation, reserved_micros, batch)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?)",
        *(call_id, run_id, task_key, attempt, model.partition(":")[0], model, host, 0 if free else None, conn.now()),
        phase,
        *(terms.price_id, terms.most_micros, *(terms.hold or (None, None)), batch),
    )
    return call_id


def withdraw(conn: Connection, call_id: str) -> None:
    """Delete the row of a call that is not going to be made."""
    conn.run("DELETE FROM calls WHERE id = ? AND outcome = 'running'", call_id)


def withdraw_uncalled(conn: Connection, run_id: str, task_key: str | None, called: Collection[str]) -> list[str]:
    """Delete the rows begun for a run, or one task of it, that are not among `called`. Returns their tasks.

    Calls of batches stay.
    """
    rows = conn.all(
        "DELETE FROM calls WHERE run_id = ? AND outcome = 'running' AND batch IS NULL AND (? IS NULL OR task_key = ?)"
        " AND id NOT IN (SELECT value FROM json_each(?)) RETURNING task_key",
        *(run_id, task_key, task_key, as_json(list(called))),
    )
    return [key for (key,) in rows]


class Charge(msgspec.Struct, frozen=True):
    """What a call cost in millionths of a dollar; `None` if nobody knows."""

    cost_micros: int | None


def end(conn: Connection, call_id: str, call: CallEnd) -> Charge | None:
    """Complete the row, which says for good what the call cost; `None` if it was abandoned and charged before."""
    usage = call.usage
    rows = conn.all(
        "UPDATE calls SET outcome = ?2, code = ?3, input_tokens = ?4, cached_tokens = ?5, written_tokens = ?6,"
        " output_tokens = ?7, cost_micros = coalesce(cost_micros, ?8), latency_ms = ?9, finished_at = ?10,"
        " charged_micros = CASE WHEN ?1 <= reserved_micros THEN ?1 END,"
        " borne_micros = CASE WHEN ?1 > reserved_micros THEN ?1 - reserved_micros END,"
        " price_id = iif(?12, 'told', price_id)"
        " WHERE id = ?11 AND outcome = 'running' RETURNING cost_micros",
        call.credit_micros,
        call.outcome,
        call.code,
        usage.input_tokens if usage else None,
        usage.cached_tokens if usage else None,
        usage.written_tokens if usage else None,
        usage.output_tokens if usage else None,
        call.cost_micros,
        call.latency_ms,
        conn.now(),
        call_id,
        call.is_told,
    )
    return Charge(*rows[0]) if rows else None


class LostCall(NamedTuple):
    """A call whose outcome nobody learns. `cost_micros` is `None` unless the call is free."""

    task_key: str
    attempt: int
    model: str
    cost_micros: int | None


_lost = Select(LostCall)


def abandon(conn: Connection, run_id: str, task_key: str | None = None, *, paid: bool = True) -> list[LostCall]:
    """Mark the running calls of a run, or of one task of it, as `unknown-outcome`. Returns them in order.

    Without `paid`, it leaves out the calls that credits pay for. It always leaves out those of batches, whose results
    wait at the provider.
    """
    rows = conn.all(
        "UPDATE calls SET outcome = 'unknown-outcome', finished_at = ? WHERE run_id = ? AND outcome = 'running'"
        f" AND batch IS NULL AND (? IS NULL OR task_key = ?) AND (? OR reservation IS NULL) RETURNING seq, {_lost.sql}",
        *(conn.now(), run_id, task_key, task_key, paid),
    )
    return [_lost.record(row) for _, *row in sorted(rows)]


def most_open_micros(conn: Connection, run_id: str) -> int:
    """The most that the calls of a run with an unknown cost can have cost."""
    most: int = conn.value(
        "SELECT coalesce(sum(most_micros), 0) FROM calls WHERE run_id = ? AND cost_micros IS NULL", run_id
    )
    return most


def is_calling(conn: Connection, run_id: str) -> bool:
    """Whether a call of the run is in flight."""
    return conn.one("SELECT 1 FROM calls WHERE run_id = ? AND outcome = 'running' LIMIT 1", run_id) is not None


def charged(conn: Connection, reservations: Sequence[str]) -> dict[str, int | None]:
    """The charge of each call with one of these reservations; `None` while it is in flight or not decided."""
    rows = (
        conn.one("SELECT reservation, charged_micros FROM calls WHERE reservation = ?", one) for one in reservations
    )
    return dict(row for row in rows if row is not None)
