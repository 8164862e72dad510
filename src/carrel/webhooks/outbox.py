"""What the host is to be told, in `service.db`: a row for each event, until it is delivered or given up."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from carrel.kit.clock import rfc3339
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, as_json

EventType = Literal["run.ended", "credits.low", "user.suspended"]

WAITS_SECONDS: Final = (60.0, 300.0, 1_800.0, 7_200.0, 21_600.0, 43_200.0)
"""After each failure but the last: seven attempts within a day."""
KEPT_SECONDS: Final = 3 * 86_400.0
_MOST_OF_USER: Final = 1_000
"""The newest ones. Who ends runs faster than the host takes the news loses the oldest."""
_AT_ONCE: Final = 8


class Event(NamedTuple):
    """Something that happened to a user. `occasion` tells it from others of its type; the host never sees it."""

    type: EventType
    occasion: str
    data: Mapping[str, str]


class DueEvent(NamedTuple):
    """An event that is to be delivered now."""

    id: str
    uuid: str
    type: EventType
    data: dict[str, str]
    created_at: str
    attempts: int


_due = Select(DueEvent)


def add(conn: Connection, owner: str, events: Sequence[Event]) -> int:
    """Record events of one user, each once; how many of them are new."""
    now = conn.clock.now()
    new = sum(
        conn.run(
            "INSERT OR IGNORE INTO webhook (id, owner, type, occasion, data, created_at, due_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(conn.new_id(), owner, event.type, event.occasion, as_json(event.data), rfc3339(now), now),
        )
        for event in events
    )
    if new:
        conn.run(
            "DELETE FROM webhook WHERE owner = ?1 AND seq NOT IN"
            f" (SELECT seq FROM webhook WHERE owner = ?1 ORDER BY seq DESC LIMIT {_MOST_OF_USER})",
            owner,
        )
    return new


def due(conn: Connection) -> list[DueEvent]:
    """A few events that are due, the oldest one of each user, so that nobody's events keep another's waiting."""
    now = conn.clock.now()
    return _due.all(
        conn,
        "FROM webhook JOIN roster USING (owner) WHERE seq IN (SELECT min(seq) FROM webhook"
        # What is due much later was recorded before the clock was set back.
        f" WHERE due_at <= ? OR due_at > ? GROUP BY owner) ORDER BY due_at, seq LIMIT {_AT_ONCE}",
        *(now, now + 2 * WAITS_SECONDS[-1]),
    )


def settle(conn: Connection, event: DueEvent, *, delivered: bool) -> bool:
    """Record how an attempt ended. Returns whether the event was given up."""
    is_over = delivered or event.attempts >= len(WAITS_SECONDS)
    now = conn.clock.now()
    due_at = None if is_over else now + WAITS_SECONDS[event.attempts]
    conn.run("UPDATE webhook SET attempts = attempts + 1, due_at = ? WHERE id = ?", due_at, event.id)
    conn.run("DELETE FROM webhook WHERE due_at IS NULL AND created_at < ?", rfc3339(now - KEPT_SECONDS))
    return is_over and not delivered
