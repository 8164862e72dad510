"""What a workspace says about its user."""

from carrel.kit.sqlite.database import Connection
from carrel.users.schemas import Counts


def counts(conn: Connection) -> Counts:
    """The number of contents, presets and runs."""
    row = conn.one(
        "SELECT (SELECT count(*) FROM contents), (SELECT count(*) FROM presets), (SELECT count(*) FROM runs)"
    )
    return Counts(*row) if row else Counts(0, 0, 0)
