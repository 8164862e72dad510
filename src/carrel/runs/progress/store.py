"""Reads and deletes the rows of runs."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import asdict, replace

from carrel.errors import BadInput, CarrelError, NotFound
from carrel.http.answers.etag import IfMatch
from carrel.kit.money import text_if_known, text_of
from carrel.kit.sqlite import paging as pages
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging
from carrel.kit.sqlite.rows import Select, SqlColumn
from carrel.presets.configuration import Configuration
from carrel.runs.model import run_hosts, run_transitions, states
from carrel.runs.model.schemas import (
    Checkpoint,
    Deleted,
    Progress,
    Refused,
    Run,
    RunCount,
    RunSummary,
    Spend,
    TaskCounts,
)
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import State
from carrel.runs.progress.eta import RemainingTasks, eta_seconds

MAX_REMAINING = 10_000
"""The most task keys that a checkpoint names."""
SHORT_BYTES = 256 * 1024
"""The longest configuration that is read on the event loop."""

_BULK = 1_000
TASKS_AT_ONCE = 10_000
"""When runs with so many tasks are removed, the user's other writes have a turn: after 0.1 s, or a single large run."""


class _Snapshot(NamedTuple):
    configuration: Configuration
    version: int


def _progress(
    to_come: int,
    pending: int,
    running: int,
    succeeded: int,
    failed: int,
    skipped: int,
    cancelled: int,
    saved: int,
    saved_micros: int | None,
) -> Progress:
    done = succeeded + failed + skipped + cancelled
    total = to_come + pending + running + done
    percent = 100 * done // total if total else 100
    return Progress(
        *(total, pending + to_come, running, succeeded, failed, skipped, cancelled, percent, None),
        saved=saved,
        saved_cost=text_if_known(saved_micros),
    )


_summaries = Select(
    RunSummary,
    progress=Select(_progress),
    spend=Select(Spend, cost=SqlColumn("cost_micros", text_of)),
    created_at="runs.created_at",
    started_at="runs.started_at",
    finished_at="runs.finished_at",
)
_FROM = "FROM runs JOIN run_rounds ON run_rounds.run = runs.seq AND run_rounds.number = runs.round"
_snapshots = Select(_Snapshot)


def get(conn: Connection, run_id: RunId) -> Run:
    """One run.

    Raises:
        NotFound: there is none with this id.
    """
    shown = summary(conn, run_id)
    snapshot = _snapshots.one(conn, "FROM run_snapshots JOIN runs ON run = seq WHERE id = ?", run_id)
    if snapshot is None:
        raise CarrelError
    return Run(
        configuration=snapshot.configuration,
        hosts=run_hosts.of(conn, run_id),
        quiesced=shown.progress.running == 0,
        version=snapshot.version,
        **asdict(shown),
    )


def get_short(conn: Connection, run_id: RunId) -> Run | None:
    """The run, or `None` if its configuration is too long to be read on the event loop.

    Raises:
        NotFound: there is none with this id.
    """
    is_short = conn.value(
        "SELECT length(configuration) <= ? FROM run_snapshots JOIN runs ON run = seq WHERE id = ?", SHORT_BYTES, run_id
    )
    return None if is_short == 0 else get(conn, run_id)


def find(
    conn: Connection, paging: Paging, state: State | None, tag: str | None, *, trial: bool = False
) -> Page[RunSummary]:
    """One page of the runs, or of the trials, newest first."""
    where, params = f"trial = {int(trial)}", list[str]()
    if state is not None:
        where += " AND state = ?"
        params.append(state)
    if tag is not None:
        where += " AND runs.seq IN (SELECT run FROM run_tags WHERE tag = ?)"
        params.append(tag)
    found = pages.fetch(conn, paging, _summaries, f"{_FROM} WHERE {where}", *params, seq="runs.seq")
    return found.map(partial(_timed, conn))


def count(conn: Connection) -> RunCount:
    """How many runs each state has; states without any are 0. Trials do not count."""
    found: dict[State, int] = dict(conn.all("SELECT state, count(*) FROM runs WHERE trial = 0 GROUP BY state"))
    return RunCount(sum(found.values()), {state: found.get(state, 0) for state in states.STATES})


def checkpoint(conn: Connection, run_id: RunId) -> Checkpoint:
    """Where the run stands. Unbounded: to be scanned.

    Raises:
        NotFound: there is none with this id.
    """
    shown = summary(conn, run_id)
    seq = run_transitions.present(conn, run_id).seq
    remaining = conn.column(
        "SELECT key FROM tasks WHERE run = ? AND round = ? AND state = 'pending' ORDER BY seq LIMIT ?",
        *(seq, shown.round, MAX_REMAINING),
    )
    unplanned: int = conn.value("SELECT to_come FROM run_rounds WHERE run = ? AND number = ?", seq, shown.round)
    last = conn.value("SELECT at FROM run_log WHERE run = ? ORDER BY seq DESC LIMIT 1", seq)
    progress = shown.progress
    return Checkpoint(
        state=shown.state,
        phase=shown.phase,
        round=shown.round,
        counts=TaskCounts(
            progress.pending,
            progress.running,
            progress.succeeded,
            progress.failed,
            progress.skipped,
            progress.cancelled,
        ),
        remaining=remaining,
        unlisted=progress.pending - unplanned - len(remaining),
        unplanned=unplanned,
        spend=shown.spend,
        quiesced=progress.running == 0,
        committed_at=last or shown.created_at,
    )


def delete(conn: Connection, run_id: RunId, if_match: IfMatch) -> None:
    """Remove a run with everything that belongs to it. Its calls stay, because metering needs them.

    Raises:
        NotFound: there is none with this id.
        PreconditionFailed: it was changed in the meantime.
        RunStateConflict: it is running.
    """
    version: int | None = conn.value("SELECT version FROM runs WHERE id = ?", run_id)
    if version is None:
        raise NotFound
    if_match.require(version)
    seq = run_transitions.require(conn, run_id, "delete").seq
    with conn.large_cache():
        conn.run("DELETE FROM runs WHERE seq = ?", seq)


def to_delete(conn: Connection, ids: Sequence[str] | None, state: State | None) -> list[str]:
    """These ids, each once, or those of the oldest 1,000 runs in one state.

    Raises:
        BadInput: not exactly one of both is given.
    """
    if (ids is None) == (state is None):
        raise BadInput.at("ids", "must be given, or state, but not both")
    if ids is None:
        return conn.column("SELECT id FROM runs WHERE state = ? ORDER BY seq LIMIT ?", state, _BULK)
    return list(dict.fromkeys(ids))


def delete_some(conn: Connection, ids: Sequence[str]) -> tuple[Deleted, Sequence[str]]:
    """Remove the first of these runs, and name those that cannot be removed; and the ids for the next transaction."""
    deleted: list[str] = []
    refused: list[Refused] = []
    tasks = 0
    for number, run_id in enumerate(ids):
        if tasks >= TASKS_AT_ONCE:
            return Deleted(deleted, refused), ids[number:]
        try:
            seq = run_transitions.require(conn, RunId(run_id), "delete").seq
        except (NotFound, states.RunStateConflict) as error:
            refused.append(Refused(run_id, error.code))
        else:
            tasks += conn.value("SELECT count(*) FROM tasks WHERE run = ?", seq)
            conn.run("DELETE FROM runs WHERE seq = ?", seq)
            deleted.append(run_id)
    return Deleted(deleted, refused), ()


def summary(conn: Connection, run_id: RunId) -> RunSummary:
    """One run, without its configuration.

    Raises:
        NotFound: there is none with this id.
    """
    found = _summaries.one(conn, f"{_FROM} WHERE id = ?", run_id)
    if found is None:
        raise NotFound
    return _timed(conn, found)


def _timed(conn: Connection, run: RunSummary) -> RunSummary:
    """Add the remaining time to a run that is under way."""
    if run.state != "running":
        return run
    seq, to_come = conn.all(f"SELECT runs.seq, to_come {_FROM} WHERE id = ?", run.id)[0]
    left = RemainingTasks(run.progress.running, run.progress.pending - to_come, to_come)
    seconds = eta_seconds(conn, seq, run.round, run.phase, left)
    return replace(run, progress=replace(run.progress, eta_seconds=seconds))
