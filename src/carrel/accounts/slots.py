"""Where a user's folder is: `DATA/slots/<slot>/<name>`; without the service key the name does not reveal the uuid."""

import hmac
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SLOTS = 1024
"""The number of slots never changes: with more than one process, each would own some of the slots."""

NOBODY: Final = "*"
"""Not a possible uuid: every process has an account of its own under it, for sign-ins of unknown users.

It is outside of the slots, because it never moves to another process.
"""

RequireServed = Callable[[str], None]
"""Raises for a user whom this process does not serve."""


def serve_everybody(_uuid: str) -> None:
    """Refuse no user: this process has all slots."""


def slot_of(uuid: str) -> int:
    """The slot of a user: `crc32(uuid) % 1024`."""
    return zlib.crc32(uuid.encode()) % SLOTS


def folder_name(service_key: bytes, uuid: str) -> str:
    """The user's folder name: 32 hex digits of HMAC-SHA256 under the service key."""
    return hmac.digest(service_key, b"folder:" + uuid.encode(), "sha256").hex()[:32]


def folder_of(data: Path, service_key: bytes, uuid: str) -> Path:
    """The user's folder, which the service creates, moves, backs up and deletes as a whole."""
    if uuid == NOBODY:
        return data / "decoy"
    return data / f"slots/{slot_of(uuid):04d}/{folder_name(service_key, uuid)}"


def former_decoy(service_key: bytes) -> str:
    """Where earlier versions had the account of `NOBODY`, as `<slot>/<name>`."""
    return f"{slot_of(NOBODY):04d}/{folder_name(service_key, NOBODY)}"


def file_key(service_key: bytes, purpose: str, uuid: str = "") -> bytes:
    """The 32-byte key of a sealed file: HKDF-SHA256 (RFC 5869) of the service key, bound to purpose and user.

    A file put in another user's place therefore does not open.
    """
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=f"carrel:{purpose}:{uuid}".encode()).derive(service_key)
