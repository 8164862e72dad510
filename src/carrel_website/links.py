"""The links of a password reset. A link is valid for half an hour and one reset, and is stored as a hash."""

import hashlib
import os
import secrets
import sqlite3
from pathlib import Path
from typing import Final

GOOD_FOR_SECONDS: Final = 1800


def make(conn: sqlite3.Connection, uuid: str, now: int) -> str:
    """Make a link and return its secret part.

    Earlier links stay valid: otherwise a stranger who asks for another one would end them.
    """
    secret = secrets.token_urlsafe(32)
    conn.execute("DELETE FROM resets WHERE expires_at <= ?", (now,))
    conn.execute(
        "INSERT INTO resets (id_hash, uuid, expires_at) VALUES (?, ?, ?)", (_hash(secret), uuid, now + GOOD_FOR_SECONDS)
    )
    return secret


def user_of(conn: sqlite3.Connection, secret: str, now: int) -> str | None:
    """The uuid of the user whose link this is, while it is valid."""
    row = conn.execute("SELECT uuid, expires_at FROM resets WHERE id_hash = ?", (_hash(secret),)).fetchone()
    return None if row is None or row[1] <= now else row[0]


class Outbox:
    """A folder for this website's mail, because there is no mail server here. A real host sends it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def send(self, email: str, text: str) -> Path:
        """Write a mail to disk; only the account of this process can read it."""
        path = self.folder / f"{secrets.token_hex(8)}.txt"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"To: {email}\n\n{text}\n")
        return path


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
