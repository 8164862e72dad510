"""Keys and rows for tests of the vault."""

import hashlib
from pathlib import Path

import apsw

from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection
from carrel.vault import files
from carrel.vault.files import Format
from carrel.vault.keyring import UserUuid

ALICE = UserUuid("alice")
BOB = UserUuid("bob")


def key_of(name: str) -> bytearray:
    """A key of its own for each name; a fresh copy each time, since keys are wiped after use."""
    return bytearray(hashlib.sha256(name.encode()).digest())


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but the shared-memory index, which is rebuilt from the log and holds no data."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if not file.name.endswith("-shm")}


def add_table(conn: Connection) -> None:
    conn.run("CREATE TABLE IF NOT EXISTS t (a INTEGER PRIMARY KEY, b TEXT) STRICT")


def add_row(conn: Connection, number: int, text: str = "") -> int:
    conn.run("INSERT INTO t VALUES (?, ?)", number, text)
    return number


def rows(conn: Connection) -> list[int]:
    return [number for (number,) in conn.all("SELECT a FROM t ORDER BY a")]


def make_workspace(
    path: Path, key: bytearray, uuid: UserUuid, form: Format, *, count: int = 20, text: str = ""
) -> None:
    """A closed workspace with rows 0 … count − 1."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files.create(path, key, uuid, form)
    conn = files.open_workspace(path, key, uuid, form, readonly=False)
    add_table(conn)
    with database.transaction(conn):
        for number in range(count):
            add_row(conn, number, text)
    database.close(conn)


def look_inside(path: Path, key: bytearray, uuid: UserUuid, form: Format) -> list[int] | None:
    """The rows as a fresh process finds them; `None` when the key does not open the file."""
    try:
        conn = files.open_workspace(path, key, uuid, form, readonly=False)
    except database.KeyRejected:
        return None
    try:
        if conn.one("PRAGMA integrity_check") != ("ok",):
            raise AssertionError("the database is damaged")
        return rows(conn)
    except apsw.SQLError:
        return []
    finally:
        database.close(conn)
