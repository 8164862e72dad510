"""How long a run still takes, told from how fast it went: in the time that passed, with whatever it had to wait for."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.providers.registry import is_built_in
from carrel.runs.model.log import Event
from carrel.runs.model.plan import Kind

_ROWS: Final = 100
"""So many rows of the log are looked at."""
_WAVES: Final = 2
"""The first calls to end are the quickest: before all that began together have ended, they say nothing."""
_ENOUGH: Final = 50
_BUILT_IN_SECONDS: Final = 0.01
"""What a call of a built-in model takes, where none was made yet."""
_BOUNDS: Final[Collection[Event]] = ("run-started", "run-resumed", "round-started", "phase-started")
"""What was before is about other calls, or there was a rest in between."""
_DONE: Final[Collection[Event]] = ("task-succeeded", "task-failed")


class Line(NamedTuple):
    """A row of the log. Tasks that were decided without a call have no model."""

    at: str
    event: Event
    model: str | None


_lines = Select(Line)


class Left(NamedTuple):
    """Tasks of the present phase under way and waiting, and those of later phases; the models that those may call."""

    running: int
    pending: int
    to_come: int
    later: Sequence[str] = ()


def seconds_left(lines: Sequence[Line], left: Left, now: float) -> int | None:
    """From the log, the newest row first; `None` while too little has ended to tell.

    Calls of later phases are taken to be as quick as those of the present one. The built-in models are not: they say
    nothing about language models, and take next to no time where nothing but language models was called so far.
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


def eta_seconds(conn: Connection, run: int, round_number: int, phase: Kind | None, left: Left) -> int | None:
    """The same of a run that is under way, of which so much is `left` by the counts of its round."""
    lines = _lines.all(conn, "FROM run_log WHERE run = ? ORDER BY seq DESC LIMIT ?", run, _ROWS)
    return seconds_left(lines, by_phase(conn, run, round_number, phase, left), conn.clock.now())


def by_phase(conn: Connection, run: int, round_number: int, phase: Kind | None, left: Left) -> Left:
    """With all of later phases among what is to come, and whom that calls."""
    if phase == "generate":
        # Scores are planned with the answers, one after the other: two looks at an index instead of a count of them.
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
        " UNION ALL SELECT model FROM run_candidates WHERE run = ? AND combines AND model IS NOT NULL",
        *(run, round_number, run),
    )
    return left._replace(later=models)


def _window(lines: Sequence[Line]) -> tuple[str | None, list[str]]:
    """The moment from which on everything is known, and the models of the tasks that ended after it."""
    since: str | None = None
    found: list[tuple[str, str]] = []
    for line in lines:
        since = line.at
        if line.event in _BOUNDS:
            return since, [model for _, model in found]
        if line.event in _DONE and line.model is not None:
            found.append((line.at, line.model))
    # What ended in the window's first instant took its time before that.
    return since, [model for at, model in found if since is None or at > since]


def _share(models: Sequence[str]) -> float:
    """How many of them are not built in, of 1."""
    return sum(not is_built_in(model) for model in models) / len(models) if models else 0.0
