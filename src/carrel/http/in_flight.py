"""What is under way of each user: requests, and the bytes that they hold until the client has taken its answer.

A small body or answer is not counted in bytes: the limit on requests bounds those.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from carrel.errors import CarrelError, Unavailable

MAX_REQUESTS: Final = 64
"""Of one user at once, open event streams included."""
MAX_READING: Final = 4
"""Of one user's reads at once, until each answers. The others wait: what a read holds is counted when it answers."""
MAX_BYTES: Final = 6 * 1024 * 1024
"""Of one user at once: three of the longest bodies, several of the usual long answers. One answer may be longer."""
MAX_ALL_BYTES: Final = 40 * 1024 * 1024
"""Of all users at once."""
_BEGINS_NOTHING = 2
"""Who holds more than this part of `MAX_BYTES` begins nothing new: the work for an answer comes before its bytes."""
REFUSED_SECONDS: Final = 0.1
"""How long a refusal takes at least: clients that come again at once, whatever they are told, keep the loop busy."""
WORKED_SECONDS: Final = 0.005
"""A failure that took longer than this counts as a refusal: somebody asked for too much, and work was done."""
SMALL_BYTES: Final = 64 * 1024
PASSAGE: Final = "carrel.passage"
"""The key in the scope under which a guard stores the request's `Passage`."""
IN_FLIGHT: Final = "carrel.in_flight"
"""The key in the scope under which the service's `InFlight` is."""


class TooManyRequests(CarrelError):
    """The user has as many requests under way as allowed."""

    status = 429
    code = "too-many-requests"
    detail = "There are as many requests of yours under way as allowed; wait for one to end."


class TooMuchInFlight(CarrelError):
    """Bodies and unread answers of the user hold as much memory as allowed."""

    status = 429
    code = "too-much-in-flight"
    detail = "Requests of yours under way, and answers that you have not read, hold as many bytes as allowed."


class ServiceBusy(Unavailable):
    """The service holds as many bytes or connections as it may."""

    code = "service-busy"
    detail = "The service has too much to do right now; try again in a moment."


class _User:
    """What is under way of one user."""

    __slots__ = ("bytes", "name", "passages", "reading", "waiting")

    def __init__(self, name: str) -> None:
        self.name = name
        self.passages: dict[Passage, None] = {}
        self.bytes = 0
        self.reading = 0
        self.waiting: deque[asyncio.Future[None]] = deque()


class InFlight:
    """Everything of all users that is under way in one process. Owned by the event loop."""

    @staticmethod
    async def pause() -> None:
        """Wait before a refusal, for `REFUSED_SECONDS` to twice as long.

        By chance: clients that were refused together and come again together would all come before everybody else.
        """
        await asyncio.sleep(random.uniform(REFUSED_SECONDS, 2 * REFUSED_SECONDS))  # noqa: S311 - no secret

    def __init__(self) -> None:
        self.users: dict[str, _User] = {}
        """Those of whom anything is under way."""
        self.bytes = 0
        """Of all users."""

    def enter(self, user: str, drop: Callable[[], None] | None) -> "Passage":
        """A request begins. `drop` ends the connection from which it came.

        Raises:
            TooManyRequests: the user has too many already.
            TooMuchInFlight: the user holds much already.
        """
        found = self.users.get(user)
        if found is None:
            found = self.users[user] = _User(user)
        elif len(found.passages) >= MAX_REQUESTS:
            raise TooManyRequests(retry_after_seconds=1)
        else:
            _refuse_who_holds_much(found)
        passage = Passage(self, found, drop)
        found.passages[passage] = None
        return passage

    def make_room(self, size: int, *, may_refuse: bool) -> None:
        """If all users together hold too much, the oldest unread answer of whoever holds most is given up.

        Raises:
            ServiceBusy
        """
        while self.bytes and self.bytes + size > MAX_ALL_BYTES:
            dropped = self._unread()
            if dropped is None or dropped.drop is None:
                if may_refuse:
                    raise ServiceBusy(retry_after_seconds=1)
                break
            dropped.release()
            dropped.drop()

    def _unread(self) -> "Passage | None":
        for user in sorted(self.users.values(), key=lambda user: user.bytes, reverse=True):
            for passage in user.passages:
                if passage.is_answering and passage.size:
                    return passage
        return None


def _refuse_who_holds_much(user: _User) -> None:
    if user.bytes > MAX_BYTES // _BEGINS_NOTHING:
        raise TooMuchInFlight(retry_after_seconds=1)


class Passage:
    """One request of a user, from its guard until its answer is taken."""

    __slots__ = ("_in_flight", "_of", "drop", "is_answering", "is_reading", "size")

    def __init__(self, in_flight: InFlight, user: _User, drop: Callable[[], None] | None) -> None:
        self._in_flight = in_flight
        self._of = user
        self.drop = drop
        self.size = 0
        self.is_answering = False
        self.is_reading = False

    def receive(self, size: int) -> None:
        """Count a body that is going to be read into memory.

        Raises:
            TooMuchInFlight, ServiceBusy
        """
        if size > SMALL_BYTES:
            self._hold(size, may_refuse=True)

    def answer(self, size: int, *, may_refuse: bool) -> None:
        """Count an answer until the end of the request. One that tells of a change is never refused.

        Raises:
            TooMuchInFlight, ServiceBusy
        """
        if size > SMALL_BYTES:
            self._hold(size, may_refuse=may_refuse)
            self.is_answering = True

    async def begin_to_read(self) -> None:
        """Let earlier reads of this user go first.

        Raises:
            TooMuchInFlight: the user holds much by now.
        """
        waits = self._of.reading >= MAX_READING
        if waits:
            await self._wait_to_read()
        else:
            self._of.reading += 1
        self.is_reading = True
        if waits:
            _refuse_who_holds_much(self._of)

    def begin_answer(self) -> None:
        """What the request holds is known from here on."""
        if self.is_reading:
            self.is_reading = False
            self._done_reading()

    def end(self) -> None:
        """The request is over, and its answer is taken or given up."""
        if self.is_reading:
            self.begin_answer()
        if self.size:
            self.release()
        user = self._of
        del user.passages[self]
        if not user.passages:
            del self._in_flight.users[user.name]

    def release(self) -> None:
        """What it held is free."""
        self._in_flight.bytes -= self.size
        self._of.bytes -= self.size
        self.size = 0

    def _hold(self, size: int, *, may_refuse: bool) -> None:
        if may_refuse and self._of.bytes and self._of.bytes + size > MAX_BYTES:
            raise TooMuchInFlight(retry_after_seconds=1)
        self._in_flight.make_room(size, may_refuse=may_refuse)
        self.size += size
        self._of.bytes += size
        self._in_flight.bytes += size

    async def _wait_to_read(self) -> None:
        """Wait until few enough reads of the user are at work, in the order in which they came."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._of.waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self._done_reading()
            raise

    def _done_reading(self) -> None:
        """A read of the user answers or has ended: the next one begins."""
        while self._of.waiting:
            place = self._of.waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self._of.reading -= 1


def passage_of(scope: Any) -> Passage | None:
    """The passage of the request, if a user is signed in."""
    found: Passage | None = scope.get(PASSAGE)
    return found
