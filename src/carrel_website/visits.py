"""Visits: who is signed in on the website. The cookie is random, and the database holds its hash.

A visit ends after a time, and when the password that began it is replaced.
"""

import hashlib
import secrets
import sqlite3
from typing import Final

from carrel_website import users
from carrel_website.refusals import PasswordReplaced
from carrel_website.users import User

LONGEST_SECONDS: Final = 7 * 24 * 3600
IDLE_SECONDS: Final = 12 * 3600
_NOTED_EVERY_SECONDS: Final = 300


def new_id() -> str:
    """A value for the cookie that nobody can guess."""
    return secrets.token_urlsafe(32)


def begin(conn: sqlite3.Connection, visit_id: str, password_id: int, now: int) -> None:
    """Sign in the user of this password under this cookie.

    Raises:
        PasswordReplaced: the password was changed, or the account deleted, since the password was checked.
    """
    conn.execute("DELETE FROM signed_in WHERE began_at < ? OR used_at < ?", (now - LONGEST_SECONDS, now - IDLE_SECONDS))
    conn.execute("DELETE FROM visits_of_deleted WHERE began_at < ?", (now - LONGEST_SECONDS,))
    began = conn.execute(
        "INSERT INTO signed_in (id_hash, password, began_at, used_at) SELECT ?, id, ?, ? FROM passwords WHERE id = ?",
        (_hash(visit_id), now, now, password_id),
    )
    if not began.rowcount:
        raise PasswordReplaced


def user_of(conn: sqlite3.Connection, visit_id: str, now: int) -> User | None:
    """The user who is signed in under this cookie, if the visit has not ended."""
    row = conn.execute(
        "SELECT uuid, began_at, used_at FROM signed_in JOIN passwords ON id = password WHERE id_hash = ?",
        (_hash(visit_id),),
    ).fetchone()
    if row is None or now - row[1] >= LONGEST_SECONDS or now - row[2] >= IDLE_SECONDS:
        return None
    if now - row[2] >= _NOTED_EVERY_SECONDS:
        conn.execute("UPDATE signed_in SET used_at = ? WHERE id_hash = ?", (now, _hash(visit_id)))
    return users.by_uuid(conn, row[0])


def is_of_deleted(conn: sqlite3.Connection, visit_id: str) -> bool:
    """Whether the visit of this cookie ended because its user deleted the account."""
    row = conn.execute("SELECT 1 FROM visits_of_deleted WHERE id_hash = ?", (_hash(visit_id),)).fetchone()
    return row is not None


def end(conn: sqlite3.Connection, visit_id: str) -> None:
    """Sign out this browser."""
    conn.execute("DELETE FROM signed_in WHERE id_hash = ?", (_hash(visit_id),))


def end_all(conn: sqlite3.Connection, uuid: str) -> None:
    """Sign out the user everywhere."""
    conn.execute("DELETE FROM signed_in WHERE password IN (SELECT id FROM passwords WHERE uuid = ?)", (uuid,))


def _hash(visit_id: str) -> bytes:
    return hashlib.sha256(visit_id.encode()).digest()
