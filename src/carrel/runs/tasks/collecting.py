"""What a batch needs from the rows, and what its results become: the same as if each call had been made by itself."""

from collections.abc import Sequence
from typing import NamedTuple

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.metering import calls
from carrel.metering.calls import CallEnd
from carrel.providers import own_prices, prices
from carrel.providers.base import Answer, ProviderError
from carrel.providers.batches import seconds_of
from carrel.providers.prices import Price
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import Setup
from carrel.runs.tasks import attempts, batches, claims, inputs, outcomes, transitions
from carrel.runs.tasks.attempts import Attempt, CallFailure
from carrel.runs.tasks.batches import Batch, BatchCall
from carrel.runs.tasks.outcomes import CallUsage

_tasks = Select(inputs.TaskRow)


class OpenAttempts(NamedTuple):
    """The run of a batch, and an attempt for each call that has not ended."""

    setup: Setup
    attempts: list[Attempt]


def asked(conn: Connection, batch: Batch) -> OpenAttempts | None:
    """Build the attempts of the batch anew, as they were when it was claimed; `None` if the run was deleted.

    Reads up to the limit of a batch: to be scanned.
    """
    seq = conn.value("SELECT seq FROM runs WHERE id = ?", batch.run_id)
    setup = None if seq is None else setups.load(conn, seq, batch.round)
    if setup is None:
        return None
    found = []
    for call in batches.open_calls(conn, batch.seq):
        task = _tasks.one(conn, "FROM tasks WHERE run = ? AND key = ?", setup.seq, call.task_key)
        need = None if task is None else inputs.of(conn, setup, task)
        if task is not None and isinstance(need, inputs.ModelCall):
            found.append(claims.attempt_of(task, need, call.attempt, call.id, batch.host, _price(call, need.model)))
    return OpenAttempts(setup, found)


def put(conn: Connection, setup: Setup, answered: Sequence[tuple[Attempt, Answer | ProviderError]]) -> None:
    """Record what became of some calls of a batch; a task that is to be tried again waits for another batch."""
    for attempt, outcome in answered:
        if not _is_open(conn, attempt.call_id):
            continue
        measured = CallUsage(
            None if isinstance(outcome, ProviderError) else outcome.usage, _cost_micros(attempt, outcome), None
        )
        result = (
            CallFailure(outcome.code, outcome.retryable)
            if isinstance(outcome, ProviderError)
            else attempts.result(attempt, outcome)
        )
        if outcomes.commit(conn, setup, attempt, result, measured).do == "again":
            transitions.put_back(conn, setup.seq, attempt.task, attempt.number)


def end(conn: Connection, batch: Batch) -> None:
    """End the batch. Calls of which nobody will learn anything are abandoned: their run was deleted."""
    for call in batches.open_calls(conn, batch.seq):
        calls.end(conn, call.id, CallEnd(outcome="unknown-outcome"))
    batches.ended(conn, batch.seq)


def _price(call: BatchCall, model: str) -> Price | None:
    """The price that the call was claimed at, whatever the user has said of the model since."""
    if call.price_id is None:
        return None
    if (own := own_prices.of_id(call.price_id)) is not None:
        return own
    of_list = prices.price_of(model, seconds_of(call.started_at))
    return None if of_list is None else of_list.of_batches


def _is_open(conn: Connection, call_id: str) -> bool:
    return conn.one("SELECT 1 FROM calls WHERE id = ? AND outcome = 'running'", call_id) is not None


def _cost_micros(attempt: Attempt, outcome: Answer | ProviderError) -> int | None:
    if isinstance(outcome, ProviderError):
        return 0 if outcome.unbilled else None
    return None if attempt.price is None or outcome.usage is None else attempt.price.cost_micros(outcome.usage)
