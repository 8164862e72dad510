"""How fast bodies are read: those that nobody wants, as their requests are answered; those in small chunks; others.

libuv reads a connection again and again while it brings more, and the event loop serves nobody else meanwhile: a few
clients who send without end would keep everybody waiting for a third of a second. Long bodies and answers go as fast as
the client sends and reads, so a few clients on a fast line would take the whole loop.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

UNWANTED_A_SECOND: Final = 32 * 1024 * 1024
"""Bytes of unwanted bodies of all connections together."""
LONG_A_SECOND: Final = 128 * 1024 * 1024
"""Bytes of long bodies and answers of all connections together: more than a line of a gigabit carries."""
CHUNKS_A_SECOND: Final = 25_000
"""Small chunks of all connections together. To read one takes 0.2 µs, so they take at most half a percent of the event
loop, and whoever waits for a hundred requests does not notice them."""
_SHORT_SECONDS: Final = 0.001
"""A wait that is not worth a timer: the rest of a small body."""


class Pace:
    """Gives pieces their times, one after the other. Owned by the event loop."""

    def __init__(self, a_second: int, now: Callable[[], float] = time.monotonic) -> None:
        self._a_second = a_second
        self._now = now
        self._free_at = 0.0

    def wait(self, size: int) -> float:
        """How many seconds a connection has to wait for a piece of so many bytes, or chunks.

        Every connection waits for the pieces of all others, so that nobody is faster with more connections.
        """
        at = self._now()
        self._free_at = max(at, self._free_at) + size / self._a_second
        seconds = self._free_at - at
        return 0.0 if seconds < _SHORT_SECONDS else seconds

    async def rest(self, size: int) -> None:
        """Wait for the time of a piece of `size`."""
        seconds = self.wait(size)
        if seconds:
            await asyncio.sleep(seconds)
