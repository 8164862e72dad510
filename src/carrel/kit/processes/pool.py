"""A few workers of one kind, which users share by turns."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from carrel.kit.clock import Clock
from carrel.kit.processes.jobs import BOUNDS, CallLimits, Jobs, WorkerDied, WorkerError, WorkerTimedOut
from carrel.kit.processes.worker import Worker

T = TypeVar("T")

BUDGET_SECONDS: Final = 10.0
"""Somebody who used the workers for longer than this of late waits behind everybody who did not."""
HALF_LIFE_SECONDS: Final = 60.0
"""After this time, half of what somebody used is forgotten."""
_FORGOTTEN_SECONDS: Final = 0.01


class WorkerPool:
    """Workers that start one by one as they are needed, at most `size`. Owned by the event loop.

    - A user has one turn at a time, and a turn is one worker.
    - Users take turns: whoever had one goes behind all others who wait.
    - Users over the budget wait behind those who are not, and together they never have all of several workers. So a
      stranger's work waits for one turn at most, whatever others send.
    """

    def __init__(self, jobs: Jobs, size: int, clock: Clock, bounds: CallLimits = BOUNDS) -> None:
        self._jobs = jobs
        self._size = size
        self._clock = clock
        self._bounds = bounds
        self._idle: list[Worker] = []
        self._running: dict[str, Worker] = {}
        self._waiting: dict[str, deque[asyncio.Future[Worker]]] = {}
        self._used: dict[str, _Usage] = {}
        self._closed = False

    @asynccontextmanager
    async def turn(self, user: str) -> AsyncIterator[Worker]:
        """The block has a worker. Gather what a call needs inside it, so that nothing waits in memory.

        Raises:
            WorkerDied: the pool is closed.
        """
        worker = await self._granted(user)
        begun = self._clock.monotonic()
        try:
            yield worker
        finally:
            self._count(user, begun)
            self._release(user)

    async def run(self, user: str, fn: Callable[..., T], *args: object, timeout_seconds: float | None = None) -> T:
        """Call `fn(*args)` when it is the user's turn. As `Worker.run`."""
        async with self.turn(user) as worker:
            return await worker.run(fn, *args, timeout_seconds=timeout_seconds)

    async def run_or_here(self, user: str, fn: Callable[..., T], *args: object, timeout_seconds: float) -> T:
        """Like `run`, but call `fn` in a thread of this process if no worker gives a result.

        For results that are needed in any case and are never too much work for this process.

        Raises:
            WorkerTimedOut: it takes too long. In a thread it would, too, and nothing could stop it there.
            Exception: what `fn` raised.
        """
        try:
            return await self.run(user, fn, *args, timeout_seconds=timeout_seconds)
        except WorkerTimedOut:
            raise
        except WorkerError:
            return await asyncio.to_thread(fn, *args)

    async def close(self) -> None:
        """End every process. Calls that run or wait raise `WorkerDied`."""
        self._closed = True
        for waiting in self._waiting.values():
            for future in waiting:
                if not future.done():
                    future.set_exception(WorkerDied())
        await asyncio.gather(*(worker.close() for worker in (*self._idle, *self._running.values())))

    @property
    def remembered(self) -> int:
        """The number of users whose use still counts."""
        return len(self._used)

    def new_worker(self) -> Worker:
        """Another worker, as long as there are fewer than `size`."""
        return Worker(self._jobs, self._bounds)

    async def _granted(self, user: str) -> Worker:
        if self._closed:
            raise WorkerDied
        future: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(future)
        self._grant()
        try:
            return await future
        except asyncio.CancelledError:
            if future.cancelled():
                self._forget(user, future)
            elif future.exception() is None:  # it was granted in the same moment
                self._release(user)
            raise

    def _grant(self) -> None:
        """Give free workers to those who are next."""
        while len(self._running) < self._size and (user := self._next()) is not None:
            future = self._waiting[user][0]
            self._forget(user, future)
            if future.cancelled():
                continue
            worker = self._idle.pop() if self._idle else self.new_worker()
            self._running[user] = worker
            future.set_result(worker)

    def _next(self) -> str | None:
        over = None
        for user in self._waiting:
            if user not in self._running:
                if not self._is_over_budget(user):
                    return user
                over = over or user
        have = sum(map(self._is_over_budget, self._running))
        return over if have < max(1, self._size - 1) else None

    def _release(self, user: str) -> None:
        self._idle.append(self._running.pop(user))
        if user in self._waiting:  # to the end of the queue
            self._waiting[user] = self._waiting.pop(user)
        if not self._closed:
            self._grant()

    def _forget(self, user: str, future: "asyncio.Future[Worker]") -> None:
        waiting = self._waiting.get(user)
        if waiting and future in waiting:
            waiting.remove(future)
            if not waiting:
                del self._waiting[user]

    def _count(self, user: str, begun: float) -> None:
        now = self._clock.monotonic()
        used = self._used_by(user, now) + now - begun
        self._used.pop(user, None)
        self._used[user] = _Usage(used, now)  # at the end, so that the oldest stand first
        for oldest in list(islice(self._used, 2)):
            if self._used_by(oldest, now) < _FORGOTTEN_SECONDS:
                del self._used[oldest]

    def _is_over_budget(self, user: str) -> bool:
        return self._used_by(user, self._clock.monotonic()) > BUDGET_SECONDS

    def _used_by(self, user: str, now: float) -> float:
        used = self._used.get(user)
        return 0.0 if used is None else used.left(now)


class _Usage(NamedTuple):
    """The seconds that somebody used, as they counted at a time on the monotonic clock."""

    seconds: float
    at: float

    def left(self, now: float) -> float:
        """What still counts of them."""
        return self.seconds * math.exp2((self.at - now) / HALF_LIFE_SECONDS)
