"""Turns of users on the event loop, by fair shares: whoever used less of it lately goes first.

A request runs in steps, from one wait to the next, and the event loop makes all steps that are ready before it looks
at the sockets again. Without turns, sixty requests of a few users would all come before that of a stranger. With them,
steps take a few milliseconds in each round of the loop, and the others wait for the next rounds in the order of what
their users have used (start-time fair queueing, Goyal, Vin and Cheng 1996).
"""

import asyncio
import time
import types
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final, Protocol, TypeVar

T = TypeVar("T")

ROUND_SECONDS: Final = 0.001
"""Time on the loop of the steps of one round. A step that is longer is a round of its own."""
LEAD_SECONDS: Final = 0.0005
"""How far a user of short steps may be ahead without waiting: a wait costs a tenth of a small request."""
LONG_SECONDS: Final = 0.0005
"""A step that keeps the interpreter for so long delays every thread that needs it for a moment."""
REST_SECONDS: Final = 0.001
"""The pause after a round with such a step: work of other users in threads goes on meanwhile."""
SHARED_SECONDS: Final = 1.0
"""For so long after a request of another user, users take turns. Who is alone for longer takes none."""
_FADES: Final = 0.9
MANY_USERS: Final = 4096


class HasUser(Protocol):
    """Whatever knows the user for whom a request is."""

    @property
    def user(self) -> str:
        """The user's name."""
        ...


class _User:
    """How far a user is in the common account of time on the loop, and the steps that wait for their turn."""

    __slots__ = ("step_seconds", "used", "waiting")

    def __init__(self, used: float) -> None:
        self.used = used
        """Never less than what everybody had when the user came back: nobody saves up."""
        self.step_seconds = 0.0
        """How long a step takes at most, as the last ones tell."""
        self.waiting: deque[asyncio.Future[None]] = deque()


class LoopTurns:
    """Owned by the event loop."""

    def __init__(self) -> None:
        self._users: dict[str, _User] = {}
        self._queue: list[tuple[float, int, _User]] = []
        """A heap with one entry for every user of whom a step waits: where the user will be when it begins."""
        self._order = count()
        self._level = 0.0
        """Where the step that got the last turn began. Who is not far beyond it waits for nobody."""
        self._highest = 0.0
        self._left = ROUND_SECONDS
        self._latest = ""
        self._shared_until = 0.0
        self._long = False
        self._round: asyncio.Handle | None = None

    def __len__(self) -> int:
        return len(self._users)

    def note(self, user: str) -> None:
        """A request of this user begins."""
        if user != self._latest:
            self._latest = user
            self._shared_until = time.monotonic() + SHARED_SECONDS

    def are_taken(self) -> bool:
        """Whether there were several users lately."""
        return time.monotonic() < self._shared_until

    def must_wait(self, user: str) -> bool:
        """Whether the next step of this user has to `take` a turn."""
        if (self._left > 0 and not self._queue) or not self.are_taken():
            return False
        found = self._users.get(user)
        if found is None:
            return False
        lead = 0.0 if found.step_seconds > LONG_SECONDS else LEAD_SECONDS
        return found.used > self._level + lead or bool(found.waiting)

    async def take(self, user: str) -> None:
        """Wait for a turn, behind the user's earlier steps and those of users who have used less."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        found = self._user(user)
        if not found.waiting:
            self._wait(found, found.used)
        found.waiting.append(turn)
        await turn

    def charge(self, user: str, seconds: float) -> None:
        """A step of this user took so much time on the loop."""
        # Without `max` and its like: every request pays for this.
        found = self._users.get(user) or self._user(user)
        used = found.used if found.used > self._level else self._level
        found.used = used = used + seconds
        found.step_seconds = seconds if seconds > found.step_seconds else found.step_seconds * _FADES
        if used > self._highest:
            self._highest = used
        if seconds > LONG_SECONDS:
            self._long = True
        self._left -= seconds
        if self._left <= 0:
            self._schedule()

    def _user(self, user: str) -> _User:
        found = self._users.get(user)
        if found is None:
            if len(self._users) >= MANY_USERS:
                self._users = {name: one for name, one in self._users.items() if one.used > self._level or one.waiting}
            found = self._users[user] = _User(self._level)
        return found

    def _wait(self, user: _User, used: float) -> None:
        heappush(self._queue, (used, next(self._order), user))
        self._schedule()

    def _schedule(self) -> None:
        if self._round is None:
            # The steps that are ready now come first, and then what the sockets bring.
            self._round = asyncio.get_running_loop().call_soon(self._rest)

    def _rest(self) -> None:
        if self._long and self._queue:
            self._round = asyncio.get_running_loop().call_later(REST_SECONDS, self._begin)
        else:
            self._begin()

    def _begin(self) -> None:
        """A round: let as many steps go on as are likely to fit into it, at least one."""
        self._round = None
        self._long = False
        self._left = planned = ROUND_SECONDS
        if not self._queue:
            # Nobody waits: what was used until now is forgotten.
            self._level = self._highest
        while self._queue:
            used, _, user = heappop(self._queue)
            self._level = max(self._level, used)
            turn = user.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                planned -= user.step_seconds
                used += user.step_seconds
            if user.waiting:
                self._wait(user, used)
            if planned <= 0:
                break
        if self._queue:
            self._schedule()


@types.coroutine
def in_turns(
    work: Coroutine[Any, Any, T], turns: LoopTurns, served: Callable[[], HasUser | None]
) -> Generator[Any, Any, T]:
    """Run `work`: measure each step, and let it take its turn. `served` tells for whom it works, once that is known."""
    value: Any = None
    error: BaseException | None = None
    while True:
        # Not the processor's time, which takes a call of the system each time: a step hardly ever waits.
        began = time.perf_counter()
        try:
            waits_for = work.send(value) if error is None else work.throw(error)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            who = served()
            if who is not None:
                turns.charge(who.user, time.perf_counter() - began)
        value = error = None
        try:
            value = yield waits_for
            if who is not None and turns.must_wait(who.user):
                yield from turns.take(who.user).__await__()
        except BaseException as raised:  # noqa: BLE001 - `work` decides what it means
            error = raised
