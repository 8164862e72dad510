"""Whose call is next: slots for calls, shared fairly between users. Pure, and owned by the event loop.

A slot is one call in flight. There are so many for the whole process and so many for each provider. Users who wait for
the same provider take turns, one slot each; a user's runs take turns within the user's. So a run with thousands of
tasks left delays somebody's single task by one round of the users who wait, not by its own length.

Whoever may not call a provider now, by a limit of their own or because the provider wants to hear nothing of them, is
set aside and is in nobody's way. They come back when one of their calls ends, or when the time is over.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from math import isfinite
from typing import Generic, Protocol, TypeVar

from carrel.rate_limits.limiter import Limiter

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


_SHORTEST_SECONDS = 0.001
"""A wait that is only rounding is not looked at again and again."""


class Timer(Protocol):
    """Something that will be done later."""

    def cancel(self) -> None:
        """It need not be done any more."""
        ...


Later = Callable[[float, Callable[[], None]], Timer]
"""Calls a function after so many seconds."""


class Wish:
    """Slots of one provider that one run waits for. `granted` is called for each; it must not call the gate."""

    def __init__(self, user: str, run: str, provider: str, granted: Callable[[], None]) -> None:
        self.user = user
        self.run = run
        self.provider = provider
        self.granted = granted
        self.count = 0
        """How many it still waits for; set by the gate alone."""


class _Ring(Generic[K, V]):
    """Members in the order of their turns. Whoever comes, and whoever had a turn, goes to the end."""

    def __init__(self) -> None:
        self.members: OrderedDict[K, V] = OrderedDict()

    def first(self) -> tuple[K, V]:
        return next(iter(self.members.items()))


class _Run:
    """A run that waits: its wishes in the order in which they came (it has more than one when it tries again)."""

    def __init__(self) -> None:
        self.wishes: dict[Wish, None] = {}


class _User(_Ring[str, _Run]):
    """A user who waits, since `turn` on the gate's clock of turns; `timer` ends the time for which they are aside."""

    turn = 0
    timer: Timer | None = None


class _Lane(_Ring[str, _User]):
    """One provider: how many of its slots are taken, the users who wait for one, and those who may not have one now."""

    def __init__(self, provider: str, limit: int) -> None:
        super().__init__()
        self.provider = provider
        self.limit = limit
        self.taken = 0
        self.aside: dict[str, _User] = {}


class Gate:
    """`total` bounds the calls of the process, `limits` those to single providers, `limiter` those of single users."""

    def __init__(self, total: int, limits: Mapping[str, int], limiter: Limiter, later: Later) -> None:
        self.taken = 0
        self.limiter = limiter
        self._total = total
        self._limits = dict(limits)
        self._later = later
        self._lanes: dict[str, _Lane] = {}
        self._turns = 0

    def want(self, wish: Wish, count: int) -> None:
        """Let the wish be for `count` more slots, in place of what it waited for so far; 0 withdraws it."""
        if not wish.count and count:
            self._enter(wish)
        elif wish.count and not count:
            self._leave(wish)
        wish.count = count
        self._grant()

    def give_back(self, user: str, provider: str, *, used: bool = True) -> None:
        """A slot that was granted is free again; unless it was `used`, nothing was called."""
        self.taken -= 1
        self._lanes[provider].taken -= 1
        self.limiter.give_back(user, provider, used=used)
        self.look_again(user, provider)

    def look_again(self, user: str, provider: str) -> None:
        """The user may be allowed more than before."""
        lane = self._lanes.get(provider)
        if lane is not None and user in lane.aside:
            self._bring_back(lane, user)
        self._grant()

    def _enter(self, wish: Wish) -> None:
        limit = min(self._total, self._limits.get(wish.provider, self._total))
        lane = self._lanes.setdefault(wish.provider, _Lane(wish.provider, limit))
        user = lane.members.get(wish.user) or lane.aside.get(wish.user)
        if user is None:
            user = lane.members[wish.user] = _User()
            self._to_the_end(lane, wish.user, user)
        user.members.setdefault(wish.run, _Run()).wishes[wish] = None

    def _leave(self, wish: Wish) -> None:
        lane = self._lanes[wish.provider]
        if wish.user in lane.aside:
            self._bring_back(lane, wish.user)
        user = lane.members[wish.user]
        run = user.members[wish.run]
        del run.wishes[wish]
        if not run.wishes:
            del user.members[wish.run]
        if not user.members:
            del lane.members[wish.user]

    def _set_aside(self, lane: _Lane, uuid: str, seconds: float) -> None:
        user = lane.aside[uuid] = lane.members.pop(uuid)
        if isfinite(seconds):
            user.timer = self._later(max(seconds, _SHORTEST_SECONDS), lambda: self.look_again(uuid, lane.provider))

    def _bring_back(self, lane: _Lane, uuid: str) -> None:
        user = lane.members[uuid] = lane.aside.pop(uuid)
        if user.timer is not None:
            user.timer.cancel()
            user.timer = None
        self._to_the_end(lane, uuid, user)

    def _to_the_end(self, lane: _Lane, uuid: str, user: _User) -> None:
        self._turns += 1
        user.turn = self._turns
        lane.members.move_to_end(uuid)

    def _grant(self) -> None:
        while self.taken < self._total:
            lane = self._next_lane()
            if lane is None:
                return
            uuid, user = lane.first()
            wait_seconds = self.limiter.wait_seconds(uuid, lane.provider)
            if wait_seconds > 0:
                self._set_aside(lane, uuid, wait_seconds)
                continue
            self.limiter.take(uuid, lane.provider)
            run_id, run = user.first()
            wish = next(iter(run.wishes))
            user.members.move_to_end(run_id)
            self._to_the_end(lane, uuid, user)
            self.taken += 1
            lane.taken += 1
            wish.count -= 1
            if not wish.count:
                self._leave(wish)
            wish.granted()

    def _next_lane(self) -> _Lane | None:
        """Of the providers with room and somebody waiting, the one whose next user waits longest."""
        lanes = [lane for lane in self._lanes.values() if lane.members and lane.taken < lane.limit]
        return min(lanes, key=lambda lane: lane.first()[1].turn, default=None)
