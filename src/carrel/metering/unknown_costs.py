"""Who pays for calls whose cost nobody knows, although credits were to pay for them.

The service was killed meanwhile, the connection broke off, or the provider counted no tokens. The host bears such calls
up to a bound for each UTC day, as much as was held back for them. The user is charged what goes beyond it. The host
also bears what a call cost above its hold. That counts towards the bound, too.
"""

from collections.abc import Collection, Sequence

from carrel.kit.sqlite.database import Connection

_UNDECIDED = "reservation IS NOT NULL AND charged_micros IS NULL"


def any_undecided(conn: Connection) -> bool:
    """Whether a call has ended whose charge is not decided."""
    return conn.one(f"SELECT 1 FROM calls WHERE {_UNDECIDED} AND outcome <> 'running' LIMIT 1") is not None


def decide(conn: Connection, most_micros: int, held: Collection[str], *, are_all: bool = False) -> bool:
    """Decide the charge of every ended call that has none, in order. `most_micros` is what the host bears in a day.

    `held` are reservations of the account; calls with others are left alone. If they `are_all`, such a call was never
    made: the process died between its row and its reservation. It costs nobody anything.

    Returns whether the host has borne that much on the day of one of these calls.
    """
    rows = conn.all(
        "SELECT seq, substr(finished_at, 1, 10), reserved_micros, borne_micros, reservation FROM calls"
        f" WHERE {_UNDECIDED} AND outcome <> 'running' ORDER BY seq"
    )
    reached = False
    for seq, day, reserved, overrun, reservation in rows:
        if reservation not in held:
            if are_all:
                conn.run("UPDATE calls SET charged_micros = 0, borne_micros = 0 WHERE seq = ?", seq)
            continue
        borne = overrun or min(reserved, max(0, most_micros - _borne_on(conn, day)))
        charged = reserved if overrun else reserved - borne
        conn.run("UPDATE calls SET charged_micros = ?, borne_micros = ? WHERE seq = ?", charged, borne, seq)
        reached = reached or _borne_on(conn, day) >= most_micros
    return reached


def borne(conn: Connection) -> Sequence[tuple[str, int, int]]:
    """What the host bore on each day: the day, the number of calls, and credits in millionths."""
    return conn.all(
        "SELECT substr(finished_at, 1, 10), count(*), sum(borne_micros) FROM calls WHERE borne_micros > 0"
        " GROUP BY substr(finished_at, 1, 10)"
    )


def _borne_on(conn: Connection, day: str) -> int:
    micros: int = conn.value(
        "SELECT coalesce(sum(borne_micros), 0) FROM calls WHERE borne_micros > 0 AND substr(finished_at, 1, 10) = ?",
        day,
    )
    return micros
