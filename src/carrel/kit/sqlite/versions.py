"""Versions of rows that may be removed and made again under the same name. They count on over removed rows.

So a row that is made again never has a version that somebody saw of an earlier one. Its table has the columns `seq`,
which is never given out twice (`AUTOINCREMENT`), and `version`.
"""

from typing import Final

from carrel.kit.sqlite.database import Connection

VERSION: Final = "(seq << 20) + version"
"""The version of a row, in SQL."""
NO_ROW: Final = 0
"""The version of what has no row."""


def version_of(conn: Connection, table: str, name: str, value: str) -> int:
    """The version of the row whose column `name` has this value; `NO_ROW` without one."""
    version: int | None = conn.value(f"SELECT {VERSION} FROM {table} WHERE {name} = ?", value)
    return NO_ROW if version is None else version
