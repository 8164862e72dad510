"""What a workspace says about its user."""

from carrel.kit.sqlite.database import Connection
from carrel.users.schemas import UserCounts


def counts(conn: Connection) -> UserCounts:
    """The number of contents, presets and runs; trials do not count."""
    row = conn.one(
        "SELECT (SELECT count(*) FROM contents), (SELECT count(*) FROM presets),"
        " (SELECT count(*) FROM runs WHERE trial = 0)"
    )
    return UserCounts(*row) if row else UserCounts(0, 0, 0)
