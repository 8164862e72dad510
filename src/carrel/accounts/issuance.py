"""The latest time of issue of all tokens, in `service.db`: a later process needs it to revoke them.

A token does not name the process that issued it, and the clock of the next process may be behind.
"""

from typing import Final, NamedTuple

from carrel.kit.sqlite.database import Connection

_AHEAD_SECONDS: Final = 90


class IssuanceTimes(NamedTuple):
    """Epoch seconds: no token was issued later than `latest`, and every session from before `ended` is over."""

    latest: int
    ended: int


def latest(conn: Connection) -> int:
    """The epoch second that no token's time of issue exceeds; 0 before the first token."""
    return conn.value("SELECT latest FROM issuance") or 0


def ended(conn: Connection) -> int:
    """The epoch second before which every session is over; 0 if nobody ever restored a backup."""
    return conn.value("SELECT ended FROM issuance") or 0


def end_all(conn: Connection) -> None:
    """End every session up to now, and those that the last process may have issued ahead of the present clock.

    After a crash, a token that a rekey issues begins up to a minute ahead of the clock, and each further one a second
    later.
    """
    slots = conn.value("SELECT max(latest) FROM slot_issuance") or 0
    after = max(int(conn.clock.now()), latest(conn), slots) + _AHEAD_SECONDS
    conn.run(
        "INSERT INTO issuance (id, latest, ended) VALUES (1, ?1, ?1)"
        " ON CONFLICT (id) DO UPDATE SET latest = ?1, ended = ?1",
        after,
    )
    conn.run("DELETE FROM slot_issuance")


def of_slots(conn: Connection) -> dict[int, IssuanceTimes]:
    """What holds besides for the users of slots that came from other nodes; `ended` replaces the one of all."""
    return {slot: IssuanceTimes(latest, ended) for slot, latest, ended in conn.all("SELECT * FROM slot_issuance")}


def record_slot(conn: Connection, slot: int, issued: IssuanceTimes) -> None:
    """Record what the node that had the slot before says."""
    conn.run("INSERT OR REPLACE INTO slot_issuance VALUES (?, ?, ?)", slot, issued.latest, issued.ended)


def record(conn: Connection, epoch_second: int) -> None:
    """Allow tokens up to this second; at the end of the process, record that there were none beyond it."""
    conn.run(
        "INSERT INTO issuance (id, latest) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET latest = ?1", epoch_second
    )
