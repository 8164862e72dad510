"""The rows of program keys in `account.db`, and the one secret in `service.db` that their stamps rest on."""

from typing import Final, Literal, NewType

import msgspec

from carrel.errors import Conflict, NotFound
from carrel.kit.ids import Id
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select

ProgramKeyId = NewType("ProgramKeyId", Id)
EndedBy = Literal["user", "password", "membership"]
"""Who or what ended a key: the user, a new password, or the host that took the membership away."""

MAX_KEYS: Final = 20
"""Keys of one user that can be used."""
_MAX_ENDED: Final = 100
_ENDED_KEPT_SECONDS: Final = 30 * 86_400


class TooManyProgramKeys(Conflict):
    """The user has as many keys as allowed."""

    code = "too-many-program-keys"
    detail = "There are 20 program keys already; revoke one first."


class ProgramKeyNotFound(NotFound):
    """The user has no such key, or it has ended."""

    code = "program-key-not-found"
    detail = "There is no such program key, or it has ended already."


class ProgramKeyRow(msgspec.Struct, frozen=True, kw_only=True):
    """One key. `wrapped` is `None` when it has ended or expired; times are epoch seconds."""

    id: ProgramKeyId
    name: bytes
    scopes: str
    created_at: int
    expires_at: int
    last_used_at: int | None = None
    series: str
    epoch: int
    hash: bytes
    wrapped: bytes | None
    ended_at: int | None = None
    ended_by: EndedBy | None = None

    def __repr__(self) -> str:
        return "ProgramKeyRow(hidden)"


_row = Select(ProgramKeyRow)


def epoch(conn: Connection) -> int:
    """What a new key is bound to."""
    return int(conn.value("SELECT program_epoch FROM account"))


def insert(conn: Connection, row: ProgramKeyRow) -> None:
    """A new key.

    Raises:
        TooManyProgramKeys: the user has `MAX_KEYS` that can be used.
    """
    now = int(conn.clock.now())
    _close_expired(conn, now)
    _forget_old(conn, now)
    used = conn.value("SELECT count(*) FROM program_key WHERE ended_at IS NULL AND expires_at > ?", now)
    if used >= MAX_KEYS:
        raise TooManyProgramKeys
    conn.run(
        "INSERT INTO program_key (id, name, scopes, created_at, expires_at, series, epoch, hash, wrapped)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row.id,
        row.name,
        row.scopes,
        row.created_at,
        row.expires_at,
        row.series,
        row.epoch,
        row.hash,
        row.wrapped,
    )


def _close_expired(conn: Connection, now: int) -> None:
    """Drop what expired keys wrap."""
    conn.run("UPDATE program_key SET wrapped = NULL WHERE expires_at <= ? AND wrapped IS NOT NULL", now)


def _forget_old(conn: Connection, now: int) -> None:
    """Forget keys that ended or expired long ago, and the oldest of many."""
    conn.run(
        "DELETE FROM program_key WHERE min(expires_at, coalesce(ended_at, expires_at)) < ?", now - _ENDED_KEPT_SECONDS
    )
    conn.run(
        "DELETE FROM program_key WHERE id IN (SELECT id FROM program_key WHERE ended_at IS NOT NULL OR expires_at <= ?"
        " ORDER BY min(expires_at, coalesce(ended_at, expires_at)) DESC, id LIMIT -1 OFFSET ?)",
        now,
        _MAX_ENDED,
    )


def find(conn: Connection, key_id: ProgramKeyId) -> ProgramKeyRow | None:
    """The key, also one that has ended."""
    return _row.one(conn, "FROM program_key WHERE id = ?", key_id)


def every(conn: Connection) -> list[ProgramKeyRow]:
    """All keys, the newest first, those that have ended lately among them."""
    return _row.all(conn, "FROM program_key ORDER BY created_at DESC, id DESC")


def note_use(conn: Connection, key_id: ProgramKeyId) -> None:
    """Record that the key has signed its program in just now."""
    now = int(conn.clock.now())
    _close_expired(conn, now)
    conn.run("UPDATE program_key SET last_used_at = ? WHERE id = ?", now, key_id)


def end(conn: Connection, key_id: ProgramKeyId) -> None:
    """The user revokes one key.

    Raises:
        ProgramKeyNotFound: there is none, or it has ended.
    """
    if not _end(conn, "user", "id = ?", key_id):
        raise ProgramKeyNotFound


def end_all(conn: Connection, by: EndedBy) -> None:
    """End every key: what they wrap is dropped, and nothing that they wrapped opens in the next epoch."""
    conn.run("UPDATE account SET program_epoch = program_epoch + 1")
    _close_expired(conn, int(conn.clock.now()))
    _end(conn, by, "1")


def _end(conn: Connection, by: EndedBy, which: str, *params: object) -> int:
    now = int(conn.clock.now())
    return conn.run(
        "UPDATE program_key SET wrapped = NULL, ended_at = ?, ended_by = ?"
        f" WHERE ended_at IS NULL AND expires_at > ? AND {which}",
        now,
        by,
        now,
        *params,
    )


def rename(conn: Connection, key_id: ProgramKeyId, name: bytes) -> None:
    """Replace the sealed name, after the user's key has changed."""
    conn.run("UPDATE program_key SET name = ? WHERE id = ?", name, key_id)


def service_secret(conn: Connection, fresh: bytes) -> bytes:
    """The secret of the service; `fresh` becomes it if there is none."""
    conn.run("INSERT OR IGNORE INTO program_secret VALUES (1, ?)", fresh)
    return bytes(conn.value("SELECT secret FROM program_secret"))


def slot_secrets(conn: Connection) -> dict[int, bytes]:
    """The secrets of slots that came from other nodes, each in place of the service's."""
    return dict(conn.all("SELECT slot, secret FROM slot_program_secret"))


def forget_service_secret(conn: Connection) -> None:
    """End every program key of every user: the next start makes another secret."""
    conn.run("DELETE FROM program_secret")
    conn.run("DELETE FROM slot_program_secret")
