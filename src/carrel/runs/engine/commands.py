"""State changes that somebody asks for: the user, or the service when a key, a membership or the process goes away."""

from collections.abc import Collection
from typing import NamedTuple

from carrel.config import Settings
from carrel.errors import CarrelError, NotFound
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.metering import calls, unknown_costs
from carrel.providers.registry import Registry
from carrel.runs.costs import keys
from carrel.runs.creation import snapshot
from carrel.runs.model import log, run_hosts, run_transitions, states
from carrel.runs.model import setup as setups
from carrel.runs.model.schemas import ExecuteIn, Run, RunIn, Task
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.model.states import PauseReason, State, TaskStateConflict
from carrel.runs.progress import store, task_list
from carrel.runs.tasks import claims, outcomes, phases, transitions
from carrel.vault.ids import PresetId

_ACTIVE = states.in_sql(states.ACTIVE)


class Runnable(NamedTuple):
    """A run that is under way by its row."""

    seq: int
    id: RunId


_runnable = Select(Runnable)


def create(conn: Connection, data: RunIn, registry: Registry, settings: Settings) -> Run:
    """Create a pending run: see `snapshot.create`."""
    return store.get(conn, snapshot.create(conn, data, registry, settings))


def execute(
    conn: Connection,
    preset_id: PresetId,
    data: ExecuteIn,
    registry: Registry,
    settings: Settings,
    system: Collection[str] = (),
) -> Run:
    """Create a run of a preset and start it.

    Raises:
        NotFound: there is no such preset.
        ProviderKeyMissing, CreditsUnavailable: as `keys.require` says; nothing was made.
    """
    return start(conn, snapshot.create(conn, snapshot.of_preset(conn, preset_id, data), registry, settings), system)


def start(conn: Connection, run_id: RunId, system: Collection[str] = ()) -> Run:
    """Start a pending run. `system` are the providers for which the operator has a key.

    Raises:
        RunStateConflict: it is not pending.
        ProviderKeyMissing, CreditsUnavailable: as `keys.require` says.
    """
    found = run_transitions.require(conn, run_id, "start")
    run_transitions.run(conn, found.seq, "run-started")
    start_round(conn, found.seq, system)
    return store.get(conn, run_id)


def pause(conn: Connection, run_id: RunId) -> Run:
    """Begin no further task. Calls in flight continue to their end, and their results are kept.

    Raises:
        RunStateConflict: it is not running.
    """
    run_transitions.pause(conn, run_transitions.require(conn, run_id, "pause").seq, "user")
    return store.get(conn, run_id)


def resume(conn: Connection, run_id: RunId, system: Collection[str] = ()) -> Run:
    """Continue with the first task that is not done.

    Raises:
        RunStateConflict: it is not paused.
        ProviderKeyMissing, CreditsUnavailable: as `keys.require` says.
    """
    found = run_transitions.require(conn, run_id, "resume")
    keys.require(conn, _setup(conn, found.seq), system)
    run_transitions.run(conn, found.seq, "run-resumed")
    return store.get(conn, run_id)


def go_on(conn: Connection, run_id: RunId) -> None:
    """Continue a run that has paused because a provider answered nothing, unless somebody did something else with it.

    Raises:
        NotFound: it was deleted.
    """
    found = run_transitions.present(conn, run_id)
    if (found.state, found.pause_reason) == ("paused", "provider"):
        run_transitions.run(conn, found.seq, "run-resumed")


def cancel(conn: Connection, run_id: RunId, called: Collection[str] | None = None) -> Run:
    """End the run for good. Its driver reads that from the rows.

    `called` are the calls that were made, if the caller knows them; all other calls are never made.

    Raises:
        RunStateConflict: it has ended already.
    """
    found = run_transitions.require(conn, run_id, "cancel")
    claims.abandon(conn, found.seq, run_id, None, "cancelled", called)
    transitions.cancel_all(conn, found.seq)
    conn.run("UPDATE run_rounds SET to_come = 0 WHERE run = ? AND number = ?", found.seq, found.round)
    run_transitions.end(conn, found.seq, "cancelled", "run-cancelled")
    return store.get(conn, run_id)


def skip(conn: Connection, run_id: RunId, task_key: str, called: Collection[str] | None = None) -> Task:
    """Skip a task. Later phases continue without it. `called` is as for `cancel`.

    Raises:
        NotFound: there is no such run or task.
        TaskStateConflict: it is done, skipped or cancelled.
    """
    found = run_transitions.present(conn, run_id)
    row = conn.one("SELECT seq, state FROM tasks WHERE run = ? AND key = ?", found.seq, task_key)
    if row is None:
        raise NotFound
    task, state = row
    if state not in states.SKIPPABLE:
        raise TaskStateConflict
    claims.abandon(conn, found.seq, run_id, task_key, "skipped", called)
    transitions.skip(conn, found.seq, task, "skipped")
    log.write(conn, found.seq, "task-skipped", level="warning", task_key=task_key, state="skipped", code="skipped")
    return task_list.get(conn, run_id, task_key)


def runnable(conn: Connection) -> list[Runnable]:
    """The runs that are under way, by their rows."""
    return _runnable.all(conn, "FROM runs WHERE state = 'running' ORDER BY seq")


def pause_all(conn: Connection, reason: PauseReason) -> None:
    """Pause every run that is under way. Calls in flight may still return results."""
    for seq, _ in runnable(conn):
        run_transitions.pause(conn, seq, reason)


def decide_unknown_costs(conn: Connection, most_micros: int, held: Collection[str], *, are_all: bool) -> None:
    """Decide who pays for calls whose cost nobody knows; see `unknown_costs.decide`.

    When the host has borne `most_micros` in a day, this pauses the runs that credits pay for, also those that would
    continue by themselves. Their user decides whether to go on, because further calls of that kind are charged.
    """
    if unknown_costs.decide(conn, most_micros, held, are_all=are_all):
        for found in _unfinished(conn):
            goes_on = found.reason is None or states.continues_at_login(found.reason, resume_after_restart=True)
            if goes_on and _setup(conn, found.seq).billing == "credits":
                run_transitions.pause(conn, found.seq, "unknown-costs")


def put_back(conn: Connection, called: Collection[str] | None = None) -> None:
    """Put back every claimed task, and abandon the calls of other runs; no driver works on them any more.

    `called` are the calls that were made, if that is known.
    """
    _end_orphans(conn, ())
    for seq, run_id in conn.all(f"SELECT seq, id FROM runs WHERE state IN ({_ACTIVE}) ORDER BY seq"):
        claims.release(conn, seq, run_id, called)


def halt_all(conn: Connection, reason: PauseReason, called: Collection[str] | None = None) -> None:
    """Put back every claimed task and pause every run that is under way; no driver works on them any more."""
    put_back(conn, called)
    pause_all(conn, reason)


def give_up(conn: Connection, seq: int, run_id: RunId) -> None:
    """Pause a run that cannot continue because of a fault of the service."""
    claims.release(conn, seq, run_id)
    if conn.one("SELECT 1 FROM runs WHERE seq = ? AND state = 'running'", seq) is not None:
        run_transitions.pause(conn, seq, "service-stopped")


def any_unfinished(conn: Connection) -> bool:
    """Whether any run is under way or paused, or any call of a run."""
    return (
        conn.one(f"SELECT 1 FROM runs WHERE state IN ({_ACTIVE}) LIMIT 1") is not None
        or conn.one("SELECT 1 FROM calls WHERE outcome = 'running' AND run_id IS NOT NULL LIMIT 1") is not None
    )


def needs_recovery(conn: Connection, driven: Collection[RunId], *, resume_after_restart: bool) -> bool:
    """Whether `recover` would change anything."""
    return any(run_id not in driven for run_id in _orphans(conn)) or any(
        (found.id not in driven and (found.state == "running" or found.claimed))
        or (
            found.reason is not None
            and states.continues_at_login(found.reason, resume_after_restart=resume_after_restart)
        )
        for found in _unfinished(conn)
    )


def recover(
    conn: Connection,
    reason: PauseReason,
    driven: Collection[RunId],
    *,
    resume_after_restart: bool,
    may_execute: bool = True,
) -> None:
    """Pause, for `reason`, the runs that stopped when the process died; then resume those that may go on unasked.

    Drivers work on the runs in `driven`, or will in a moment. If the user may not execute any more, the runs that would
    continue are paused for that reason.
    """
    _end_orphans(conn, driven)
    for found in _unfinished(conn):
        if found.id not in driven:
            claims.release(conn, found.seq, found.id)
            if found.state == "running":
                run_transitions.pause(conn, found.seq, reason)
    for found in _unfinished(conn):
        if found.reason is not None and states.continues_at_login(
            found.reason, resume_after_restart=resume_after_restart
        ):
            if may_execute:
                run_transitions.run(conn, found.seq, "run-resumed")
            else:
                run_transitions.pause(conn, found.seq, "membership")


def _orphans(conn: Connection) -> list[RunId]:
    """The runs that have ended, or were deleted while they were paused, with calls in flight that are in no batch."""
    return conn.column(
        "SELECT DISTINCT run_id FROM calls WHERE outcome = 'running' AND run_id IS NOT NULL AND batch IS NULL"
        f" AND run_id NOT IN (SELECT id FROM runs WHERE state IN ({_ACTIVE}))"
    )


def _end_orphans(conn: Connection, driven: Collection[RunId]) -> None:
    """Abandon the calls of ended and deleted runs that are not in `driven`.

    A driver that waits for such calls records their ends.
    """
    for run_id in _orphans(conn):
        if run_id not in driven:
            for lost in calls.abandon(conn, run_id):
                seq = conn.value("SELECT seq FROM runs WHERE id = ?", run_id)
                if seq is not None:
                    outcomes.add_cost(conn, seq, lost.cost_micros)


class _UnfinishedRun(NamedTuple):
    seq: int
    id: RunId
    state: State
    reason: PauseReason | None
    claimed: bool


_unfinished_runs = Select(
    _UnfinishedRun,
    reason="pause_reason",
    claimed="EXISTS (SELECT 1 FROM tasks WHERE run = runs.seq AND state = 'running')",
)


def _unfinished(conn: Connection) -> list[_UnfinishedRun]:
    return _unfinished_runs.all(conn, f"FROM runs WHERE runs.state IN ({_ACTIVE}) ORDER BY seq")


def start_round(conn: Connection, seq: int, system: Collection[str] = ()) -> None:
    """Enter the first phase of the present round.

    Raises:
        ProviderKeyMissing, CreditsUnavailable: as `keys.require` says.
    """
    setup = _setup(conn, seq)
    keys.require(conn, setup, system)
    run_hosts.expect(conn, setup)
    conn.run("UPDATE run_rounds SET started_at = ? WHERE run = ? AND number = ?", conn.now(), seq, setup.round.number)
    log.write(conn, seq, "round-started")
    first = phases.first(setup)
    # Without scoring, no scores decide which candidates are compared, so this reads none.
    phases.enter(conn, setup, first, phases.choose(conn, setup, first))


def _setup(conn: Connection, seq: int) -> Setup:
    setup = setups.load(conn, seq)
    if setup is None:
        raise CarrelError
    return setup
