"""Session tokens (specification, section 5.3): `base64url(payload).base64url(HMAC-SHA256(payload segment))`. Pure."""

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from typing import NamedTuple

from carrel.errors import Unauthorized

LIFETIME_SECONDS = 3600
"""Specification, section 8."""
VERSION = 1
MAX_BYTES = 1024
_MAX_PAYLOAD_BYTES = 512
_MAX_EPOCH = 1 << 53
_FIELDS = ["uuid", "exp", "v"]


class TokenInvalid(Unauthorized):
    """Malformed, tampered with, or signed by somebody else."""

    code = "session-token-invalid"
    detail = "The session token is not valid."


class TokenExpired(Unauthorized):
    """Signed by us, but its time is over."""

    code = "session-token-expired"
    detail = "The session token has expired; ask the host site for a new one."


class Claims(NamedTuple):
    """What a verified token says. `expires_at` is an epoch second."""

    uuid: str
    expires_at: int

    @property
    def issued_at(self) -> int:
        """The epoch second of issue; the token carries only its end."""
        return self.expires_at - LIFETIME_SECONDS


def issue(uuid: str, issued_at: int, secret: bytes) -> str:
    """A token for `uuid` that ends 3600 seconds after `issued_at`, an epoch second."""
    payload = f'{{"uuid":"{uuid}","exp":{issued_at + LIFETIME_SECONDS},"v":{VERSION}}}'
    segment = _encode(payload.encode())
    return f"{segment.decode()}.{_encode(_mac(segment, secret)).decode()}"


def verify(token: bytes, secrets: tuple[bytes, ...], now: float) -> Claims:
    """The claims of `token`, signed with any of `secrets`. The signature is checked before anything is parsed.

    Raises:
        TokenInvalid: `issue` could not have made exactly these bytes.
        TokenExpired: it is valid, but its time is over.
    """
    segment, dot, signature = token.partition(b".")
    if not dot or len(token) > MAX_BYTES or len(segment) > _MAX_PAYLOAD_BYTES * 4 // 3 + 4:
        raise TokenInvalid
    # This tries every secret, so that the time reveals nothing about which one signed.
    signed = False
    for secret in secrets:
        signed |= hmac.compare_digest(_encode(_mac(segment, secret)), signature)
    if not signed:
        raise TokenInvalid
    claims = _parse(_decode(segment))
    if claims.expires_at <= now:
        raise TokenExpired
    return claims


def _parse(payload: bytes) -> Claims:
    if len(payload) > _MAX_PAYLOAD_BYTES:
        raise TokenInvalid
    try:
        # As tuples of pairs, since a dict would hide a duplicate key, and a list could be one of the payload's own.
        pairs = json.loads(payload, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        raise TokenInvalid from None
    # The order is part of the format.
    if not isinstance(pairs, tuple) or [key for key, _ in pairs] != _FIELDS:
        raise TokenInvalid
    uuid, expires_at, version = (value for _, value in pairs)
    # `type is int`: True is an int to isinstance, and 1.0 equals 1.
    if type(uuid) is not str or type(expires_at) is not int or type(version) is not int or version != VERSION:
        raise TokenInvalid
    if not 0 <= expires_at < _MAX_EPOCH:
        raise TokenInvalid
    return Claims(uuid, expires_at)


def _mac(segment: bytes, secret: bytes) -> bytes:
    return hmac.digest(secret, segment, hashlib.sha256)


def _encode(raw: bytes) -> bytes:
    return urlsafe_b64encode(raw).rstrip(b"=")


def _decode(segment: bytes) -> bytes:
    try:
        raw = urlsafe_b64decode(segment + b"=" * (-len(segment) % 4))
    except (Base64Error, ValueError):
        raise TokenInvalid from None
    # The decoder skips characters that it does not know, but only the canonical spelling is valid.
    if _encode(raw) != segment:
        raise TokenInvalid
    return raw
