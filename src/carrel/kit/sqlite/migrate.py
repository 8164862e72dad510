"""Numbered SQL migrations, run inside one transaction when a database is opened, recorded in `user_version`.

A new number must be above every number that was ever released, because a database remembers only its last number.
"""

import re
from functools import cache
from importlib import resources

import apsw

from carrel.errors import Unavailable
from carrel.kit.sqlite.database import Connection, transaction

_COMMENT = re.compile(r"\s*--.*")
"""No migration has two hyphens in a string."""


class NewerDatabase(Unavailable):
    """A newer program wrote the file. This program did not change it."""

    code = "database-newer"
    detail = "The database was written by a newer version of the service; it was left untouched."


@cache
def load(package: str) -> tuple[tuple[int, str], ...]:
    """The migrations in `package`: files `NNNN_name.sql`, as (number, SQL), ascending.

    The SQL has no comments, because SQLite would store those inside a statement and parse them whenever it opens the
    file.
    """
    files = (entry for entry in resources.files(package).iterdir() if entry.name.endswith(".sql"))
    return tuple(sorted((int(entry.name[:4]), _COMMENT.sub("", entry.read_text(encoding="utf-8"))) for entry in files))


def latest(package: str) -> int:
    """The version of a database with every migration in `package`."""
    return load(package)[-1][0]


def migrate(connection: Connection, package: str) -> None:
    """Bring the database up to date in one transaction.

    Raises:
        NewerDatabase: its version is beyond the program's.
    """
    refuse_newer(connection, package)
    if is_current(connection, package):
        return
    with transaction(connection):
        # Read the version again, because another connection may have migrated while this one waited to begin.
        version = _version(connection)
        for number, sql in load(package):
            if number > version:
                connection.execute(sql).fetchall()
        connection.execute(f"PRAGMA user_version = {latest(package)}").fetchall()


def refuse_newer(connection: apsw.Connection, package: str) -> None:
    """Refuse a database that a newer program wrote.

    Raises:
        NewerDatabase: its version is beyond the program's.
    """
    if _version(connection) > latest(package):
        raise NewerDatabase


def is_current(connection: apsw.Connection, package: str) -> bool:
    """Whether there is nothing to migrate."""
    return _version(connection) == latest(package)


def _version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))
