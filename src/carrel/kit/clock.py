"""Time as an argument: wall time for people and tokens, monotonic time for lifetimes."""

import time
from datetime import UTC, date, datetime
from typing import Annotated, Protocol

from msgspec import Meta

Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""A time as `rfc3339` writes it; `openapi.json` tells its format."""


class Clock(Protocol):
    """The source of every timestamp. In tests, the clock stands still until the test moves it."""

    def now(self) -> float:
        """Seconds since the epoch, UTC. May go backwards when the machine's clock is set."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes backwards; only differences mean anything."""
        ...


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds on the machine's monotonic clock."""
        return time.monotonic()


def date_of(text: str) -> date:
    """The date that `2026-11-21` names. At the ends of the calendar a date does not exist in every time zone.

    Raises:
        ValueError: the text is not such a date.
    """
    found = datetime.strptime(text, "%Y-%m-%d").date()
    if not date(1970, 1, 2) <= found < date(9999, 1, 1):
        raise ValueError
    return found


def rfc3339(seconds: float) -> str:
    """`seconds` since the epoch as RFC 3339 in UTC with milliseconds: `2026-11-21T08:30:00.000Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
