"""How far the clock had gone when tokens were issued, in `service.db`: what a later process must know to revoke them.

A token bears no mark of the process that issued it, and the clock of the next one may be behind.
"""

from typing import Final

from carrel.kit.sqlite.database import Connection

_AHEAD_SECONDS: Final = 90


def latest(conn: Connection) -> int:
    """The epoch second that no token's time of issue was beyond; 0 before the first."""
    row = conn.one("SELECT latest FROM issuance")
    return row[0] if row else 0


def ended(conn: Connection) -> int:
    """The epoch second before which everybody's sessions are over; 0 if nothing was ever restored."""
    row = conn.one("SELECT ended FROM issuance")
    return row[0] if row else 0


def end_all(conn: Connection) -> None:
    """End everybody's sessions up to now, and those that the last process may have issued in what is the future now.

    After a crash, tokens that a rekey gives out begin up to a minute ahead of the clock, and each further one a second.
    """
    after = max(int(conn.clock.now()), latest(conn)) + _AHEAD_SECONDS
    conn.run(
        "INSERT INTO issuance (id, latest, ended) VALUES (1, ?1, ?1)"
        " ON CONFLICT (id) DO UPDATE SET latest = ?1, ended = ?1",
        after,
    )


def record(conn: Connection, epoch_second: int) -> None:
    """Allow tokens up to this second, or say at the end that there were none beyond it."""
    conn.run(
        "INSERT INTO issuance (id, latest) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET latest = ?1", epoch_second
    )
