"""What is under way of each user: requests, and the bytes that they hold until the client has taken its answer.

A small body or answer is not counted in bytes: the limit on requests bounds those.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final

from carrel.errors import CarrelError, Unavailable
from carrel.kit.concurrency.loop_turns import LoopTurns

MAX_REQUESTS: Final = 64
"""Of one user at once, open event streams included."""
MAX_READING: Final = 4
"""Of one user's reads at once, until each answers. The others wait: what a read holds is counted when it answers."""
MAX_BYTES: Final = 12 * 1024 * 1024
"""Of one user at once: several of the longest answers that are usual. A single answer may be longer."""
MAX_ALL_BYTES: Final = 48 * 1024 * 1024
"""Of all users at once."""
_BEGINS_NOTHING = 2
"""Who holds more than this part of `MAX_BYTES` begins nothing new: the work for an answer comes before its bytes."""
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


class InFlight:
    """Everything of all users that is under way in one process. Owned by the event loop."""

    def __init__(self) -> None:
        self.turns = LoopTurns()
        self._passages: dict[str, dict[Passage, None]] = {}
        self._bytes: dict[str, int] = {}
        self._all_bytes = 0
        self._reading: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    def enter(self, user: str, drop: Callable[[], None] | None) -> "Passage":
        """A request begins. `drop` ends the connection from which it came.

        Raises:
            TooManyRequests: the user has too many already.
            TooMuchInFlight: the user holds much already.
        """
        passages = self._passages.get(user, {})
        if len(passages) >= MAX_REQUESTS:
            raise TooManyRequests(retry_after_seconds=1)
        self.may_begin(user)
        passage = Passage(self, user, drop)
        self._passages.setdefault(user, passages)[passage] = None
        return passage

    def may_begin(self, user: str) -> None:
        """Refuse a user who holds much already.

        Raises:
            TooMuchInFlight
        """
        if self._bytes.get(user, 0) > MAX_BYTES // _BEGINS_NOTHING:
            raise TooMuchInFlight(retry_after_seconds=1)

    async def read(self, user: str) -> None:
        """Wait until few enough reads of the user are at work, in the order in which they came."""
        if self._reading[user] < MAX_READING:
            self._reading[user] += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self.done_reading(user)
            raise

    def done_reading(self, user: str) -> None:
        """The read answers or has ended: the next one begins."""
        waiting = self._waiting.get(user, ())
        while waiting:
            place = waiting.popleft()
            if not waiting:
                del self._waiting[user]
            if not place.done():
                place.set_result(None)
                return
        self._reading[user] -= 1
        if not self._reading[user]:
            del self._reading[user]

    def hold(self, passage: "Passage", size: int, *, may_refuse: bool) -> None:
        """Count bytes of this request.

        If all users together hold too much, the oldest unread answer of whoever holds most is given up.
        """
        before = self._bytes.get(passage.user, 0)
        if may_refuse and before and before + size > MAX_BYTES:
            raise TooMuchInFlight(retry_after_seconds=1)
        while self._all_bytes and self._all_bytes + size > MAX_ALL_BYTES:
            dropped = self._unread()
            if dropped is None or dropped.drop is None:
                if may_refuse:
                    raise ServiceBusy(retry_after_seconds=1)
                break
            self._release(dropped)
            dropped.drop()
        passage.size += size
        self._bytes[passage.user] = self._bytes.get(passage.user, 0) + size
        self._all_bytes += size

    def end(self, passage: "Passage") -> None:
        """The request is over, and its answer is taken or given up."""
        self._release(passage)
        passages = self._passages[passage.user]
        del passages[passage]
        if not passages:
            del self._passages[passage.user]

    def _unread(self) -> "Passage | None":
        for user in sorted(self._bytes, key=self._bytes.__getitem__, reverse=True):
            for passage in self._passages[user]:
                if passage.is_answering and passage.size:
                    return passage
        return None

    def _release(self, passage: "Passage") -> None:
        if passage.size:
            self._all_bytes -= passage.size
            left = self._bytes[passage.user] - passage.size
            passage.size = 0
            if left:
                self._bytes[passage.user] = left
            else:
                del self._bytes[passage.user]


class Passage:
    """One request of a user, from its guard until its answer is taken."""

    __slots__ = ("_in_flight", "drop", "is_answering", "is_reading", "size", "user")

    def __init__(self, in_flight: InFlight, user: str, drop: Callable[[], None] | None) -> None:
        self._in_flight = in_flight
        self.user = user
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
            self._in_flight.hold(self, size, may_refuse=True)

    def answer(self, size: int, *, may_refuse: bool) -> None:
        """Count an answer until the end of the request. One that tells of a change is never refused.

        Raises:
            TooMuchInFlight, ServiceBusy
        """
        if size > SMALL_BYTES:
            self._in_flight.hold(self, size, may_refuse=may_refuse)
            self.is_answering = True

    async def take_turn(self, method: str) -> None:
        """Let other users go first if this one has kept the event loop busy, and earlier reads of this one.

        Raises:
            TooMuchInFlight: the user holds much by now.
        """
        if method == "GET":
            await self._in_flight.read(self.user)
            self.is_reading = True
        turns = self._in_flight.turns
        if turns.must_wait(self.user):
            await turns.take(self.user)
        self._in_flight.may_begin(self.user)

    def begin_answer(self) -> None:
        """What the request holds is known from here on."""
        if self.is_reading:
            self.is_reading = False
            self._in_flight.done_reading(self.user)

    def end(self) -> None:
        """The request is over."""
        self.begin_answer()
        self._in_flight.end(self)


def passage_of(scope: Any) -> Passage | None:
    """The passage of the request, if a user is signed in."""
    found: Passage | None = scope.get(PASSAGE)
    return found
