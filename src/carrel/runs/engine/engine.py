"""Keeps every run under way in this process going.

The rows name these runs, so start, resume and recovery are the same.

The engine starts a driver for each of them and leases the workspace for it. It listens to the pool of workspaces
(`carrel.vault.pool.Listener`).
"""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from carrel.accounts.accounts import MembershipRequired
from carrel.errors import CarrelError, Unavailable
from carrel.kit import logs, traces
from carrel.kit.concurrency.cancellation import cancel, run_to_completion, shielded_task
from carrel.kit.logs import tail
from carrel.kit.sqlite.database import Connection
from carrel.runs.engine import commands, payer
from carrel.runs.engine.batching import Batching
from carrel.runs.engine.dependencies import EngineDependencies
from carrel.runs.engine.driver import RunDriver
from carrel.runs.model.schemas import Run, Task
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import PauseReason
from carrel.runs.progress.hub import Hub
from carrel.settings import store as settings_store
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, WorkspacePool
from carrel.vault.workspace import Workspace, WorkspaceClosed

T = TypeVar("T")
P = ParamSpec("P")

REKEY_SECONDS = 10.0
"""How long a rekey waits for calls in flight to end (contract, section 3)."""
STOP_SECONDS = 3.0
"""How long the end of the process waits for them."""
_BACK_SECONDS = 5
"""After this time the next process may have started in this one's place."""


TRY_AGAIN_SECONDS = 30.0
"""After so long a run that has paused because a provider answers nothing tries it again."""


class _ActiveRun(NamedTuple):
    """A driver, the task in which it runs, and the workspace that is leased for it."""

    driver: RunDriver
    task: asyncio.Task[None]
    workspace: Workspace


class Engine:
    """Starts and stops the drivers of runs. Owned by the event loop."""

    def __init__(
        self,
        pool: WorkspacePool,
        dependencies: EngineDependencies,
        hub: Hub,
        may_execute: Callable[[UserUuid], bool] = lambda _: True,
        holds_credits: Callable[[UserUuid], bool] = lambda _: True,
        on_halted: Callable[[UserUuid], None] = lambda _: None,
    ) -> None:
        self.hub = hub
        self._may_execute = may_execute
        """Whether the user's membership allows runs now. Threads ask it, too."""
        self._holds_credits = holds_credits
        """Whether the account held credits back when it was last read. A sign-in reads it."""
        self._on_halted = on_halted
        """The engine calls it when a run has ended or is paused, and when its driver has ended. It may do so twice."""
        self._pool = pool
        self._dependencies = dependencies
        self._active: dict[UserUuid, dict[RunId, _ActiveRun]] = {}
        self._rekeying: dict[UserUuid, frozenset[RunId]] = {}
        """Users whose database is being re-encrypted, and their runs that continue when it is open again."""
        self._not_paused: set[UserUuid] = set()
        """Users whose key left before the engine could write that their runs are paused."""
        self.batching = Batching(pool, dependencies, self._on_results)
        self._stopping = False
        self._silent: dict[UserUuid, set[asyncio.Task[None]]] = {}
        """Runs that wait for a provider that answers nothing."""
        self._writing: set[asyncio.Task[Any]] = set()
        """Changes that users asked for and that are not done yet."""

    def active_of(self, uuid: UserUuid) -> int:
        """How many runs of the user are under way."""
        return len(self._active.get(uuid, {}))

    @property
    def active_runs(self) -> int:
        """How many runs have a driver."""
        return sum(len(active) for active in self._active.values())

    # What users ask for ---------------------------------------------------------------------------------------------

    async def write(
        self, workspace: Workspace, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Commit a change of runs, then follow the rows: drive the runs that are running, and let the others halt.

        This continues to its end if the caller is cancelled, so a run that was started has a driver.
        """
        writing = shielded_task(self._write(workspace, lambda conn: fn(conn, *args, **kwargs)))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        return await run_to_completion(writing)

    async def begin(
        self, workspace: Workspace, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """`write`, for a change that lets a run execute.

        A guard has checked the membership, but it may have ended since.

        Raises:
            MembershipRequired: it has. Nothing was written.
            Unavailable: the service is about to end, and nobody would work on it. Nothing was written.
        """

        def checked(conn: Connection) -> T:
            if self._stopping:
                raise Unavailable(retry_after_seconds=_BACK_SECONDS)
            if not self._may_execute(workspace.uuid):
                raise MembershipRequired
            return fn(conn, *args, **kwargs)

        return await self.write(workspace, checked)

    async def _write(self, workspace: Workspace, fn: Callable[[Connection], T]) -> T:
        value = await workspace.write(fn)
        # The workspace was closed meanwhile. Its next opening looks at the same rows.
        with suppress(WorkspaceClosed):
            self._follow_rows(workspace)
            if self._stopping and workspace.read(commands.runnable):
                # The run was started or resumed a moment before, and no driver will start for it.
                await workspace.write(commands.pause_all, "service-stopped")
        return value

    async def cancel(self, workspace: Workspace, run_id: RunId) -> Run:
        """End a run for good, including calls in flight.

        Raises:
            NotFound, RunStateConflict: as `commands.cancel` says.
        """
        return await run_to_completion(self._end_calls(workspace, run_id, None, commands.cancel, run_id))

    async def skip(self, workspace: Workspace, run_id: RunId, task_key: str) -> Task:
        """Skip a task, even if its call is in flight.

        Raises:
            NotFound, TaskStateConflict: as `commands.skip` says.
        """
        return await run_to_completion(self._end_calls(workspace, run_id, task_key, commands.skip, run_id, task_key))

    async def _end_calls(
        self, workspace: Workspace, run_id: RunId, task_key: str | None, fn: Callable[..., T], *args: object
    ) -> T:
        """Call `write` with the calls that were made as the last argument; then cancel these calls."""
        active = self._active.get(workspace.uuid, {}).get(run_id)
        if active is None:
            return await self.write(workspace, fn, *args)
        with active.driver.calls_suspended() as called:
            value = await self.write(workspace, fn, *args, called)
            active.driver.cancel_calls(task_key)
        return value

    async def deactivated(self, uuid: UserUuid) -> None:
        """Pause the runs that are under way, because the user may no longer execute.

        Changes that began while the user still had permission are written first, so that this pauses them, too.
        """
        workspace = self._pool.try_lease(uuid)
        if workspace is None:
            # The next opening finds that no run may continue.
            return
        try:
            await workspace.write(commands.pause_all, "membership")
            self._follow_rows(workspace)
        finally:
            self._pool.release(workspace)

    def _follow_rows(self, workspace: Workspace) -> None:
        """Read which runs are under way, and start a driver for each that has none."""
        uuid = workspace.uuid
        active = self._active.get(uuid, {})
        for one in active.values():
            one.driver.wake()
        if not self._stopping and uuid not in self._rekeying:
            for run in workspace.read(commands.runnable):
                if run.id not in active or active[run.id].driver.has_ended:
                    self._start_driver(uuid, run.seq, run.id)
            self.batching.follow(workspace)
        self.hub.notify(uuid)

    # What happens to workspaces (Listener) --------------------------------------------------------------------------

    async def opened(self, uuid: UserUuid) -> None:
        """Continue, after a sign-in or a rekey, the runs that may continue by themselves.

        If the rows say that a run is running and it has no driver, the end of a process interrupted it.
        """
        try:
            async with self._pool.leased(uuid) as workspace:
                driven = self._rekeying.pop(uuid, frozenset()) | self._active.get(uuid, {}).keys()
                if self._stopping:
                    # The next process recovers what is left.
                    await workspace.write(commands.pause_all, "service-stopped")
                    return
                unfinished = workspace.read(commands.any_unfinished)
                if unfinished:
                    await self._recover(workspace, driven)
                self._not_paused.discard(uuid)
                if self._holds_credits(uuid):
                    await payer.reconcile(self._dependencies.funds, workspace)
                if unfinished:
                    self._follow_rows(workspace)
        except CarrelError as error:
            self._rekeying.pop(uuid, None)
            logs.warning("run-recovery-failed", user=tail(uuid), code=error.code)
            raise

    async def _recover(self, workspace: Workspace, driven: Collection[RunId]) -> None:
        settings, _ = workspace.read(settings_store.get)
        resumes = settings.resume_after_restart
        if workspace.read(commands.needs_recovery, driven, resume_after_restart=resumes):
            reason: PauseReason = "key-absent" if workspace.uuid in self._not_paused else "service-restarted"
            await workspace.write(
                lambda conn: commands.recover(
                    conn,
                    reason,
                    driven,
                    resume_after_restart=resumes,
                    may_execute=self._may_execute(workspace.uuid),
                )
            )

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """Stop working in this workspace and put back the claimed tasks. A rekey first waits for calls in flight."""
        active = self._active_of(uuid)
        if why == "rekey":
            self._rekeying[uuid] = frozenset(one.driver.run_id for one in active)
            await _drain(active, REKEY_SECONDS)
        with ExitStack() as held:
            made = [held.enter_context(one.driver.calls_suspended()) for one in active]
            called = frozenset().union(*made)
            await cancel(one.task for one in active)
        await cancel(list(self._silent.get(uuid, ())))
        await self.batching.stop(uuid)
        if not active or why == "deleted":
            return
        try:
            if why == "rekey":
                await active[0].workspace.write(commands.put_back, called)
            else:
                await active[0].workspace.write(commands.halt_all, "key-absent", called)
            await payer.reconcile(self._dependencies.funds, active[0].workspace)
        except CarrelError:
            self._not_paused.add(uuid)
            if why == "rekey":
                # Their claimed tasks could not be put back, so none of these runs may continue before they are.
                self._rekeying[uuid] = frozenset()

    @asynccontextmanager
    async def calls_ended(self, users: Iterable[UserUuid], seconds: float) -> AsyncIterator[None]:
        """For the length of a block, no run of these users makes a call.

        The block begins when the calls under way have ended, or after so long. The runs and their users go on.
        """
        drivers = [one.driver for uuid in users for one in self._active_of(uuid)]
        with ExitStack() as held:
            for driver in drivers:
                held.enter_context(driver.calls_suspended())
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await asyncio.gather(*(driver.all_recorded() for driver in drivers))
            yield

    async def stop(self) -> None:
        """Pause every run, because the process is about to end. Calls in flight get three seconds."""
        self._stopping = True
        # A change that is being written now may start a run; the code that writes it pauses the run again.
        writing = [asyncio.wait(self._writing, timeout=STOP_SECONDS)] if self._writing else []
        await asyncio.gather(*(self._stop_runs(self._active_of(uuid)) for uuid in list(self._active)), *writing)
        await cancel([task for tasks in self._silent.values() for task in tasks])
        await self.batching.stop_all()

    async def _stop_runs(self, active: list[_ActiveRun]) -> None:
        if not active:
            return
        workspace = active[0].workspace
        # If this fails, the next opening finds the run as one without a driver.
        with suppress(CarrelError):
            await workspace.write(commands.pause_all, "service-stopped")
        await _drain(active, STOP_SECONDS)
        await cancel(one.task for one in active)
        with suppress(CarrelError):
            await workspace.write(commands.put_back)
            await payer.reconcile(self._dependencies.funds, workspace)

    # Drivers --------------------------------------------------------------------------------------------------------

    def _active_of(self, uuid: UserUuid) -> list[_ActiveRun]:
        return list(self._active.get(uuid, {}).values())

    def _start_driver(self, uuid: UserUuid, seq: int, run_id: RunId) -> None:
        workspace = self._pool.try_lease(uuid)
        if workspace is None:
            # The workspace is being closed or re-encrypted. Its next opening looks at the same rows.
            return
        driver = RunDriver(
            workspace,
            seq,
            run_id,
            self._dependencies,
            lambda: self._on_commit(workspace, run_id),
            lambda: self._on_halted(uuid),
            lambda: self._try_again_later(workspace, run_id),
        )
        # A run is no part of the request that has started it.
        task = asyncio.create_task(_traced(driver), context=contextvars.Context())
        active = _ActiveRun(driver, task, workspace)
        self._active.setdefault(uuid, {})[run_id] = active
        # A callback, because a task that is cancelled before its first step runs none of its own clean-up.
        active.task.add_done_callback(lambda _: self._on_driver_ended(active))

    def _try_again_later(self, workspace: Workspace, run_id: RunId) -> None:
        """Let the run go on by itself after a while. Its workspace stays open meanwhile."""
        uuid = workspace.uuid
        leased = self._pool.try_lease(uuid)
        if leased is None:
            # The next opening lets it go on.
            return
        waiting = asyncio.create_task(self._try_again(leased, run_id))
        self._silent.setdefault(uuid, set()).add(waiting)

        def on_end(_: asyncio.Task[None]) -> None:
            self._pool.release(leased)
            self._silent[uuid].discard(waiting)
            if not self._silent[uuid]:
                del self._silent[uuid]

        waiting.add_done_callback(on_end)

    async def _try_again(self, workspace: Workspace, run_id: RunId) -> None:
        await self._dependencies.sleep(TRY_AGAIN_SECONDS)
        # It is deleted, the membership or the key is gone, or the disk is full: then whoever mends that lets it go on.
        with suppress(CarrelError):
            await self.begin(workspace, commands.go_on, run_id)

    def _on_commit(self, workspace: Workspace, run_id: RunId) -> None:
        self.hub.notify(workspace.uuid, run_id)
        self.batching.follow(workspace)

    def _on_results(self, uuid: UserUuid) -> None:
        """Let the drivers look again, because results of batches are recorded."""
        for one in self._active_of(uuid):
            one.driver.wake()
        self.hub.notify(uuid)

    def _on_driver_ended(self, ended: _ActiveRun) -> None:
        uuid, run_id = ended.workspace.uuid, ended.driver.run_id
        active = self._active.get(uuid, {})
        if active.get(run_id) is ended:
            del active[run_id]
            if not active:
                del self._active[uuid]
        self._pool.release(ended.workspace)
        self.hub.notify(uuid, run_id)
        self._on_halted(uuid)
        if not ended.task.cancelled() and (error := ended.task.exception()) is not None:
            logs.error("run-broke-down", user=tail(uuid), run=run_id, kind=type(error).__name__)


async def _drain(active: Iterable[_ActiveRun], seconds: float) -> None:
    """Let the runs begin nothing more, and wait for their calls in flight."""
    tasks = []
    for one in active:
        one.driver.drain()
        tasks.append(one.task)
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)


async def _traced(driver: RunDriver) -> None:
    with traces.span("run"):
        await driver.run()
