"""The access log: one line for each request, with the route's template and never its path or query.

It goes its own way to stderr, for the system call of writing each line at once costs more than the rest of the
outermost layer together.
"""

import asyncio
import sys
from contextlib import suppress

import msgspec

from carrel.kit.clock import Clock, rfc3339

_DELAY_SECONDS = 0.1
"""How long a line waits for others. A killed process loses those of its last instant; nothing is decided by them."""
_encode = msgspec.json.Encoder().encode


class AccessLine(msgspec.Struct, frozen=True):
    """One request as the log shows it. `user` is a `tail`; `ms` the time until its answer was out."""

    time: str
    method: str
    route: str
    status: int
    ms: float
    request_id: str
    user: str = ""
    level: str = "info"
    event: str = "request"


class AccessLog:
    """Collects lines and writes them a tenth of a second later."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines: list[bytes] = []
        self._second = -1
        self._date_and_time = ""

    def add(self, method: str, route: str, status: int, ms: float, request_id: str, user: str) -> None:
        """Note one request."""
        if not self._lines:
            asyncio.get_running_loop().call_later(_DELAY_SECONDS, self.flush)
        self._lines.append(_encode(AccessLine(self._now(), method, route, status, round(ms, 2), request_id, user)))

    def flush(self) -> None:
        """Write what is waiting."""
        lines, self._lines = self._lines, []
        if lines:
            # Whoever read the log may be gone; that is no reason to fail.
            with suppress(OSError):
                sys.stderr.buffer.write(b"\n".join(lines) + b"\n")
                sys.stderr.buffer.flush()

    def _now(self) -> str:
        # Most lines are of the same second as the one before.
        seconds = self._clock.now()
        second = int(seconds)
        if second != self._second:
            self._second = second
            self._date_and_time = rfc3339(second)[:-4]
        return f"{self._date_and_time}{int((seconds - second) * 1000):03d}Z"
