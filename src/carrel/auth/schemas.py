"""The bodies of `/auth/*` (specification, section 4.1)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from carrel.auth.tokens import LIFETIME_SECONDS
from carrel.kit.http.schema import Hidden, In, UserUuid
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


class RekeyIn(Hidden, In, frozen=True):
    """The new key, and the old one unless it is in memory."""

    uuid: UserUuid
    new_db_key_hex: KeyHex
    old_db_key_hex: KeyHex | None = None


class SessionOut(Hidden, msgspec.Struct, frozen=True):
    """A new session token and its lifetime in seconds."""

    session_token: str
    expires_in: int = LIFETIME_SECONDS


def key_from(digits: str) -> bytearray:
    """The 32 raw bytes; the digits, which nothing reads afterwards, are overwritten."""
    key = bytearray.fromhex(digits)
    wipe(digits)
    return key
