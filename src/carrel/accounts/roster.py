"""The users of this service in `service.db`: whose each folder is, and whether a rotation of the key is under way."""

from typing import Final

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, encode

NAMING_FOLDERS: Final = ("roster", "shared_log", "write_off", "holder", "webhook")
"""The tables that name users by their folders and outlive a rotation."""
_NAME: Final = slice(5, 19)
"""The first 56 bits of a folder's name, after its slot: as good as random."""


def add(conn: Connection, owner: str, uuid: str) -> None:
    """Note whose folder this is. Nothing is written if that is known."""
    if conn.one("SELECT 1 FROM roster WHERE owner = ?", owner) is None:
        conn.run("INSERT INTO roster VALUES (?, ?)", owner, uuid)


def uuids(conn: Connection) -> list[str]:
    """Every user who was created, or has signed in, since the service keeps this list."""
    return conn.column("SELECT uuid FROM roster ORDER BY uuid")


def listed(conn: Connection, paging: Paging) -> Page[str]:
    """The uuids in an order that does not change while users come and go."""
    rows = sorted((int(name[_NAME], 16), uuid) for name, uuid in conn.all("SELECT owner, uuid FROM roster"))
    beyond = [row for row in rows if paging.after is None or row[0] > paging.after]
    page = beyond[: paging.limit]
    return Page([uuid for _, uuid in page], encode(page[-1][0]) if len(page) < len(beyond) else None)


def count(conn: Connection) -> int:
    """How many there are."""
    users: int = conn.value("SELECT count(*) FROM roster")
    return users


def rename(conn: Connection, before: str, after: str) -> None:
    """Note that the folder has another name, wherever the service names folders."""
    for table in NAMING_FOLDERS:
        conn.run(f"UPDATE {table} SET owner = ? WHERE owner = ?", after, before)


def begin_rotation(conn: Connection) -> None:
    """From now on the service does not start."""
    conn.run("INSERT OR IGNORE INTO rotation VALUES (1)")


def end_rotation(conn: Connection) -> None:
    """The service may start again."""
    conn.run("DELETE FROM rotation")


def is_rotating(conn: Connection) -> bool:
    """Whether a rotation was begun and has not ended."""
    return conn.one("SELECT 1 FROM rotation") is not None
