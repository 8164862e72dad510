"""Lists the tasks of a run for clients."""

from itertools import product
from typing import NamedTuple, get_args

from carrel.errors import NotFound
from carrel.kit.money import text_if_known
from carrel.kit.sqlite import paging as pages
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging
from carrel.kit.sqlite.rows import Select, SqlColumn
from carrel.runs.model import run_transitions
from carrel.runs.model.plan import Kind
from carrel.runs.model.schemas import Task, TaskError
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import TaskState

_FROM = (
    "FROM tasks JOIN run_documents ON run_documents.run = tasks.run AND run_documents.ordinal = tasks.document"
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
    "model-unknown": "There is no model of this name, or it is not at the address that is stored with the key.",
    "role-not-supported": "The model cannot be used for this.",
    "criterion-not-supported": "The judge cannot judge by one of the criteria.",
    "parameter-not-supported": "The model does not take one of the parameters.",
    "thinking-budget-too-high": "The thinking budget must be below the output limit: set a higher max_output_tokens.",
    "request-refused": "The provider refused the request.",
    "provider-key-missing": "No key of the provider is stored.",
    "provider-key-changed": "The key came to name another host while the task waited.",
    "provider-key-rejected": "The provider does not take the key.",
    "provider-no-credit": "The account at the provider is empty.",
    "rate-limited": "The provider asked to wait, each time it was asked.",
    "provider-overloaded": "The provider had too much to do, each time it was asked.",
    "provider-timeout": "The call took longer than allowed.",
    "provider-unreachable": "The provider could not be reached.",
    "provider-malformed": "The provider's answer could not be read.",
    "answer-too-large": "The provider's answer was longer than any answer may be.",
    "service-busy": "Too many long answers came at once.",
    "provider-redirected": "The provider's address leads elsewhere: store the one that it leads to.",
    "provider-untrusted": "The certificate of the provider's address cannot be verified.",
    "provider-host-not-allowed": "The operator does not allow calls to the provider's address.",
    "provider-crashed": "The model broke down.",
    "batch-expired": "The provider did not come to the call in time.",
    "batch-failed": "The provider did not come to the call.",
    "batch-cancelled": "The provider did not come to the call.",
    "batch-lost": "The provider has no result of the call any more.",
}
_JUDGES = {
    "reply-cut-off": "The judge reached its output limit before it came to a verdict: set a higher max_output_tokens.",
    "reply-refused": "The judge refused to judge.",
}
_MALFORMED = "The judge's reply was not in the form that was asked for, also when it was asked again."
_OTHERWISE = "The call failed."


class TaskFilters(NamedTuple):
    """The wanted tasks; `None` leaves a filter out."""

    state: TaskState | None = None
    kind: Kind | None = None
    round: int | None = None
    document: int | None = None


def page(conn: Connection, run_id: RunId, filters: TaskFilters, paging: Paging) -> Page[Task]:
    """The tasks in the order of the plan. Unbounded if a round or document leaves out many: to be scanned.

    Raises:
        NotFound: there is no such run.
    """
    run = run_transitions.present(conn, run_id).seq
    values = [run, paging.after or 0, paging.limit + 1]
    rest = ""
    for column, value in (("round", filters.round), ("document", filters.document)):
        if value is not None:
            values.append(value)
            rest += f" AND {column} = ?{len(values)}"
    # Of each state and kind, the index has the tasks in this order: SQLite merges the lists and stops after the page.
    found = " UNION ALL ".join(
        f"SELECT seq FROM tasks WHERE run = ?1 AND state = '{state}' AND kind = '{kind}' AND seq > ?2{rest}"
        for state, kind in product(*_of(filters))
    )
    source = f"{_FROM} WHERE tasks.seq IN (SELECT seq FROM ({found} ORDER BY seq LIMIT ?3))"
    return pages.fetch(conn, paging, _tasks, source, *values, seq="tasks.seq", ascending=True)


def _of(filters: TaskFilters) -> tuple[tuple[TaskState, ...], tuple[Kind, ...]]:
    states: tuple[TaskState, ...] = get_args(TaskState) if filters.state is None else (filters.state,)
    kinds: tuple[Kind, ...] = get_args(Kind) if filters.kind is None else (filters.kind,)
    return states, kinds


def get(conn: Connection, run_id: RunId, key: str) -> Task:
    """One task.

    Raises:
        NotFound: there is no such run or task.
    """
    task = _tasks.one(conn, f"{_FROM} WHERE tasks.run = ? AND key = ?", run_transitions.present(conn, run_id).seq, key)
    if task is None:
        raise NotFound
    return task


def message_of(code: str) -> str:
    """The meaning of a task's error code, in a constant sentence."""
    if code.startswith("reply-"):
        return _JUDGES.get(code, _MALFORMED)
    return _MESSAGES.get(code, _OTHERWISE)


def _error(stored: str | None) -> TaskError | None:
    if stored is None:
        return None
    code, _, said = stored.partition(" ")
    return TaskError(code, message_of(code), said or None)


_tasks = Select(
    Task,
    round="tasks.round",
    document="tasks.document",
    document_name="run_documents.name",
    candidate="a.label",
    opponent="b.label",
    judge="run_judges.name",
    repeat="tasks.repeat",
    order="presented",
    generated_id="generated.id",
    # No code has a space in it.
    error=SqlColumn("error || ' ' || coalesce(tasks.provider_said, '')", _error),
    started_at="tasks.started_at",
    finished_at="tasks.finished_at",
    cost=SqlColumn("tasks.cost_micros", text_if_known),
    reused="tasks.reused IS NOT NULL",
)
