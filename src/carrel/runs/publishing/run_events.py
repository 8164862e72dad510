"""Tells the host which runs have ended: ids and states, and nothing of what is in them."""

import asyncio
from contextlib import suppress
from typing import Final, NamedTuple

from carrel.errors import CarrelError
from carrel.kit.clock import rfc3339
from carrel.kit.concurrency.cancellation import cancel
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.runs.model import states
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import State
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, WorkspacePool
from carrel.webhooks.outbox import KEPT_SECONDS, Event
from carrel.webhooks.sender import Webhooks

_BACK_SECONDS: Final = KEPT_SECONDS / 3
"""How long ago a run may have ended: the process can be killed between the end and its event. The outbox remembers
events for longer, so none is told twice."""
_MOST: Final = 50


class _EndedRun(NamedTuple):
    id: RunId
    state: State
    finished_at: str


_ended = Select(_EndedRun)


def recent(conn: Connection) -> list[Event]:
    """The ends of runs of the last day, the newest ones. A run that ends again is told again."""
    found = _ended.all(
        conn,
        f"FROM runs WHERE state IN ({states.in_sql(states.ENDED)}) AND trial = 0 AND finished_at >= ?"
        " ORDER BY finished_at DESC LIMIT ?",
        *(rfc3339(conn.clock.now() - _BACK_SECONDS), _MOST),
    )
    return [Event("run.ended", f"{run.id} {run.finished_at}", {"run": run.id, "state": run.state}) for run in found]


class RunEvents:
    """A listener of the pool. Owned by the event loop."""

    def __init__(self, pool: WorkspacePool, webhooks: Webhooks) -> None:
        self._pool = pool
        self._webhooks = webhooks
        self._looking: dict[UserUuid, set[asyncio.Task[None]]] = {}

    def look(self, uuid: UserUuid) -> None:
        """Tell of the user's runs that have ended and were not told of."""
        if self._webhooks.url is None:
            return
        task = asyncio.create_task(self._tell(uuid))
        self._looking.setdefault(uuid, set()).add(task)
        task.add_done_callback(lambda _: self._ended(uuid, task))

    async def _tell(self, uuid: UserUuid) -> None:
        # If the workspace closes meanwhile, or the disk is full, the next opening looks again.
        with suppress(CarrelError):
            async with self._pool.leased(uuid) as workspace:
                found = await workspace.scan(recent)
            await self._webhooks.tell(uuid, *reversed(found))

    def _ended(self, uuid: UserUuid, task: asyncio.Task[None]) -> None:
        looking = self._looking.get(uuid, set())
        looking.discard(task)
        if not looking:
            self._looking.pop(uuid, None)

    async def opened(self, uuid: UserUuid) -> None:
        """Tell of runs that ended before a process was killed."""
        self.look(uuid)

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """Stop: the next opening looks again."""
        await cancel(self._looking.get(uuid, ()))
