"""Schedulers and limiters of tests: limits of users only where a test sets some, and timers that it fires itself."""

from collections.abc import Callable, Mapping

from carrel.kit.clock import Clock, SystemClock
from carrel.rate_limits.limiter import Limiter
from carrel.rate_limits.schemas import RateLimitIn
from carrel.runs.scheduling.scheduler import FairScheduler


class Timers:
    """What is to be done later, by the test's clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.pending: list[Due] = []

    def __call__(self, seconds: float, do: Callable[[], None]) -> "Due":
        due = Due(self, self._clock.monotonic() + seconds, do)
        self.pending.append(due)
        return due

    def fire(self) -> None:
        """Do what is due now."""
        for due in [due for due in self.pending if due.at <= self._clock.monotonic()]:
            if due in self.pending:
                self.pending.remove(due)
                due.do()


class Due:
    def __init__(self, timers: Timers, at: float, do: Callable[[], None]) -> None:
        self._timers = timers
        self.at = at
        self.do = do

    def cancel(self) -> None:
        if self in self._timers.pending:
            self._timers.pending.remove(self)


def scheduler(
    total: int,
    limits: Mapping[str, int] | None = None,
    *,
    clock: Clock | None = None,
    users: Mapping[str, RateLimitIn] | None = None,
    later: Timers | None = None,
) -> FairScheduler:
    """`users` are the limits of every user, by provider."""
    clock = clock or SystemClock()
    return FairScheduler(total, limits or {}, Limiter(clock, users or {}), later or Timers(clock))
