"""Tries the failed tasks of a run again, in its present round. What succeeded is kept and is not paid again."""

from collections.abc import Collection
from typing import NamedTuple

from carrel.errors import CarrelError
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.runs.costs import keys
from carrel.runs.model import plan, run_transitions
from carrel.runs.model import setup as setups
from carrel.runs.model.plan import Kind
from carrel.runs.model.schemas import Run
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.model.states import NothingToRetry, TaskState
from carrel.runs.progress import store
from carrel.runs.tasks import outcomes, phases, transitions

_FOR_LACK_OF_ANSWERS = (outcomes.MISSING, outcomes.NO_SOURCES)


class _Task(NamedTuple):
    """A task without a result: it failed, or was skipped because another one failed."""

    seq: int
    kind: Kind
    state: TaskState
    candidate: int
    opponent: int | None


_tasks = Select(_Task)


def retry(conn: Connection, run_id: RunId, system: Collection[str] = ()) -> Run:
    """Let the run continue with its failed tasks, and with those that were skipped for lack of an answer.

    Tasks that the user skipped stay skipped. The run goes through its phases again from the first of these tasks on,
    so it chooses anew what depends on them: finalists, the answers that are combined, and whether to stop early.
    Comparisons that were made stay part of the verdict. `system` are the providers for which the operator has a key.

    Raises:
        NotFound: there is no such run.
        RunStateConflict: it has not ended, was cancelled, or is complete.
        NothingToRetry: no task failed.
        ProviderKeyMissing, CreditsUnavailable: as `keys.require` says.
    """
    found = run_transitions.require(conn, run_id, "retry")
    setup = setups.load(conn, found.seq)
    if setup is None:
        raise CarrelError
    # A later round has no answers of its own: those that failed in the first one are made now.
    without_result = _tasks.all(
        conn,
        "FROM tasks WHERE run = ? AND (round = ? OR kind = 'generate')"
        " AND (state = 'failed' OR (state = 'skipped' AND error IN (?, ?))) ORDER BY seq",
        *(found.seq, found.round, *_FOR_LACK_OF_ANSWERS),
    )
    if not any(task.state == "failed" for task in without_result):
        raise NothingToRetry
    keys.require(conn, setup, system)
    combined, _, kind = min(_order(setup, task) for task in without_result)
    for task in without_result:
        if task.kind in ("score", "compare") and _is_combined(setup, task) and not combined:
            # The phases of that kind come twice, and the earlier one would find no combined answer.
            transitions.unplan(conn, found.seq, task.seq)
        else:
            transitions.retry(conn, found.seq, task.seq)
    phases.reopen(conn, setup, kind, combined=combined)
    run_transitions.run(conn, found.seq, "run-retried")
    return store.get(conn, run_id)


def _order(setup: Setup, task: _Task) -> tuple[bool, int, Kind]:
    """Tasks by this are in the order in which the run works on them."""
    return _is_combined(setup, task), plan.PHASES.index(task.kind), task.kind


def _is_combined(setup: Setup, task: _Task) -> bool:
    """Whether the task makes or judges a combined answer in the first round, after everything else."""
    return setup.round.number == 1 and not {task.candidate, task.opponent}.isdisjoint(setup.shape.makers)
