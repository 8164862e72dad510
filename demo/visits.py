"""Who is signed in on the website: a random cookie, of which the database has the hash, with an end."""

import hashlib
import secrets
import sqlite3
from typing import Final

from demo import users
from demo.users import User

LONGEST_SECONDS: Final = 7 * 24 * 3600
IDLE_SECONDS: Final = 12 * 3600
_NOTED_EVERY_SECONDS: Final = 300


def new_id() -> str:
    """A cookie's value, which nobody can guess."""
    return secrets.token_urlsafe(32)


def begin(conn: sqlite3.Connection, visit_id: str, uuid: str, now: int) -> None:
    """The user is signed in under this cookie."""
    conn.execute("DELETE FROM visits WHERE began_at < ? OR used_at < ?", (now - LONGEST_SECONDS, now - IDLE_SECONDS))
    conn.execute(
        "INSERT INTO visits (id_hash, uuid, began_at, used_at) VALUES (?, ?, ?, ?)", (_hash(visit_id), uuid, now, now)
    )


def user_of(conn: sqlite3.Connection, visit_id: str, now: int) -> User | None:
    """Who is signed in under this cookie, if anybody still is."""
    row = conn.execute("SELECT uuid, began_at, used_at FROM visits WHERE id_hash = ?", (_hash(visit_id),)).fetchone()
    if row is None or now - row[1] >= LONGEST_SECONDS or now - row[2] >= IDLE_SECONDS:
        return None
    if now - row[2] >= _NOTED_EVERY_SECONDS:
        conn.execute("UPDATE visits SET used_at = ? WHERE id_hash = ?", (now, _hash(visit_id)))
    return users.by_uuid(conn, row[0])


def end(conn: sqlite3.Connection, visit_id: str) -> None:
    """Signed out."""
    conn.execute("DELETE FROM visits WHERE id_hash = ?", (_hash(visit_id),))


def end_all(conn: sqlite3.Connection, uuid: str) -> None:
    """Signed out everywhere."""
    conn.execute("DELETE FROM visits WHERE uuid = ?", (uuid,))


def _hash(visit_id: str) -> bytes:
    return hashlib.sha256(visit_id.encode()).digest()
