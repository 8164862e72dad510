"""Calls outside of runs whose end was not recorded: the process died, or the user's key was gone by then."""

from collections.abc import Collection

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.json_text import as_json


def any_left(conn: Connection, live: Collection[str]) -> bool:
    """Whether calls outside of runs are recorded as running that are not among `live`."""
    rows = conn.all("SELECT id FROM calls WHERE run_id IS NULL AND outcome = 'running' LIMIT ?", len(live) + 1)
    return any(call_id not in live for (call_id,) in rows)


def abandon(conn: Connection, live: Collection[str]) -> None:
    """Mark running calls outside of runs as `unknown-outcome`, except those in `live`."""
    conn.run(
        "UPDATE calls SET outcome = 'unknown-outcome', finished_at = ? WHERE run_id IS NULL AND outcome = 'running'"
        " AND id NOT IN (SELECT value FROM json_each(?))",
        *(conn.now(), as_json(list(live))),
    )
