"""Makes exports. Rows name the wanted ones, and the process that opens the workspace makes them, also after a crash.

All data of an export stay in the encrypted database, except the megabyte that is being packed or sent.
"""

import asyncio
from contextlib import suppress
from typing import NamedTuple

from carrel.errors import CarrelError, DiskFull, NotFound, Unavailable
from carrel.kit import logs
from carrel.kit.concurrency.cancellation import cancel
from carrel.kit.logs import tail
from carrel.kit.processes.jobs import WorkerError
from carrel.kit.processes.pool import WorkerPool
from carrel.reports import export_store as store
from carrel.reports import rendering
from carrel.reports.archive import Archive, ExportTooLarge
from carrel.reports.export_parts import README, ExportPlace, advance
from carrel.reports.export_store import Build, Export
from carrel.reports.rendering import ReportRequest
from carrel.runs.model.setup import RunId
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, WorkspacePool
from carrel.vault.workspace import Workspace

_TIMEOUT_SECONDS = 300.0


class _Work(NamedTuple):
    build: Build
    task: asyncio.Task[None]


class Exports:
    """The exports of this process; a listener of the pool. Owned by the event loop."""

    def __init__(self, pool: WorkspacePool, workers: WorkerPool) -> None:
        self._pool = pool
        self._workers = workers
        self._works: dict[UserUuid, list[_Work]] = {}

    async def want(self, workspace: Workspace, run_id: RunId) -> Export:
        """Ensure that there will be an export of the run as it is now.

        Raises:
            NotFound: there is no such run.
        """
        export = await workspace.write(store.want, run_id)
        self._look(workspace)
        return export

    async def opened(self, uuid: UserUuid) -> None:
        """Continue builds that were interrupted."""
        async with self._pool.leased(uuid) as workspace:
            self._look(workspace)

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """Stop. The rows still name the wanted exports."""
        await cancel(work.task for work in self._works.get(uuid, []))

    async def stop(self) -> None:
        """Stop everything, because the process is about to end."""
        await cancel(work.task for works in self._works.values() for work in works)

    async def settled(self) -> None:
        """Wait until no export is being made."""
        tasks = [work.task for works in self._works.values() for work in works]
        if tasks:
            await asyncio.wait(tasks)

    def _look(self, workspace: Workspace) -> None:
        for build in workspace.read(store.wanted):
            if all(work.build != build for work in self._works.get(workspace.uuid, [])):
                self._set_out(workspace.uuid, build)

    def _set_out(self, uuid: UserUuid, build: Build) -> None:
        workspace = self._pool.try_lease(uuid)
        if workspace is None:
            # The workspace is being closed. Its next opening looks at the same rows.
            return
        task = asyncio.create_task(self._run_to_completion(workspace, build))
        work = _Work(build, task)
        self._works.setdefault(uuid, []).append(work)
        # A callback, because a task that is cancelled before its first step runs none of its own clean-up.
        task.add_done_callback(lambda _: self._ended(workspace, work))

    def _ended(self, workspace: Workspace, work: _Work) -> None:
        works = self._works[workspace.uuid]
        works.remove(work)
        if not works:
            del self._works[workspace.uuid]
        self._pool.release(workspace)
        if not work.task.cancelled() and (error := work.task.exception()) is not None:
            logs.error("export-broke-down", user=tail(workspace.uuid), kind=type(error).__name__)

    async def _run_to_completion(self, workspace: Workspace, build: Build) -> None:
        """Make the export. If it fails and another attempt would fail, too, record the failure."""
        code: str | None = CarrelError.code
        try:
            await self._make(workspace, build)
            code = None
        except (NotFound, Unavailable, asyncio.CancelledError) as ending:
            # Nobody wants it any more. Or the workspace is being closed, and the rows say that it is still wanted.
            code = None
            if isinstance(ending, asyncio.CancelledError):
                raise
        except DiskFull as error:
            code = error.code
        finally:
            if code is not None:
                with suppress(CarrelError):
                    await workspace.write(store.fail, build, code)

    async def _make(self, workspace: Workspace, build: Build) -> None:
        await workspace.write(store.clear, build)
        archive = Archive()
        kept = await self._keep(workspace, build, archive, 0)
        await asyncio.to_thread(archive.add, "README.txt", README.encode())
        for name, body in (await self._made(workspace, build)).items():
            await asyncio.to_thread(archive.add, name, body)
        at: ExportPlace | None = ExportPlace()
        while at is not None:
            at = await workspace.scan(advance, build.run, archive, at)
            kept = await self._keep(workspace, build, archive, kept)
        archive.close()
        await self._keep(workspace, build, archive, kept)
        await workspace.write(store.complete, build)

    async def _made(self, workspace: Workspace, build: Build) -> dict[str, bytes]:
        """The entries that come from the report."""
        async with self._workers.turn(workspace.uuid) as worker:
            sent, _ = await workspace.scan(rendering.gather, ReportRequest(build.run.id))
            try:
                return await worker.run(rendering.as_entries, sent, timeout_seconds=_TIMEOUT_SECONDS)
            except WorkerError:
                # Do not try it in this process: work that is too much for the worker would delay every user.
                raise ExportTooLarge from None

    async def _keep(self, workspace: Workspace, build: Build, archive: Archive, kept: int) -> int:
        """Store the packed pieces. Return how many pieces are stored then."""
        for body in archive.pieces():
            await workspace.write(store.put, build, kept, body)
            kept += 1
        return kept
