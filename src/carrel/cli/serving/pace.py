"""How fast bodies are read that nobody wants, because their requests are answered already.

libuv reads a connection again and again while it brings more, and the event loop serves nobody else meanwhile. A few
clients who send without end would keep everybody waiting for a third of a second.
"""

import time
from collections.abc import Callable
from typing import Final

BYTES_A_SECOND: Final = 32 * 1024 * 1024
"""Of all connections together."""
_SHARE: Final = 50
"""A piece that took long to read, such as one of many small chunks, takes no more than this part of the time."""
_SHORT_SECONDS: Final = 0.001
"""A wait that is not worth a timer: the rest of a small body."""


class Pace:
    """Gives unwanted pieces their times, one after the other. Owned by the event loop."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._free_at = 0.0

    def wait(self, size: int, took: float) -> float:
        """How many seconds to read nothing more of a connection after a piece of `size` that `took` so many seconds.

        Every connection waits for the pieces of all others, so that nobody reads faster with more connections.
        """
        at = self._now()
        self._free_at = max(at, self._free_at) + max(size / BYTES_A_SECOND, took * _SHARE)
        seconds = self._free_at - at
        return 0.0 if seconds < _SHORT_SECONDS else seconds
