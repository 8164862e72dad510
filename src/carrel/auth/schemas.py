"""The bodies of `/auth/*` (specification, section 4.1)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from carrel.auth.tokens import LIFETIME_SECONDS
from carrel.http.requests.schema import Hidden, In, UserUuid
from carrel.kit.clock import Time
from carrel.kit.sqlite.database import wipe

KeyHex = Annotated[
    str, Meta(min_length=64, max_length=64, pattern="^[0-9a-fA-F]{64}$", description="A 32-byte key in hex digits.")
]


class LoginIn(Hidden, In, frozen=True):
    """A user and the key that opens the user's database."""

    uuid: UserUuid
    db_key_hex: KeyHex


class RefreshIn(In, frozen=True):
    """The user whose session goes on."""

    uuid: UserUuid


class LogoutIn(In, frozen=True):
    """Whose sessions end. The host names the user; a user need not."""

    uuid: UserUuid


class RekeyIn(Hidden, In, frozen=True):
    """The new key, and the old one unless it is in memory."""

    uuid: UserUuid
    new_db_key_hex: KeyHex
    old_db_key_hex: KeyHex | None = None


class SessionOut(Hidden, msgspec.Struct, frozen=True):
    """A new session token and its lifetime in seconds."""

    session_token: str
    expires_in: int = LIFETIME_SECONDS


class OpenSession(msgspec.Struct, frozen=True):
    """One session: what one token stands for, or several tokens of the same second.

    `session` is the epoch second of issue, which names it. `last_used_at` is told to the minute.
    """

    session: int
    issued_at: Time
    expires_at: Time
    last_used_at: Time
    is_this_one: bool


class OpenSessions(msgspec.Struct, frozen=True):
    """The sessions that were issued or used since the service started, the latest first.

    While `complete` is false, there may be others, which are at most an hour old. Signing out ends those, too.
    """

    items: list[OpenSession]
    complete: bool


def key_from(digits: str) -> bytearray:
    """The 32 raw bytes; the digits, which nothing reads afterwards, are overwritten."""
    key = bytearray.fromhex(digits)
    wipe(digits)
    return key
