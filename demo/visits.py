"""Who is signed in on the website: a random cookie, of which the database has the hash, with an end.

A visit rests on the password that was typed. When that one does not count any more, the visit is over.
"""

import hashlib
import secrets
import sqlite3
from typing import Final

from demo import users
from demo.refusals import PasswordReplaced
from demo.users import User

LONGEST_SECONDS: Final = 7 * 24 * 3600
IDLE_SECONDS: Final = 12 * 3600
_NOTED_EVERY_SECONDS: Final = 300


def new_id() -> str:
    """A cookie's value, which nobody can guess."""
    return secrets.token_urlsafe(32)


def begin(conn: sqlite3.Connection, visit_id: str, password_id: int, now: int) -> None:
    """Whoever has shown this password is signed in under this cookie.

    Raises:
        PasswordReplaced: it has been changed, or the account deleted, since it was looked at.
    """
    conn.execute("DELETE FROM signed_in WHERE began_at < ? OR used_at < ?", (now - LONGEST_SECONDS, now - IDLE_SECONDS))
    began = conn.execute(
        "INSERT INTO signed_in (id_hash, password, began_at, used_at) SELECT ?, id, ?, ? FROM passwords WHERE id = ?",
        (_hash(visit_id), now, now, password_id),
    )
    if not began.rowcount:
        raise PasswordReplaced


def user_of(conn: sqlite3.Connection, visit_id: str, now: int) -> User | None:
    """Who is signed in under this cookie, if anybody still is."""
    row = conn.execute(
        "SELECT uuid, began_at, used_at FROM signed_in JOIN passwords ON id = password WHERE id_hash = ?",
        (_hash(visit_id),),
    ).fetchone()
    if row is None or now - row[1] >= LONGEST_SECONDS or now - row[2] >= IDLE_SECONDS:
        return None
    if now - row[2] >= _NOTED_EVERY_SECONDS:
        conn.execute("UPDATE signed_in SET used_at = ? WHERE id_hash = ?", (now, _hash(visit_id)))
    return users.by_uuid(conn, row[0])


def end(conn: sqlite3.Connection, visit_id: str) -> None:
    """Signed out."""
    conn.execute("DELETE FROM signed_in WHERE id_hash = ?", (_hash(visit_id),))


def end_all(conn: sqlite3.Connection, uuid: str) -> None:
    """Signed out everywhere."""
    conn.execute("DELETE FROM signed_in WHERE password IN (SELECT id FROM passwords WHERE uuid = ?)", (uuid,))


def _hash(visit_id: str) -> bytes:
    return hashlib.sha256(visit_id.encode()).digest()
