"""The permits of one run: those for which it waits at the scheduler, and those that it has and has not used yet."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress

from carrel.runs.model.setup import RunId
from carrel.runs.scheduling.scheduler import FairScheduler, Ticket
from carrel.vault.keyring import UserUuid

_OUTSIDE = RunId("outside")
"""All of a user's calls outside of runs together take turns with each of the user's runs."""


class Permits:
    """The permits of one run. Calls `on_grant` whenever the scheduler granted one."""

    def __init__(self, scheduler: FairScheduler, uuid: UserUuid, run_id: RunId, on_grant: Callable[[], None]) -> None:
        self._scheduler = scheduler
        self._uuid = uuid
        self._run_id = run_id
        self._on_grant = on_grant
        self._tickets: dict[str, Ticket] = {}
        self._granted: Counter[str] = Counter()

    def settle(self, needed: Mapping[str, int]) -> bool:
        """Wait for this many permits of each lane (see `registry.lane_of`), and release those that are too many.

        Return whether the run has any.
        """
        for lane in {*needed, *self._tickets}:
            wanted = needed.get(lane, 0)
            while self._granted[lane] > wanted:
                self._granted[lane] -= 1
                self._scheduler.release(self._uuid, lane, used=False)
            self._scheduler.want(self._ticket(lane), wanted - self._granted[lane])
        return self._granted.total() > 0

    def take(self) -> Counter[str]:
        """Take all permits that were granted. The caller releases or keeps those that it does not use."""
        taken, self._granted = self._granted, Counter()
        return taken

    def keep(self, permits: Mapping[str, int]) -> None:
        """Put back permits that were taken and not used."""
        self._granted.update(permits)

    def release(self, lane: str) -> None:
        """Release one permit, because a call has ended."""
        self._scheduler.release(self._uuid, lane)

    def single(self, lane: str) -> "SinglePermit":
        """Ask for one more permit, for a task that is tried again."""
        return SinglePermit(self._scheduler, self._uuid, self._run_id, lane)

    def _ticket(self, lane: str) -> Ticket:
        ticket = self._tickets.get(lane)
        if ticket is None:
            ticket = Ticket(self._uuid, self._run_id, lane, lambda: self._grant(lane))
            self._tickets[lane] = ticket
        return ticket

    def _grant(self, lane: str) -> None:
        self._granted[lane] += 1
        self._on_grant()


class DirectPermits:
    """Lets calls outside of runs take turns with those of runs."""

    def __init__(self, scheduler: FairScheduler) -> None:
        self._scheduler = scheduler

    async def enter(self, user: UserUuid, lane: str, timeout_seconds: float) -> bool:
        """Wait for a permit. Return False if none was granted in that time."""
        permit = SinglePermit(self._scheduler, user, _OUTSIDE, lane)
        with ExitStack() as undo:
            undo.callback(permit.withdraw)
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_seconds):
                    await permit.there.wait()
            if not permit.there.is_set():
                return False
            undo.pop_all()
        return True

    def leave(self, user: UserUuid, lane: str) -> None:
        """Release the permit, because the call has ended."""
        self._scheduler.release(user, lane)


class SinglePermit:
    """One permit for which a task waits. The scheduler sets `there` when it grants the permit."""

    def __init__(self, scheduler: FairScheduler, uuid: UserUuid, run_id: RunId, lane: str) -> None:
        self.there = asyncio.Event()
        self._scheduler = scheduler
        self._ticket = Ticket(uuid, run_id, lane, self.there.set)
        scheduler.want(self._ticket, 1)

    def withdraw(self) -> None:
        """Withdraw from the queue, or release the permit if it was granted."""
        if self.there.is_set():
            self._scheduler.release(self._ticket.user, self._ticket.lane, used=False)
        else:
            self._scheduler.want(self._ticket, 0)
