"""Numbered SQL migrations, run inside one transaction when a database is opened, recorded in `user_version`.

A new number must be above every number that was ever released, because a database remembers only its last number.

SQLite cannot put a column before another one: the table is made anew. A migration only makes and fills
`<table>_rebuilt`; that table then takes the place of `<table>`. No migration drops a table that others refer to:
`DROP TABLE` deletes what refers to its rows as well (`ON DELETE CASCADE`).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib import resources

import apsw

from carrel.errors import Unavailable
from carrel.kit.sqlite.database import Connection, transaction

_COMMENT = re.compile(r"\s*--.*")
"""No migration has two hyphens in a string."""
_REBUILT = "_rebuilt"
Migrations = tuple[tuple[int, str], ...]
_TABLES_REBUILT = f"SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '*{_REBUILT}'"


class NewerDatabase(Unavailable):
    """A newer program wrote the file. This program did not change it."""

    code = "database-newer"
    detail = "The database was written by a newer version of the service; it was left untouched."


@cache
def load(package: str) -> Migrations:
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

    A rebuilt table keeps its indexes, its triggers, and the numbers that `AUTOINCREMENT` has given.

    Raises:
        NewerDatabase: its version is beyond the program's.
        apsw.ConstraintError: a rebuilt table lacks rows that others refer to. Nothing was changed.
    """
    refuse_newer(connection, package)
    if is_current(connection, package):
        return
    before = _version(connection)
    rebuilds = before > 0 and any(_REBUILT in sql for number, sql in load(package) if number > before)
    with _rebuilding(connection) if rebuilds else nullcontext(), transaction(connection):
        # Read the version again, because another connection may have migrated while this one waited to begin.
        version = _version(connection)
        whole = "" if version else all_at_once(load(package))
        if whole:
            connection.execute(whole).fetchall()
        else:
            _step(connection, load(package), version)
        connection.execute(f"PRAGMA user_version = {latest(package)}").fetchall()
        if rebuilds and connection.one("PRAGMA foreign_key_check") is not None:
            raise apsw.ConstraintError("a migration has lost rows that others refer to")


def _step(connection: Connection, migrations: Migrations, version: int) -> None:
    for number, sql in migrations:
        if number > version:
            connection.execute(sql).fetchall()
            for name in connection.column(_TABLES_REBUILT):
                _put_in_place(connection, name)


@cache
def all_at_once(migrations: Migrations) -> str:
    """SQL that makes a new database at once: what all migrations, one after the other, make of an empty one.

    It takes a quarter of their time. Empty if they leave rows in a table.
    """
    made = Connection(":memory:")
    made.pragma("foreign_keys", False)
    made.pragma("legacy_alter_table", True)
    _step(made, migrations, 0)
    found = made.all("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
    virtual = tuple(f"{name}_" for _, name, sql in found if sql.startswith("CREATE VIRTUAL TABLE"))
    # A virtual table makes the tables in which it stores by itself.
    stored = {name for kind, name, _ in found if kind == "table" and name.startswith((*virtual, "sqlite_"))}
    tables = [name for kind, name, sql in found if kind == "table" and name not in stored]
    if any(made.one(f"SELECT 1 FROM {name} LIMIT 1") for name in tables):
        return ""
    return ";\n".join(sql for _, name, sql in found if name not in stored)


@contextmanager
def _rebuilding(connection: Connection) -> Iterator[None]:
    """SQLite's documentation of ALTER TABLE (section 7) asks for this. The file may double meanwhile."""
    pages = connection.pragma("max_page_count")
    connection.pragma("foreign_keys", False)
    # Otherwise the renaming fails at the triggers of other tables, which name one that is not there for a moment.
    connection.pragma("legacy_alter_table", True)
    connection.pragma("max_page_count", 2 * pages)
    try:
        yield
        connection.execute("PRAGMA incremental_vacuum").fetchall()
    finally:
        connection.pragma("max_page_count", pages)
        connection.pragma("legacy_alter_table", False)
        connection.pragma("foreign_keys", True)


def _put_in_place(connection: Connection, rebuilt: str) -> None:
    table = rebuilt.removesuffix(_REBUILT)
    belonging = connection.column(
        "SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND type <> 'table' AND sql IS NOT NULL ORDER BY rowid", table
    )
    connection.run("DELETE FROM sqlite_sequence WHERE name = ?", rebuilt)
    connection.run("UPDATE sqlite_sequence SET name = ? WHERE name = ?", rebuilt, table)
    connection.run(f"DROP TABLE {table}")
    connection.run(f"ALTER TABLE {rebuilt} RENAME TO {table}")
    for sql in belonging:
        connection.run(sql)


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
