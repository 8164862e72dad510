"""Estimates how long a run still takes from its speed so far, which includes all time that it waited."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.providers.registry import is_built_in
from carrel.runs.model.log import Event
from carrel.runs.model.plan import Kind

_ROWS: Final = 100
"""How many rows of the log the estimate reads."""
_WAVES: Final = 2
"""The quickest calls end first. The estimate waits until all calls that began together have ended."""
_ENOUGH: Final = 50
_BUILT_IN_SECONDS: Final = 0.01
"""The seconds that a call of a built-in model takes, if none was measured yet."""
_BOUNDS: Final[Collection[Event]] = ("run-started", "run-resumed", "round-started", "phase-started")
"""Rows before these events are about other calls, or the run rested in between."""
_DONE: Final[Collection[Event]] = ("task-succeeded", "task-failed")


class EtaLogRow(NamedTuple):
    """A row of the log. Tasks that were decided without a call have no model."""

    at: str
    event: Event
    model: str | None


_lines = Select(EtaLogRow)


class RemainingTasks(NamedTuple):
    """Tasks of the present phase under way and waiting, and those of later phases; the models that those may call."""

    running: int
    pending: int
    to_come: int
    later: Sequence[str] = ()


def seconds_left(lines: Sequence[EtaLogRow], left: RemainingTasks, now: float) -> int | None:
    """Estimate from the log, the newest row first; `None` while too few calls have ended.

    The estimate assumes that calls of later phases are as quick as those of the present one. Built-in models are an
    exception: they say nothing about language models, and take almost no time if the run has called only language
    models so far.
    """
    since, models = _window(lines)
    if since is None or len(models) < max(1, min(_WAVES * left.running, _ENOUGH)):
        return None
    passed = max(0.0, now - datetime.fromisoformat(since).timestamp())
    seconds = (left.running + left.pending) * passed / len(models)
    remote = [model for model in models if not is_built_in(model)]
    later_remote = left.to_come * _share(left.later)
    if later_remote:
        if not remote:
            return None
        seconds += later_remote * passed / len(remote)
    of_built_in = _BUILT_IN_SECONDS if remote else passed / len(models)
    seconds += (left.to_come - later_remote) * of_built_in
    return int(seconds) + 1


def eta_seconds(conn: Connection, run: int, round_number: int, phase: Kind | None, left: RemainingTasks) -> int | None:
    """The same for a run under way, of which `left` remains by the counts of its round."""
    lines = _lines.all(conn, "FROM run_log WHERE run = ? ORDER BY seq DESC LIMIT ?", run, _ROWS)
    return seconds_left(lines, by_phase(conn, run, round_number, phase, left), conn.clock.now())


def by_phase(conn: Connection, run: int, round_number: int, phase: Kind | None, left: RemainingTasks) -> RemainingTasks:
    """Add the later phases to the remaining tasks, with the models that they call."""
    if phase == "generate":
        # Scores are planned together with the answers and have numbers without gaps: two looks at an index replace a
        # count.
        planned = conn.value(
            "SELECT (SELECT max(seq) FROM tasks WHERE run = ? AND state = 'pending' AND kind = 'score')"
            " - (SELECT min(seq) FROM tasks WHERE run = ? AND state = 'pending' AND kind = 'score') + 1",
            *(run, run),
        )
        scores = min(left.pending, planned or 0)
        left = left._replace(pending=left.pending - scores, to_come=left.to_come + scores)
    if not left.to_come:
        return left
    models = conn.column(
        "SELECT model FROM run_judges WHERE run = ? AND round = ?"
        " UNION ALL SELECT model FROM run_candidates JOIN run_rounds USING (run)"
        " WHERE run = ? AND number = ? AND (combines OR in_blocks) AND model IS NOT NULL",
        *(run, round_number, run, round_number),
    )
    return left._replace(later=models)


def _window(lines: Sequence[EtaLogRow]) -> tuple[str | None, list[str]]:
    """The moment since which all events are known, and the models of the tasks that ended after it."""
    since: str | None = None
    found: list[tuple[str, str]] = []
    for line in lines:
        since = line.at
        if line.event in _BOUNDS:
            return since, [model for _, model in found]
        if line.event in _DONE and line.model is not None:
            found.append((line.at, line.model))
    # Tasks that ended in the first instant of the window did their work before it.
    return since, [model for at, model in found if since is None or at > since]


def _share(models: Sequence[str]) -> float:
    """The share of the models that are not built in, from 0 to 1."""
    return sum(not is_built_in(model) for model in models) / len(models) if models else 0.0
