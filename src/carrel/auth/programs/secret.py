"""A program key: what it looks like, and what its secret half wraps. Pure.

    carrel_pk_<uuid>.<id: 32 hex digits><secret: 64><stamp: 32>

The stamp is an HMAC over the rest, under a secret of the service. So a key that the service never issued is refused
without a look at any file, in the same time for every user, whether there is such a user or not.
"""

import hashlib
import hmac
import re
import secrets
import uuid as uuids
from collections.abc import Callable
from typing import Final, NamedTuple, NoReturn

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from carrel.accounts.program_keys import ProgramKeyId
from carrel.errors import Unauthorized
from carrel.kit.sqlite.database import KEY_BYTES, wipe
from carrel.vault.keyring import UserUuid, zero

PREFIX: Final = "carrel_pk_"
"""So that scanners of source code find a key that was committed by mistake."""
SECRET_BYTES: Final = 32
_STAMP_BYTES: Final = 16
_NONCE_BYTES: Final = 12
_ID_DIGITS: Final = 32
_SECRET_DIGITS: Final = 2 * SECRET_BYTES
_KEY: Final = re.compile(r"carrel_pk_([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.[0-9a-f]{128}", re.ASCII)


class ProgramKeyInvalid(Unauthorized):
    """Malformed, altered, or not issued by this service."""

    code = "program-key-invalid"
    detail = "This is not a program key of this service."


class ProgramSecret:
    """The secret half of a program key: bytes that neither print nor pickle, and that `wipe` overwrites."""

    __slots__ = ("value",)

    def __init__(self, value: bytearray) -> None:
        self.value = value

    @classmethod
    def fresh(cls) -> "ProgramSecret":
        """A new random one."""
        drawn = secrets.token_bytes(SECRET_BYTES)
        try:
            return cls(bytearray(drawn))
        finally:
            wipe(drawn)

    def wipe(self) -> None:
        """Overwrite it."""
        zero(self.value)

    def __repr__(self) -> str:
        return "ProgramSecret(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is never pickled")


class IssuedKey(NamedTuple):
    """A program key that this service has issued; whether it is still good, only its row tells."""

    uuid: UserUuid
    id: ProgramKeyId
    secret: ProgramSecret


class KeyBinding(NamedTuple):
    """What a wrapped key is bound to: with any of it changed, it does not unwrap."""

    uuid: str
    id: str
    epoch: int
    scopes: str
    expires_at: int

    def encoded(self) -> bytes:
        """The associated data."""
        return msgspec.json.encode(self)


def compose(uuid: UserUuid, key_id: ProgramKeyId, secret: ProgramSecret, stamp_key: bytes) -> str:
    """The key as its user gets to see it, once. The caller wipes it after use."""
    digits = secret.value.hex()
    stamp = _stamp(uuid, key_id, secret, stamp_key).hex()
    try:
        return f"{PREFIX}{uuid}.{uuids.UUID(key_id).hex}{digits}{stamp}"
    finally:
        wipe(digits)


def parse(text: str, stamp_key_of: Callable[[str], bytes]) -> IssuedKey:
    """The parts of a key. The caller wipes `text` and the secret. `stamp_key_of` is given the uuid.

    Raises:
        ProgramKeyInvalid: `compose` has not made it.
    """
    found = _KEY.fullmatch(text)
    if found is None:
        raise ProgramKeyInvalid
    start = found.end(1) + 1 + _ID_DIGITS
    digits = text[start : start + _SECRET_DIGITS]
    secret = ProgramSecret(bytearray.fromhex(digits))
    wipe(digits)
    uuid = UserUuid(found[1])
    key_id = ProgramKeyId(str(uuids.UUID(text[start - _ID_DIGITS : start])))
    stamp = bytes.fromhex(text[start + _SECRET_DIGITS :])
    if not hmac.compare_digest(_stamp(uuid, key_id, secret, stamp_key_of(uuid)), stamp):
        secret.wipe()
        raise ProgramKeyInvalid
    return IssuedKey(uuid, key_id, secret)


def digest(presented: IssuedKey) -> bytes:
    """The hash that the account keeps. The secret is random and as long as the hash, so nobody can search for it."""
    hashed = hashlib.sha256(f"carrel:program-key:{presented.uuid}:{presented.id}:".encode())
    hashed.update(presented.secret.value)
    return hashed.digest()


def wrap(secret: ProgramSecret, key: bytearray, bound: KeyBinding) -> bytes:
    """The user's key, readable with the secret alone and only as what it is bound to."""
    return _seal(secret.value, "wrap", key, bound.encoded())


def unwrap(secret: ProgramSecret, wrapped: bytes, bound: KeyBinding) -> bytearray | None:
    """The user's key, which the caller zeroes; `None` if the row was altered or belongs to another key."""
    return _open(secret.value, "wrap", wrapped, bound.encoded())


def seal_name(key: bytearray, name: str, uuid: str, key_id: str) -> bytes:
    """A name as the account keeps it: readable with the user's key alone, as everything that a user writes."""
    return _seal(key, "name", bytearray(name.encode()), f"{uuid}:{key_id}".encode())


def open_name(key: bytearray, sealed: bytes, uuid: str, key_id: str) -> str:
    """The name; empty if another key sealed it."""
    name = _open(key, "name", sealed, f"{uuid}:{key_id}".encode())
    return "" if name is None else name.decode()


def _seal(secret: bytearray, purpose: str, content: bytearray, associated: bytes) -> bytes:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    with _DerivedKey(secret, purpose) as derived:
        return nonce + ChaCha20Poly1305(derived).encrypt(nonce, content, associated)


def _open(secret: bytearray, purpose: str, sealed: bytes, associated: bytes) -> bytearray | None:
    nonce, body = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
    content = bytearray(max(0, len(body) - 16))
    with _DerivedKey(secret, purpose) as derived:
        try:
            # Into memory that can be overwritten.
            ChaCha20Poly1305(derived).decrypt_into(nonce, body, associated, content)
        except (InvalidTag, ValueError):
            zero(content)
            return None
    return content


class _DerivedKey:
    """A key made of a secret for one purpose (HKDF-SHA256, RFC 5869), overwritten at the end of the block."""

    def __init__(self, secret: bytearray, purpose: str) -> None:
        self._key = bytearray(KEY_BYTES)
        info = f"carrel:program-key:{purpose}".encode()
        HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive_into(secret, self._key)

    def __enter__(self) -> bytearray:
        return self._key

    def __exit__(self, *_: object) -> None:
        zero(self._key)


def _stamp(uuid: str, key_id: str, secret: ProgramSecret, stamp_key: bytes) -> bytes:
    mac = hmac.new(stamp_key, f"{uuid}:{key_id}:".encode(), "sha256")
    mac.update(secret.value)
    return mac.digest()[:_STAMP_BYTES]
