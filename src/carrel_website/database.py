"""The website's own database: SQLite in one file, one connection for each transaction."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_SCHEMA: Final = (Path(__file__).parent / "schema.sql").read_text(encoding="utf-8")


class Database:
    """One file. A transaction (`begin`) happens completely or not at all, and is on the disk afterwards."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._connected() as conn:
            conn.execute("PRAGMA journal_mode = WAL")
            conn.executescript(_SCHEMA)
            if any(column[1] == "desk_made" for column in conn.execute("PRAGMA table_info(users)")):
                # The name that earlier versions gave it.
                conn.execute("ALTER TABLE users RENAME COLUMN desk_made TO workspace_made")

    @contextmanager
    def begin(self) -> Iterator[sqlite3.Connection]:
        """A transaction that ends with the block. An exception rolls it back."""
        with self._connected() as conn:
            conn.execute("BEGIN IMMEDIATE")
            try:
                yield conn
            except BaseException:
                conn.execute("ROLLBACK")
                raise
            conn.execute("COMMIT")

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        conn = sqlite3.connect(self._path, timeout=10.0, isolation_level=None)
        try:
            conn.execute("PRAGMA synchronous = FULL")
            conn.execute("PRAGMA foreign_keys = ON")
            yield conn
        finally:
            conn.close()
