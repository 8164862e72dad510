"""The memory that long answers of other servers may take, of all users together.

A user may hold a third of what stays free: a quarter of the memory alone, and less the more the others hold. So there
is room for another user, whatever others hold, and nobody's answer has to be dropped for it (dynamic thresholds,
Choudhury and Hahne 1998).
"""

import threading
from types import TracebackType
from typing import Final

from carrel.providers.base import SERVICE_BUSY, ProviderError

SMALL_BYTES: Final = 64 * 1024
"""Shorter answers are not counted: the number of calls at once bounds them."""
_AT_ONCE: Final = 8
"""The memory, as a number of the longest answers."""
_SHARE: Final = 3
"""Of what stays free, a user may hold one part of so many."""


class AnswerRoom:
    """`max_bytes` is the length of the longest answer. May be used in every thread."""

    def __init__(self, max_bytes: int) -> None:
        self._lock = threading.Lock()
        self._free = _AT_ONCE * max_bytes
        self._users: dict[str, int] = {}

    def place(self, user: str) -> "AnswerMemory":
        """The place of one answer, empty at first."""
        return AnswerMemory(user, self)

    def resize(self, place: "AnswerMemory", size: int) -> None:
        """Count so many bytes for the answer in this place.

        Raises:
            ProviderError: `service-busy`; the place stays as large as it was.
        """
        with self._lock:
            more = size - place.size
            held = self._users.get(place.user, 0) + more
            if more > 0 and (place.is_released or _SHARE * held > self._free - more):
                raise ProviderError(SERVICE_BUSY, retryable=True)
            self._free -= more
            place.size = size
            if held:
                self._users[place.user] = held
            else:
                self._users.pop(place.user, None)


class AnswerMemory:
    """What one answer holds, from its first bytes until it is stored or given up: then whoever made it releases it.

    Without a room nothing is counted.
    """

    def __init__(self, user: str, room: AnswerRoom | None = None) -> None:
        self.user = user
        self.size = 0
        self.is_released = False
        self._room = room

    def __enter__(self) -> "AnswerMemory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def hold(self, size: int) -> None:
        """The answer takes so many bytes now.

        Raises:
            ProviderError: `service-busy`, the user's answers hold as much as they may, or the place was released.
        """
        counted = size if size > SMALL_BYTES else 0
        if self._room is not None and counted != self.size:
            self._room.resize(self, counted)

    def release(self) -> None:
        """Nobody needs the answer any more. If its call still goes on, it ends with `service-busy`."""
        self.is_released = True
        self.hold(0)
