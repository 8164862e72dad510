"""A fair scheduler of calls: users take turns for permits. Pure, and owned by the event loop.

A permit allows one call in flight. The process has a number of permits, and so has each provider. Users who wait for
the same provider take turns and get one permit each; the runs of a user share the user's turns in the same way. A run
with thousands of tasks therefore delays another user's single task by one round of the waiting users at most.

A user who may not call a provider now, because of a rate limit or because the provider asked for a pause, leaves the
queue and blocks nobody. The scheduler puts the user back when one of the user's calls ends or when the time is over.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Mapping
from math import isfinite
from typing import Generic, Protocol, TypeVar

from carrel.providers.registry import provider_of
from carrel.rate_limits.limiter import Limiter

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


_SHORTEST_SECONDS = 0.001
"""The scheduler does not schedule another look for so short a wait, which is only rounding."""


class TimerHandle(Protocol):
    """A callback that will run later."""

    def cancel(self) -> None:
        """Cancel the callback."""
        ...


CallLater = Callable[[float, Callable[[], None]], TimerHandle]
"""Calls a function after this many seconds."""


class Ticket:
    """Permits of one lane (see `registry.lane_of`) for which one run waits.

    `granted` is called for each; it must not call the scheduler.
    """

    def __init__(self, user: str, run: str, lane: str, granted: Callable[[], None]) -> None:
        self.user = user
        self.run = run
        self.lane = lane
        self.granted = granted
        self.count = 0
        """How many permits the ticket still waits for. Only the scheduler sets it."""


class _Ring(Generic[K, V]):
    """Members in the order of their turns. New members, and members that had a turn, go to the end."""

    def __init__(self) -> None:
        self.members: OrderedDict[K, V] = OrderedDict()

    def first(self) -> tuple[K, V]:
        return next(iter(self.members.items()))


class _Run:
    """A run that waits: its tickets in the order in which they came. It has more than one when it tries again."""

    def __init__(self) -> None:
        self.tickets: dict[Ticket, None] = {}


class _User(_Ring[str, _Run]):
    """A user who waits since the scheduler's turn number `turn`. `timer` returns a user who left the queue to it."""

    turn = 0
    timer: TimerHandle | None = None


class _LaneQueue(_Ring[str, _User]):
    """One lane of a provider: the users who wait for a permit, and those who may not call now."""

    def __init__(self, lane: str) -> None:
        super().__init__()
        self.lane = lane
        self.provider = provider_of(lane)
        self.aside: dict[str, _User] = {}


class FairScheduler:
    """`total` bounds the calls of the process, `limits` those to single providers, `limiter` those of single users.

    Several processes can `share` the total.

    While `may_call` is False, nothing is granted; `resume` is called when it is True again.
    """

    def __init__(
        self,
        total: int,
        limits: Mapping[str, int],
        limiter: Limiter,
        later: CallLater,
        *,
        may_call: Callable[[], bool] = lambda: True,
    ) -> None:
        self._may_call = may_call
        self.taken = 0
        self.limiter = limiter
        self._all = self._total = total
        self._limits = dict(limits)
        self._later = later
        self._queues: dict[str, _LaneQueue] = {}
        self._taken = Counter[str]()
        """The permits that are granted, by provider."""
        self._turns = 0
        limiter.subscribe(self.look_again)

    @property
    def waiting(self) -> int:
        """The calls that wait for a permit."""
        users = (
            user for queue in self._queues.values() for ring in (queue.members, queue.aside) for user in ring.values()
        )
        return sum(ticket.count for user in users for run in user.members.values() for ticket in run.tickets)

    def want(self, ticket: Ticket, count: int) -> None:
        """Let the ticket wait for `count` more permits, in place of its former number; 0 withdraws it."""
        if not ticket.count and count:
            self._enter(ticket)
        elif ticket.count and not count:
            self._leave(ticket)
        ticket.count = count
        self._grant()

    def release(self, user: str, lane: str, *, used: bool = True) -> None:
        """Take back a permit that was granted. If it was not `used`, nothing was called."""
        provider = provider_of(lane)
        self.taken -= 1
        self._taken[provider] -= 1
        self.limiter.release(user, lane, used=used)
        self.look_again(user, provider)

    def share(self, processes: int) -> None:
        """So many processes share the calls from now on. What was granted goes on, whatever this one's part is."""
        self._total = max(1, self._all // processes)
        self._grant()

    def resume(self) -> None:
        """Grant what has waited, because calls may be made again."""
        self._grant()

    def look_again(self, user: str, provider: str) -> None:
        """Look again, because the user may be allowed more than before."""
        for queue in self._queues.values():
            if queue.provider == provider and user in queue.aside:
                self._bring_back(queue, user)
        self._grant()

    def _enter(self, ticket: Ticket) -> None:
        queue = self._queues.setdefault(ticket.lane, _LaneQueue(ticket.lane))
        user = queue.members.get(ticket.user) or queue.aside.get(ticket.user)
        if user is None:
            user = queue.members[ticket.user] = _User()
            self._to_the_end(queue, ticket.user, user)
        user.members.setdefault(ticket.run, _Run()).tickets[ticket] = None

    def _limit(self, queue: _LaneQueue) -> int:
        return min(self._total, self._limits.get(queue.provider, self._total))

    def _leave(self, ticket: Ticket) -> None:
        queue = self._queues[ticket.lane]
        if ticket.user in queue.aside:
            self._bring_back(queue, ticket.user)
        user = queue.members[ticket.user]
        run = user.members[ticket.run]
        del run.tickets[ticket]
        if not run.tickets:
            del user.members[ticket.run]
        if not user.members:
            del queue.members[ticket.user]
        if not queue.members and not queue.aside:
            # A name of a model may be anything, so they are not kept.
            del self._queues[ticket.lane]

    def _set_aside(self, queue: _LaneQueue, uuid: str, seconds: float) -> None:
        user = queue.aside[uuid] = queue.members.pop(uuid)
        if isfinite(seconds):
            user.timer = self._later(max(seconds, _SHORTEST_SECONDS), lambda: self.look_again(uuid, queue.provider))

    def _bring_back(self, queue: _LaneQueue, uuid: str) -> None:
        user = queue.members[uuid] = queue.aside.pop(uuid)
        if user.timer is not None:
            user.timer.cancel()
            user.timer = None
        self._to_the_end(queue, uuid, user)

    def _to_the_end(self, queue: _LaneQueue, uuid: str, user: _User) -> None:
        self._turns += 1
        user.turn = self._turns
        queue.members.move_to_end(uuid)

    def _grant(self) -> None:
        while self.taken < self._total and self._may_call():
            queue = self._next_queue()
            if queue is None:
                return
            uuid, user = queue.first()
            wait_seconds = self.limiter.wait_seconds(uuid, queue.lane)
            if wait_seconds > 0:
                self._set_aside(queue, uuid, wait_seconds)
                continue
            self.limiter.take(uuid, queue.lane)
            run_id, run = user.first()
            ticket = next(iter(run.tickets))
            user.members.move_to_end(run_id)
            self._to_the_end(queue, uuid, user)
            self.taken += 1
            self._taken[queue.provider] += 1
            ticket.count -= 1
            if not ticket.count:
                self._leave(ticket)
            ticket.granted()

    def _next_queue(self) -> _LaneQueue | None:
        """Among the lanes with free permits and waiting users, the one whose next user has waited longest."""
        queues = [one for one in self._queues.values() if one.members and self._taken[one.provider] < self._limit(one)]
        return min(queues, key=lambda queue: queue.first()[1].turn, default=None)
