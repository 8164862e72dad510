"""The tasks of a run, as they are shown."""

from typing import NamedTuple

from carrel.errors import NotFound
from carrel.kit.money import text_if_known
from carrel.kit.sqlite import paging as pages
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging
from carrel.runs.model import run_transitions
from carrel.runs.model.plan import Kind, Presented
from carrel.runs.model.schemas import Task, TaskError
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import TaskState

_SELECT = (
    "SELECT tasks.seq, key, kind, state, tasks.round, attempts, tasks.document, run_documents.name, a.label, b.label,"
    " run_judges.name, tasks.repeat, presented, generated.id, error, tasks.started_at, tasks.finished_at,"
    " tasks.cost_micros FROM tasks"
    " JOIN run_documents ON run_documents.run = tasks.run AND run_documents.ordinal = tasks.document"
    " JOIN run_candidates AS a ON a.run = tasks.run AND a.ordinal = tasks.candidate"
    " LEFT JOIN run_candidates AS b ON b.run = tasks.run AND b.ordinal = opponent"
    " LEFT JOIN run_judges ON run_judges.run = tasks.run AND run_judges.round = tasks.round"
    " AND run_judges.ordinal = judge"
    " LEFT JOIN generated ON generated.task = tasks.seq"
)

_MESSAGES = {
    "answer-missing": "There was no answer to judge.",
    "sources-missing": "There were fewer than two answers to combine.",
    "skipped": "It was skipped by hand.",
    "model-unknown": "There is no such model any more.",
    "role-not-supported": "The model cannot be used for this.",
    "criterion-not-supported": "The judge cannot judge by one of the criteria.",
    "provider-timeout": "The call took longer than allowed.",
    "provider-crashed": "The model broke down.",
}
_MALFORMED = "The judge's reply was not in the form that was asked for, also when it was asked again."
_OTHERWISE = "The call failed."


class Filters(NamedTuple):
    """Which tasks are wanted; `None` leaves a filter out."""

    state: TaskState | None = None
    kind: Kind | None = None
    round: int | None = None
    document: int | None = None


def page(conn: Connection, run_id: RunId, filters: Filters, paging: Paging) -> Page[Task]:
    """The tasks in the order of the plan. Unbounded where a filter leaves out many: to be scanned.

    Raises:
        NotFound: there is no such run.
    """
    where = "tasks.run = ?"
    values: list[int | str] = [run_transitions.present(conn, run_id).seq]
    for column, value in zip(("tasks.state", "kind", "tasks.round", "tasks.document"), filters, strict=True):
        if value is not None:
            where += f" AND {column} = ?"
            values.append(value)
    return pages.fetch(conn, paging, f"{_SELECT} WHERE {where}", *values, row=_task, seq="tasks.seq", ascending=True)


def get(conn: Connection, run_id: RunId, key: str) -> Task:
    """One task.

    Raises:
        NotFound: there is no such run or task.
    """
    row = conn.one(f"{_SELECT} WHERE tasks.run = ? AND key = ?", run_transitions.present(conn, run_id).seq, key)
    if row is None:
        raise NotFound
    return _task(*row[1:])


def _task(
    key: str,
    kind: Kind,
    state: TaskState,
    round_number: int,
    attempts: int,
    document: int,
    document_name: str,
    candidate: str,
    opponent: str | None,
    judge: str | None,
    repeat: int,
    order: Presented | None,
    generated_id: str | None,
    error: str | None,
    started_at: str | None,
    finished_at: str | None,
    cost_micros: int | None,
) -> Task:
    return Task(
        key=key,
        kind=kind,
        state=state,
        round=round_number,
        attempts=attempts,
        document=document,
        document_name=document_name,
        candidate=candidate,
        opponent=opponent,
        judge=judge,
        repeat=repeat,
        order=order,
        generated_id=generated_id,
        error=None if error is None else TaskError(error, message_of(error)),
        started_at=started_at,
        finished_at=finished_at,
        cost=text_if_known(cost_micros),
    )


def message_of(code: str) -> str:
    """What a task's error code means, in a constant sentence."""
    return _MALFORMED if code.startswith("reply-") else _MESSAGES.get(code, _OTHERWISE)
