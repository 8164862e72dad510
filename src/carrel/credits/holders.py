"""The users whose accounts may hold credits back, in `service.db`."""

from typing import NamedTuple

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.vault.keyring import UserUuid


class Holder(NamedTuple):
    """A user, and the user's folder as the service's own records name it."""

    owner: str
    uuid: UserUuid


_holders = Select(Holder)


def add(conn: Connection, owner: str, uuid: UserUuid) -> None:
    """Record that the user's account may hold credits back from now on."""
    conn.run("INSERT OR IGNORE INTO holder (owner, uuid) VALUES (?, ?)", owner, uuid)


def remove(conn: Connection, owner: str) -> None:
    """Record that it holds none."""
    conn.run("DELETE FROM holder WHERE owner = ?", owner)


def listed(conn: Connection) -> list[Holder]:
    """All of them."""
    return _holders.all(conn, "FROM holder ORDER BY owner")
