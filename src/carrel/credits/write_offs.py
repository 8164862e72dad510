"""What the host bore of its users' calls, in `service.db`: sums by user and UTC day.

The rows of a user's calls are the source. Each record replaces the earlier sums of its days, so nothing counts twice.
"""

from collections.abc import Iterable

from carrel.credits.schemas import WriteOff, WriteOffs, WriteOffSum
from carrel.errors import BadInput
from carrel.kit.clock import date_of
from carrel.kit.money import text_of
from carrel.kit.sqlite.database import Connection

_LISTED_DAYS = 400
"""The newest days that a report lists: a year and a month. The total is of every day that was asked for."""


def record(conn: Connection, owner: str, sums: Iterable[tuple[str, int, int]]) -> None:
    """Record what the host bore of one user's calls: days with the number of calls, and millionths of credits."""
    for day, calls, micros in sums:
        conn.run("INSERT OR REPLACE INTO write_off VALUES (?, ?, ?, ?)", owner, day, calls, micros)


def report(conn: Connection, since: str | None, until: str | None, owner: str | None) -> WriteOffs:
    """The sums of the days from `since` to before `until`, newest first; of one user, or of all.

    Raises:
        BadInput: a day is not a date.
    """
    where = "(?1 IS NULL OR day >= ?1) AND (?2 IS NULL OR day < ?2) AND (?3 IS NULL OR owner = ?3)"
    asked = (_day("from", since), _day("to", until), owner)
    sums = "coalesce(sum(calls), 0), coalesce(sum(amount_micros), 0)"
    days = conn.all(
        f"SELECT day, {sums} FROM write_off WHERE {where} GROUP BY day ORDER BY day DESC LIMIT {_LISTED_DAYS}", *asked
    )
    [(calls, micros)] = conn.all(f"SELECT {sums} FROM write_off WHERE {where}", *asked)
    return WriteOffs(
        [WriteOff(day, calls, text_of(micros)) for day, calls, micros in days], WriteOffSum(calls, text_of(micros))
    )


def _day(path: str, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return date_of(text).isoformat()
    except ValueError:
        raise BadInput.at(path, "must be a date such as 2026-11-21") from None
