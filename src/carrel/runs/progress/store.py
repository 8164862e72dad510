"""The rows of runs, read and deleted."""

from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec.structs import asdict

from carrel.errors import BadInput, CarrelError, NotFound
from carrel.kit.http.etag import IfMatch
from carrel.kit.money import text_of
from carrel.kit.sqlite import paging as pages
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging
from carrel.presets.configuration import Configuration
from carrel.runs.model import run_transitions, states
from carrel.runs.model.plan import Kind
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
from carrel.runs.model.states import PauseReason, State
from carrel.runs.progress.eta import Left, eta_seconds
from carrel.vault.ids import PresetId

MAX_REMAINING = 10_000
"""The most task keys that a checkpoint names."""
SHORT_BYTES = 256 * 1024
"""The longest configuration that is read on the event loop."""

_BULK = 1_000

_COLUMNS = (
    "id, name, preset_id, state, pause_reason, phase, round, verdict, runs.created_at, runs.started_at,"
    " runs.finished_at, pinned, tags, cost_micros, unknown_calls,"
    " to_come, pending, running, succeeded, failed, skipped, cancelled"
)
_FROM = "FROM runs JOIN run_rounds ON run_rounds.run = runs.seq AND run_rounds.number = runs.round"
_configuration = msgspec.json.Decoder(Configuration)
_tags = msgspec.json.Decoder(list[str])


def get(conn: Connection, run_id: RunId) -> Run:
    """One run.

    Raises:
        NotFound: there is none with this id.
    """
    shown = summary(conn, run_id)
    row = conn.one("SELECT configuration, version FROM run_snapshots JOIN runs ON run = seq WHERE id = ?", run_id)
    if row is None:
        raise CarrelError
    return Run(
        configuration=_configuration.decode(row[0]),
        quiesced=shown.progress.running == 0,
        version=row[1],
        **asdict(shown),
    )


def get_short(conn: Connection, run_id: RunId) -> Run | None:
    """The run, or `None` if its configuration is too long to be read on the event loop.

    Raises:
        NotFound: there is none with this id.
    """
    row = conn.one(
        "SELECT length(configuration) <= ? FROM run_snapshots JOIN runs ON run = seq WHERE id = ?", SHORT_BYTES, run_id
    )
    return None if row is not None and not row[0] else get(conn, run_id)


def find(conn: Connection, paging: Paging, state: State | None, tag: str | None) -> Page[RunSummary]:
    """One page of the runs, newest first."""
    where, params = "1", list[str]()
    if state is not None:
        where += " AND state = ?"
        params.append(state)
    if tag is not None:
        where += " AND runs.seq IN (SELECT run FROM run_tags WHERE tag = ?)"
        params.append(tag)
    sql = f"SELECT runs.seq, runs.seq, {_COLUMNS} {_FROM} WHERE {where}"
    return pages.fetch(conn, paging, sql, *params, seq="runs.seq", row=partial(_summary, conn))


def count(conn: Connection) -> RunCount:
    """How many runs there are of each state; states without any are 0."""
    found: dict[State, int] = dict(conn.all("SELECT state, count(*) FROM runs GROUP BY state"))
    return RunCount(sum(found.values()), {state: found.get(state, 0) for state in states.STATES})


def checkpoint(conn: Connection, run_id: RunId) -> Checkpoint:
    """Where a run stands. Unbounded: to be scanned.

    Raises:
        NotFound: there is none with this id.
    """
    shown = summary(conn, run_id)
    seq = run_transitions.present(conn, run_id).seq
    remaining = conn.all(
        "SELECT key FROM tasks WHERE run = ? AND round = ? AND state = 'pending' ORDER BY seq LIMIT ?",
        *(seq, shown.round, MAX_REMAINING),
    )
    (unplanned,) = conn.one("SELECT to_come FROM run_rounds WHERE run = ? AND number = ?", seq, shown.round) or (0,)
    last = conn.one("SELECT at FROM run_log WHERE run = ? ORDER BY seq DESC LIMIT 1", seq)
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
        remaining=[key for (key,) in remaining],
        unlisted=progress.pending - unplanned - len(remaining),
        unplanned=unplanned,
        spend=shown.spend,
        quiesced=progress.running == 0,
        committed_at=last[0] if last else shown.created_at,
    )


def delete(conn: Connection, run_id: RunId, if_match: IfMatch) -> None:
    """Remove a run with everything that belongs to it. Its calls stay, for the sake of metering.

    Raises:
        NotFound: there is none with this id.
        PreconditionFailed: it was changed in the meantime.
        RunStateConflict: it is running.
    """
    row = conn.one("SELECT version FROM runs WHERE id = ?", run_id)
    if row is None:
        raise NotFound
    if_match.require(row[0])
    conn.run("DELETE FROM runs WHERE seq = ?", run_transitions.require(conn, run_id, "delete").seq)


def delete_many(conn: Connection, ids: Sequence[str] | None, state: State | None) -> Deleted:
    """Remove runs by their ids, or the oldest 1,000 in one state; say which could not be removed.

    Raises:
        BadInput: not exactly one of both is given.
    """
    if (ids is None) == (state is None):
        raise BadInput.at("ids", "must be given, or state, but not both")
    if ids is None:
        rows = conn.all("SELECT id FROM runs WHERE state = ? ORDER BY seq LIMIT ?", state, _BULK)
        ids = [run_id for (run_id,) in rows]
    return _delete_these(conn, ids)


def _delete_these(conn: Connection, ids: Sequence[str]) -> Deleted:
    deleted: list[str] = []
    refused: list[Refused] = []
    for run_id in dict.fromkeys(ids):
        row = conn.one("SELECT seq, state FROM runs WHERE id = ?", run_id)
        if row is None:
            refused.append(Refused(run_id, NotFound.code))
        elif not states.allows("delete", row[1]):
            refused.append(Refused(run_id, states.RunStateConflict.code))
        else:
            conn.run("DELETE FROM runs WHERE seq = ?", row[0])
            deleted.append(run_id)
    return Deleted(deleted, refused)


def summary(conn: Connection, run_id: RunId) -> RunSummary:
    """One run, without its configuration.

    Raises:
        NotFound: there is none with this id.
    """
    row = conn.one(f"SELECT runs.seq, {_COLUMNS} {_FROM} WHERE id = ?", run_id)
    if row is None:
        raise NotFound
    return _summary(conn, *row)


def _summary(
    conn: Connection,
    seq: int,
    run_id: RunId,
    name: str,
    preset_id: PresetId | None,
    state: State,
    pause_reason: PauseReason | None,
    phase: Kind | None,
    round_number: int,
    verdict: str | None,
    created_at: str,
    started_at: str | None,
    finished_at: str | None,
    pinned: int,
    tags: str,
    cost_micros: int,
    unknown_calls: int,
    to_come: int,
    pending: int,
    running: int,
    succeeded: int,
    failed: int,
    skipped: int,
    cancelled: int,
) -> RunSummary:
    done = succeeded + failed + skipped + cancelled
    total = to_come + pending + running + done
    left = Left(running, pending, to_come) if state == "running" else None
    return RunSummary(
        id=run_id,
        name=name,
        preset_id=preset_id,
        state=state,
        pause_reason=pause_reason,
        phase=phase,
        round=round_number,
        progress=Progress(
            total=total,
            pending=pending + to_come,
            running=running,
            succeeded=succeeded,
            failed=failed,
            skipped=skipped,
            cancelled=cancelled,
            percent=100 * done // total if total else 100,
            eta_seconds=None if left is None else eta_seconds(conn, seq, round_number, phase, left),
        ),
        spend=Spend(text_of(cost_micros), unknown_calls),
        verdict=verdict,
        created_at=created_at,
        started_at=started_at,
        finished_at=finished_at,
        pinned=bool(pinned),
        tags=_tags.decode(tags),
    )
