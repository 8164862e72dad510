"""The users of the website, and the hashes of the passwords that each may have."""

import sqlite3
from dataclasses import dataclass
from typing import Literal, TypeAlias

Plan: TypeAlias = Literal["free", "paid"]
State: TypeAlias = Literal["active", "starting-anew", "deleting"]


class EmailTaken(Exception):
    """There is an account with this address."""


@dataclass(frozen=True, slots=True)
class Password:
    """The hash of a password. It is `pending` until the service has re-encrypted the workspace for it."""

    id: int
    hash: str
    sealed_key: bytes | None
    pending: bool
    by_reset: bool
    """Set with a reset link, without the old password."""


@dataclass(frozen=True, slots=True)
class User:
    """A user. `uuid` never changes: it is the salt of the workspace's key."""

    uuid: str
    email: str
    plan: Plan
    state: State
    workspace_made: bool
    recovery_public: bytes | None
    passwords: tuple[Password, ...]

    @property
    def in_doubt(self) -> bool:
        """Whether a change of the password began and its outcome is not known yet."""
        return any(password.pending for password in self.passwords)


def create(conn: sqlite3.Connection, uuid: str, email: str, password_hash: str, now: int) -> int:
    """Add a user, whose workspace does not exist yet. Returns the id of the password.

    Raises:
        EmailTaken
    """
    try:
        conn.execute(
            "INSERT INTO users (uuid, email, plan, state, created_at) VALUES (?, ?, 'paid', 'active', ?)",
            (uuid, email, now),
        )
    except sqlite3.IntegrityError:
        raise EmailTaken from None
    return _insert(conn, uuid, password_hash, None, pending=False, by_reset=False)


def by_email(conn: sqlite3.Connection, email: str) -> User | None:
    """The user with this address, in whatever case it was typed."""
    row = conn.execute("SELECT uuid FROM users WHERE email = ?", (email,)).fetchone()
    return None if row is None else by_uuid(conn, row[0])


def by_uuid(conn: sqlite3.Connection, uuid: str) -> User | None:
    """The user, if there still is one."""
    row = conn.execute(
        "SELECT uuid, email, plan, state, workspace_made, recovery_public FROM users WHERE uuid = ?", (uuid,)
    ).fetchone()
    if row is None:
        return None
    passwords = conn.execute(
        "SELECT id, hash, sealed_key, pending, by_reset FROM passwords WHERE uuid = ? ORDER BY id", (uuid,)
    ).fetchall()
    return User(
        uuid=row[0],
        email=row[1],
        plan=row[2],
        state=row[3],
        workspace_made=bool(row[4]),
        recovery_public=row[5],
        passwords=tuple(
            Password(row_id, argon2, sealed, bool(pending), bool(by_reset))
            for row_id, argon2, sealed, pending, by_reset in passwords
        ),
    )


def add_pending(
    conn: sqlite3.Connection, uuid: str, password_hash: str, sealed_key: bytes | None, *, by_reset: bool
) -> int:
    """Add a password that counts once the workspace is re-encrypted for it. Returns its id."""
    return _insert(conn, uuid, password_hash, sealed_key, pending=True, by_reset=by_reset)


def drop_pending(conn: sqlite3.Connection, password_id: int) -> None:
    """Forget a pending password."""
    conn.execute("DELETE FROM passwords WHERE id = ? AND pending", (password_id,))


def settle(conn: sqlite3.Connection, uuid: str, password_id: int) -> None:
    """Keep only this password, which opened the workspace. Delete all others and every reset link."""
    conn.execute("DELETE FROM passwords WHERE uuid = ? AND id <> ?", (uuid, password_id))
    conn.execute("UPDATE passwords SET pending = 0, by_reset = 0 WHERE id = ?", (password_id,))
    conn.execute("UPDATE users SET workspace_made = 1, state = 'active' WHERE uuid = ?", (uuid,))
    conn.execute("DELETE FROM resets WHERE uuid = ?", (uuid,))


def set_recovery(conn: sqlite3.Connection, uuid: str, public: bytes, password_id: int, sealed_key: bytes) -> None:
    """Store the sealed key of the workspace. An earlier recovery code stops working."""
    conn.execute("UPDATE users SET recovery_public = ? WHERE uuid = ?", (public, uuid))
    conn.execute("UPDATE passwords SET sealed_key = ? WHERE id = ?", (sealed_key, password_id))


def set_plan(conn: sqlite3.Connection, uuid: str, plan: Plan) -> None:
    """Store the plan that the user pays for."""
    conn.execute("UPDATE users SET plan = ? WHERE uuid = ?", (plan, uuid))


def begin_anew(conn: sqlite3.Connection, uuid: str, password_hash: str) -> None:
    """Record that the user gives up the workspace. What is left to do is to tell the service."""
    conn.execute("DELETE FROM passwords WHERE uuid = ?", (uuid,))
    conn.execute("DELETE FROM resets WHERE uuid = ?", (uuid,))
    conn.execute(
        "UPDATE users SET state = 'starting-anew', workspace_made = 0, recovery_public = NULL WHERE uuid = ?", (uuid,)
    )
    _insert(conn, uuid, password_hash, None, pending=False, by_reset=False)


def begin_deletion(conn: sqlite3.Connection, uuid: str) -> None:
    """Record that the user has confirmed the deletion."""
    conn.execute("UPDATE users SET state = 'deleting' WHERE uuid = ?", (uuid,))
    conn.execute(
        "INSERT INTO visits_of_deleted (id_hash, began_at) "
        "SELECT id_hash, began_at FROM signed_in WHERE password IN (SELECT id FROM passwords WHERE uuid = ?)",
        (uuid,),
    )
    conn.execute("DELETE FROM signed_in WHERE password IN (SELECT id FROM passwords WHERE uuid = ?)", (uuid,))
    conn.execute("DELETE FROM resets WHERE uuid = ?", (uuid,))


def leaving(conn: sqlite3.Connection) -> list[str]:
    """The users whose deletion is confirmed and not finished."""
    return [row[0] for row in conn.execute("SELECT uuid FROM users WHERE state = 'deleting'")]


def remove(conn: sqlite3.Connection, uuid: str) -> None:
    """Forget the user, with everything that refers to the account."""
    conn.execute("DELETE FROM users WHERE uuid = ?", (uuid,))


def _insert(
    conn: sqlite3.Connection, uuid: str, password_hash: str, sealed_key: bytes | None, *, pending: bool, by_reset: bool
) -> int:
    added = conn.execute(
        "INSERT INTO passwords (uuid, hash, sealed_key, pending, by_reset) VALUES (?, ?, ?, ?, ?)",
        (uuid, password_hash, sealed_key, pending, by_reset),
    ).lastrowid
    assert added is not None, "an INSERT of one row has a row id"  # noqa: S101  # tells the type checker
    return added
