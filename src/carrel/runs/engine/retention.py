"""Deletes finished runs after the number of days in their user's settings, unless the runs are pinned.

Days also pass while nobody is signed in. Runs that are due are deleted at the next sign-in, and once an hour while the
workspace is open.
"""

import asyncio
from contextlib import suppress
from typing import Final

from carrel.errors import CarrelError
from carrel.kit import logs
from carrel.kit.clock import rfc3339
from carrel.kit.concurrency.cancellation import cancel
from carrel.kit.logs import tail
from carrel.kit.sqlite.database import Connection
from carrel.runs.engine.engine import Engine
from carrel.runs.model.states import ENDED, in_sql
from carrel.runs.publishing.deliveries import CallLater
from carrel.settings import store as settings_store
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, WorkspacePool
from carrel.vault.workspace import Workspace

AGAIN_SECONDS: Final = 3_600.0
_DAY_SECONDS: Final = 86_400
_DUE: Final = (
    f"FROM runs WHERE state IN ({in_sql(ENDED)}) AND NOT pinned AND finished_at < ?"
    " AND seq NOT IN (SELECT run FROM run_deliveries WHERE state = 'wanted')"
)
"""A run whose answers are still to be sent to GitHub stays: perhaps nobody has been signed in since it was made."""


def due(conn: Connection) -> bool:
    """Whether a run is due."""
    before = _before(conn)
    return before is not None and conn.one(f"SELECT 1 {_DUE} LIMIT 1", before) is not None


def clear(conn: Connection) -> None:
    """Delete the oldest run that is due, with everything that belongs to it except its calls.

    It deletes only one: a run may have ten thousand tasks, and the user's other writes wait meanwhile.
    """
    before = _before(conn)
    if before is not None:
        conn.run(f"DELETE FROM runs WHERE seq IN (SELECT seq {_DUE} ORDER BY seq LIMIT 1)", before)


def _before(conn: Connection) -> str | None:
    settings, _ = settings_store.get(conn)
    if settings.retention_days is None:
        return None
    return rfc3339(conn.clock.now() - settings.retention_days * _DAY_SECONDS)


def _is_limited(workspace: Workspace) -> bool:
    """Whether the user's settings limit runs at all.

    This comes first, because most users keep their runs, and a sign-in must cost them nothing.
    """
    with suppress(CarrelError):
        return workspace.read(_before) is not None
    return False


class Retention:
    """A listener of the pool. Owned by the event loop."""

    def __init__(self, pool: WorkspacePool, engine: Engine, later: CallLater) -> None:
        self._pool = pool
        self._engine = engine
        self._later = later
        self._timers: dict[UserUuid, asyncio.TimerHandle] = {}
        self._tasks: dict[UserUuid, asyncio.Task[None]] = {}

    async def opened(self, uuid: UserUuid) -> None:
        """Delete the runs that became due meanwhile. The sign-in does not wait for it."""
        self._look(uuid)

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """Stop. The next sign-in continues."""
        if uuid in self._timers:
            self._timers.pop(uuid).cancel()
        if uuid in self._tasks:
            await cancel([self._tasks[uuid]])

    async def stop(self) -> None:
        """Stop everything, because the process is about to end."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        await cancel(self._tasks.values())

    def _look(self, uuid: UserUuid) -> None:
        if uuid in self._timers:
            self._timers.pop(uuid).cancel()
        if uuid in self._tasks:
            return
        workspace = self._pool.try_lease(uuid)
        if workspace is None:
            # The pool closed the workspace because it was idle, and this does not open it.
            self._look_later(uuid)
        elif not _is_limited(workspace):
            self._pool.release(workspace)
            self._look_later(uuid)
        else:
            task = self._tasks[uuid] = asyncio.create_task(self._clear(workspace))
            # A callback, because a task that is cancelled before its first step runs none of its own clean-up.
            task.add_done_callback(lambda done: self._ended(workspace, done))

    async def _clear(self, workspace: Workspace) -> None:
        # The disk is full, or the key has gone. The next look finds the same rows.
        with suppress(CarrelError):
            while await workspace.scan(due):
                await self._engine.write(workspace, clear)

    def _ended(self, workspace: Workspace, task: asyncio.Task[None]) -> None:
        del self._tasks[workspace.uuid]
        self._pool.release(workspace)
        if task.cancelled():
            return
        if (error := task.exception()) is not None:
            logs.error("retention-broke-down", user=tail(workspace.uuid), kind=type(error).__name__)
        self._look_later(workspace.uuid)

    def _look_later(self, uuid: UserUuid) -> None:
        if uuid in self._pool.keyring:
            self._timers[uuid] = self._later(AGAIN_SECONDS, lambda: self._look(uuid))
