"""How many calls of models a user may make on one UTC day, where the operator limits them."""

from typing import Final

from carrel.errors import CarrelError
from carrel.kit.sqlite.database import Connection

_DAY_SECONDS: Final = 86_400
_ENDS: Final = """
SELECT (SELECT seq FROM calls WHERE started_at >= ? ORDER BY started_at, seq LIMIT 1), (SELECT max(seq) FROM calls)
"""
"""The first call of a day and the last of all; calls that were withdrawn leave gaps between them."""


class CallsUsedUp(CarrelError):
    """The user has made as many calls today as the operator allows."""

    status = 429
    code = "calls-used-up"
    detail = "The operator allows this user no more calls of models today; see Retry-After."


def is_used_up(conn: Connection, per_day: int | None) -> bool:
    """Whether no call may begin before midnight. Built-in models count, too; `None` is any number."""
    if per_day is None or per_day == 0:
        return per_day == 0
    today = conn.now()[: len("2026-11-27")]
    first, last = conn.all(_ENDS, today)[0]
    # Nobody counts the day's calls before there can be as many: each call asks, and most days stay below.
    if first is None or last - first + 1 < per_day:
        return False
    return conn.one("SELECT 1 FROM calls WHERE started_at >= ? LIMIT 1 OFFSET ?", today, per_day - 1) is not None


def require(conn: Connection, per_day: int | None) -> None:
    """Refuse a call that is one too many.

    Raises:
        CallsUsedUp
    """
    if is_used_up(conn, per_day):
        raise CallsUsedUp(retry_after_seconds=_DAY_SECONDS - int(conn.clock.now()) % _DAY_SECONDS)
