"""The website's own database: data of an earlier version stays usable."""

import sqlite3
from pathlib import Path

from carrel_website import users
from carrel_website.database import Database


def test_a_column_of_an_earlier_version_is_renamed_and_keeps_its_values(tmp_path: Path) -> None:
    path = tmp_path / "website.db"
    database = Database(path)
    with database.begin() as conn:
        users.create(conn, "reader-0001", "reader@example.org", "a hash", 1)
        conn.execute("UPDATE users SET workspace_made = 1")
    with sqlite3.connect(path) as conn:
        conn.execute("ALTER TABLE users RENAME COLUMN workspace_made TO desk_made")
    for _ in range(2):
        with Database(path).begin() as conn:
            user = users.by_uuid(conn, "reader-0001")
        assert user is not None
        assert user.workspace_made
