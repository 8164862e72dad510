"""Numbered SQL migrations, run inside one transaction when a database is opened, recorded in `user_version`.

The number of a new one is above every number that was ever shipped: a database remembers the last number only.
"""

from functools import cache
from importlib import resources

import apsw

from carrel.errors import Unavailable
from carrel.kit.database import Connection, transaction


class NewerDatabase(Unavailable):
    """The file was written by a newer program. It was not touched."""

    code = "database-newer"
    detail = "The database was written by a newer version of the service; it was left untouched."


@cache
def load(package: str) -> tuple[tuple[int, str], ...]:
    """The migrations in `package`: files `NNNN_name.sql`, as (number, SQL), ascending."""
    files = (entry for entry in resources.files(package).iterdir() if entry.name.endswith(".sql"))
    return tuple(sorted((int(entry.name[:4]), entry.read_text(encoding="utf-8")) for entry in files))


def migrate(connection: Connection, package: str) -> None:
    """Bring the database up to date in one transaction.

    Raises:
        NewerDatabase: its version is beyond the program's.
    """
    migrations = load(package)
    row = connection.one("PRAGMA user_version")
    version = row[0] if row else 0
    latest = migrations[-1][0]
    if version > latest:
        raise NewerDatabase
    if version == latest:
        return
    with transaction(connection):
        for number, sql in migrations:
            if number > version:
                connection.execute(sql).fetchall()
        connection.execute(f"PRAGMA user_version = {latest}").fetchall()


def is_current(connection: apsw.Connection, package: str) -> bool:
    """Whether there is nothing to migrate."""
    return bool(connection.pragma("user_version") == load(package)[-1][0])
