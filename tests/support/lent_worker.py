"""Workers for services in this process. A service ends with its test; its workers' processes serve the next test."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from carrel.kit.processes.worker import Worker, WorkerDied

T = TypeVar("T")

_idle: list[Worker] = []
"""Those that nobody has, with their processes. They end with this process, which is what keeps their sockets open."""


class LentWorker(Worker):
    """Runs its calls in a real worker that it takes from the idle ones, and gives back when it is closed.

    Starting a worker's process takes half a second of CPU, most of it for imports.
    """

    def __init__(self) -> None:
        super().__init__()
        # The lent one never has a call waiting, because it may have served in another event loop before.
        self._one_call = asyncio.Lock()
        self._lent: Worker | None = None
        self._given_back = False

    @property
    def pid(self) -> int | None:
        """As of the lent worker."""
        return self._lent.pid if self._lent else None

    async def run(self, fn: Callable[..., T], *args: object, timeout_seconds: float | None = None) -> T:
        """As a worker does."""
        async with self._one_call:
            if self._given_back:
                raise WorkerDied
            self._lent = self._lent or (_idle.pop() if _idle else Worker())
            return await self._lent.run(fn, *args, timeout_seconds=timeout_seconds)

    async def close(self) -> None:
        """Give the lent worker back, or end it with the call that runs."""
        self._given_back = True
        lent, self._lent = self._lent, None
        if lent is None:
            return
        if self._one_call.locked():
            await lent.close()
        else:
            _idle.append(lent)
