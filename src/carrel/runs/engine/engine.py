"""Every run under way in this process. Which they are is read from rows, so start, resume and recovery are one thing.

The engine hears of openings and closings of workspaces (`carrel.vault.pool.Listener`) and holds a lease for every run
that it works on.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from carrel.accounts.accounts import MembershipRequired
from carrel.errors import CarrelError, DiskFull, Unavailable
from carrel.kit import logs
from carrel.kit.concurrency.cancellation import cancel, run_to_completion, shielded_task
from carrel.kit.logs import tail
from carrel.kit.sqlite.database import Connection
from carrel.runs.engine import commands
from carrel.runs.engine.driver import EngineDependencies, RunDriver
from carrel.runs.model.schemas import Run, Task
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import PauseReason
from carrel.runs.progress.hub import Hub
from carrel.runs.tasks import claims
from carrel.settings import store as settings_store
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, WorkspacePool
from carrel.vault.workspace import Workspace, WorkspaceClosed

T = TypeVar("T")
P = ParamSpec("P")

REKEY_SECONDS = 10.0
"""How long calls in flight may take to end before a rekey (contract, section 3)."""
STOP_SECONDS = 3.0
"""The same before the process ends."""
_RETRY_SECONDS = 15.0
"""How long a run that cannot commit waits before it tries again."""
_BACK_SECONDS = 5
"""When the next process may have taken this one's place."""


class _Work(NamedTuple):
    """A drive, the task that it runs in, and the workspace that is leased for it."""

    drive: RunDriver
    task: asyncio.Task[None]
    workspace: Workspace


class Engine:
    """Owned by the event loop."""

    def __init__(
        self,
        pool: WorkspacePool,
        means: EngineDependencies,
        hub: Hub,
        may_execute: Callable[[UserUuid], bool] = lambda _: True,
        holds_credits: Callable[[UserUuid], bool] = lambda _: True,
    ) -> None:
        self.hub = hub
        self.worked: Callable[[UserUuid], None] = lambda _: None
        """Called when work on a run is over for now: it has ended, or it is paused."""
        self._may_execute = may_execute
        """Whether the user's membership allows it now; also asked in threads."""
        self._holds_credits = holds_credits
        """Whether the account held credits back when it was last read, which a sign-in does."""
        self._pool = pool
        self._means = means
        self._works: dict[UserUuid, dict[RunId, _Work]] = {}
        self._held: dict[UserUuid, frozenset[RunId]] = {}
        """Users whose database is being re-encrypted, and their runs that go on when it is open again."""
        self._unsealed: set[UserUuid] = set()
        """Users whose key left before it could be written down that their runs are paused."""
        self._stopping = False
        self._writing: set[asyncio.Task[Any]] = set()
        """Changes that users asked for and that are not done yet."""

    @property
    def active_runs(self) -> int:
        """How many runs are being worked on."""
        return sum(len(works) for works in self._works.values())

    # What users ask for ---------------------------------------------------------------------------------------------

    async def write(
        self, workspace: Workspace, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Commit a change of runs, then do what the rows ask for: work on what is running, let the rest halt.

        A caller that goes away meanwhile does not leave a run started that nobody works on.
        """
        writing = shielded_task(self._write(workspace, lambda conn: fn(conn, *args, **kwargs)))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        return await run_to_completion(writing)

    async def begin(
        self, workspace: Workspace, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """`write` for what lets a run execute. A guard has looked at the membership, but that may have ended since.

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
        # Closed meanwhile: whoever opens it again looks at the same rows.
        with suppress(WorkspaceClosed):
            self._look(workspace)
            if self._stopping and workspace.read(commands.runnable):
                # It was let go on a moment before: nobody will set out on it.
                await workspace.write(commands.pause_all, "service-stopped")
        return value

    async def cancel(self, workspace: Workspace, run_id: RunId) -> Run:
        """End a run for good, calls in flight included.

        Raises:
            NotFound, RunStateConflict: as `controls.cancel` says.
        """
        return await run_to_completion(self._end_calls(workspace, run_id, None, commands.cancel, run_id))

    async def skip(self, workspace: Workspace, run_id: RunId, task_key: str) -> Task:
        """Leave a task out, also if it is being called.

        Raises:
            NotFound, TaskStateConflict: as `controls.skip` says.
        """
        return await run_to_completion(self._end_calls(workspace, run_id, task_key, commands.skip, run_id, task_key))

    async def _end_calls(
        self, workspace: Workspace, run_id: RunId, task_key: str | None, fn: Callable[..., T], *args: object
    ) -> T:
        """`write`, with the calls that were made as a last argument, and cancel those: nobody wants their results."""
        work = self._works.get(workspace.uuid, {}).get(run_id)
        if work is None:
            return await self.write(workspace, fn, *args)
        with work.drive.standing_still() as called:
            value = await self.write(workspace, fn, *args, called)
            work.drive.drop(task_key)
        return value

    async def deactivated(self, uuid: UserUuid) -> None:
        """The user may no longer execute: pause what is under way.

        What is being begun and was allowed to is written before this is, so that this pauses it too.
        """
        workspace = self._pool.try_lease(uuid)
        if workspace is None:
            # Whoever opens it finds that nothing may go on.
            return
        try:
            await workspace.write(commands.pause_all, "membership")
            self._look(workspace)
        finally:
            self._pool.release(workspace)

    def _look(self, workspace: Workspace) -> None:
        """Read which runs are under way, and work on those."""
        uuid = workspace.uuid
        works = self._works.get(uuid, {})
        for work in works.values():
            work.drive.wake()
        if not self._stopping and uuid not in self._held:
            for run in workspace.read(commands.runnable):
                if run.id not in works or works[run.id].drive.over:
                    self._set_out(uuid, run.seq, run.id)
        self.hub.tell(uuid)

    # What happens to workspaces (Listener) --------------------------------------------------------------------------

    async def opened(self, uuid: UserUuid) -> None:
        """Go on after a sign-in or a rekey with what may go on by itself.

        A run that the rows call running and that nobody works on was interrupted by the end of the process.
        """
        try:
            async with self._pool.leased(uuid) as workspace:
                driven = self._held.pop(uuid, frozenset()) | self._works.get(uuid, {}).keys()
                if self._stopping:
                    # The next process recovers what is to be recovered.
                    await workspace.write(commands.pause_all, "service-stopped")
                    return
                unfinished = workspace.read(commands.any_unfinished)
                if unfinished:
                    await self._recover(workspace, driven)
                self._unsealed.discard(uuid)
                if self._holds_credits(uuid):
                    await self._reconcile(workspace)
                if unfinished:
                    self._look(workspace)
        except CarrelError as error:
            # The key is gone again, or the disk is full: signing in must not fail for that, and the rows stay.
            self._held.pop(uuid, None)
            logs.warning("run-recovery-failed", user=tail(uuid), code=error.code)

    async def _recover(self, workspace: Workspace, driven: Collection[RunId]) -> None:
        settings, _ = workspace.read(settings_store.get)
        resumes = settings.resume_after_restart
        if workspace.read(commands.needs_recovery, driven, resume_after_restart=resumes):
            reason: PauseReason = "key-absent" if workspace.uuid in self._unsealed else "service-restarted"
            await workspace.write(
                lambda conn: commands.recover(
                    conn,
                    reason,
                    driven,
                    resume_after_restart=resumes,
                    may_execute=self._may_execute(workspace.uuid),
                )
            )

    async def _reconcile(self, workspace: Workspace) -> None:
        """End what is held back of the user's credits for calls that nobody attends to."""
        if self._means.funds is not None:
            await self._means.funds.reservations.reconcile(workspace)

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """Stop working in this workspace. What was claimed is put back; a rekey waits for calls in flight before."""
        works = self._works_of(uuid)
        if why == "rekey":
            self._held[uuid] = frozenset(work.drive.run_id for work in works)
            await _hold(works, REKEY_SECONDS)
        await cancel(work.task for work in works)
        if not works or why == "deleted":
            return
        try:
            if why == "rekey":
                await works[0].workspace.write(commands.put_back)
            else:
                await works[0].workspace.write(commands.seal, "key-absent")
            await self._reconcile(works[0].workspace)
        except CarrelError:
            self._unsealed.add(uuid)
            if why == "rekey":
                # None of them goes on as it stands: what they had claimed has yet to be put back.
                self._held[uuid] = frozenset()

    async def stop(self) -> None:
        """Pause every run, because the process is about to end. Calls in flight get three seconds."""
        self._stopping = True
        # What was being written when this began may have let a run go on; it is paused where it was written.
        writing = [asyncio.wait(self._writing, timeout=STOP_SECONDS)] if self._writing else []
        await asyncio.gather(*(self._stop_works(self._works_of(uuid)) for uuid in list(self._works)), *writing)

    async def _stop_works(self, works: list[_Work]) -> None:
        if not works:
            return
        workspace = works[0].workspace
        # What cannot be written now is found at the next opening as a run that nobody works on.
        with suppress(CarrelError):
            await workspace.write(commands.pause_all, "service-stopped")
        await _hold(works, STOP_SECONDS)
        await cancel(work.task for work in works)
        with suppress(CarrelError):
            await workspace.write(commands.put_back)
            await self._reconcile(workspace)

    # Work -----------------------------------------------------------------------------------------------------------

    def _works_of(self, uuid: UserUuid) -> list[_Work]:
        return list(self._works.get(uuid, {}).values())

    def _set_out(self, uuid: UserUuid, seq: int, run_id: RunId) -> None:
        workspace = self._pool.try_lease(uuid)
        if workspace is None:
            # It is being closed or re-encrypted: whoever opens it again looks at the same rows.
            return
        drive = RunDriver(workspace, seq, run_id, self._means, lambda: self.hub.tell(uuid, run_id))
        task = asyncio.create_task(self._run_to_completion(drive, workspace, seq))
        work = _Work(drive, task, workspace)
        self._works.setdefault(uuid, {})[run_id] = work
        # A callback, because a task that is cancelled before its first step runs none of its own clean-up.
        task.add_done_callback(lambda _: self._ended(work))

    def _ended(self, work: _Work) -> None:
        uuid, run_id = work.workspace.uuid, work.drive.run_id
        works = self._works.get(uuid, {})
        if works.get(run_id) is work:
            del works[run_id]
            if not works:
                del self._works[uuid]
        self._pool.release(work.workspace)
        self.hub.tell(uuid, run_id)
        self.worked(uuid)
        if not work.task.cancelled() and (error := work.task.exception()) is not None:
            logs.error("run-broke-down", user=tail(uuid), run=run_id, kind=type(error).__name__)

    async def _run_to_completion(self, drive: RunDriver, workspace: Workspace, seq: int) -> None:
        """RunDriver to the end, again and again while commits fail; what fails for a reason of ours pauses the run."""
        settled = False
        try:
            while await self._is_interrupted(drive):
                await self._means.sleep(_RETRY_SECONDS)
                await self._put_right(workspace, claims.release, seq, drive.run_id)
            settled = True
        except asyncio.CancelledError:
            settled = True
            raise
        finally:
            if not settled:
                await self._put_right(workspace, commands.give_up, seq, drive.run_id)

    async def _put_right(
        self, workspace: Workspace, fn: Callable[[Connection, int, RunId], None], seq: int, run_id: RunId
    ) -> None:
        """Write that nobody works on the run, and end what is held back for its calls; else the next opening does."""
        with suppress(CarrelError):
            await workspace.write(fn, seq, run_id)
            await self._reconcile(workspace)

    async def _is_interrupted(self, drive: RunDriver) -> bool:
        """RunDriver; whether it ended because something could not be committed that can be later."""
        closed = interrupted = False
        try:
            await drive.run()
        except* WorkspaceClosed:
            closed = True
        except* (DiskFull, Unavailable):
            interrupted = True
        again = interrupted and not closed and not self._stopping
        if again:
            # It will look at the rows after its wait: nobody is to set out on the run beside it.
            drive.over = False
        return again


async def _hold(works: Iterable[_Work], seconds: float) -> None:
    """Let the works begin nothing more, and wait for their calls in flight."""
    tasks = []
    for work in works:
        work.drive.hold()
        tasks.append(work.task)
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)
