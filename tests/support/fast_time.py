"""Time that passes twenty times as fast, for runs that wait for minutes: clock, timers and sleep go together."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from carrel.rate_limits.schemas import RateLimitIn
from carrel.runs.scheduling.scheduler import FairScheduler
from tests.support import limits
from tests.support.clock import FakeClock
from tests.support.limits import Timers

_STEP_SECONDS = 0.05
_TIMES = 20
_LATE_SECONDS = 0.002
_MOST_LATE = 20


class FastTime:
    """`providers` have the limits that users have by default."""

    def __init__(self, *providers: str) -> None:
        self.clock = FakeClock()
        self._timers = Timers(self.clock)
        self._users = {provider: RateLimitIn() for provider in providers}

    def scheduler(self, total: int) -> FairScheduler:
        return limits.scheduler(total, clock=self.clock, users=self._users, later=self._timers)

    async def sleep(self, seconds: float) -> None:
        passed = asyncio.Event()
        self._timers(seconds, passed.set)
        await passed.wait()

    @asynccontextmanager
    async def passing(self, step_seconds: float = _STEP_SECONDS) -> AsyncIterator[None]:
        """For the length of a block, let it pass, in steps of this length."""
        running = asyncio.create_task(self._pass(step_seconds))
        try:
            yield
        finally:
            running.cancel()

    async def _pass(self, step_seconds: float) -> None:
        late = 0
        while True:
            due = time.perf_counter() + _STEP_SECONDS / _TIMES
            await asyncio.sleep(_STEP_SECONDS / _TIMES)
            # While the machine is too busy for the run, time stands still for it, too, but not for ever.
            late = late + 1 if time.perf_counter() > due + _LATE_SECONDS and late < _MOST_LATE else 0
            if late:
                continue
            self.clock.advance(step_seconds)
            self._timers.fire()
