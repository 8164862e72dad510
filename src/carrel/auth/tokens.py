"""Session tokens (specification, section 5.3): `base64url(payload).base64url(HMAC-SHA256(payload segment))`. Pure."""

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from typing import Annotated, Final, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from carrel.errors import Unauthorized
from carrel.http.requests.schema import UserUuid

T = TypeVar("T")

LIFETIME_SECONDS = 3600
"""Specification, section 8."""
AHEAD_SECONDS: Final = 60
"""How far ahead of the last possible time of issue a token may claim to be issued: the clock may have been set back."""
MAX_BYTES = 1024
_MAX_SEGMENT_BYTES = 683
"""Base64url of 512 bytes."""
_MAX_EPOCH = 1 << 53


class TokenInvalid(Unauthorized):
    """Malformed, tampered with, or signed by somebody else."""

    code = "session-token-invalid"
    detail = "The session token is not valid."


class TokenExpired(Unauthorized):
    """Signed by us, but its time is over."""

    code = "session-token-expired"
    detail = "The session token has expired; ask the host site for a new one."


class TokenRevoked(Unauthorized):
    """Signed by us and not expired, but a sign-out, a rekey, a deletion or the restoring of a backup ended it."""

    code = "session-token-revoked"
    detail = "The session was ended; log in again on the host site."


class _Payload(msgspec.Struct, forbid_unknown_fields=True):
    """The payload; msgspec writes the fields in this order and without spaces."""

    uuid: UserUuid
    exp: Annotated[int, Meta(ge=0, lt=_MAX_EPOCH)]
    v: Literal[1] = 1


_decoder = msgspec.json.Decoder(_Payload)


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
    return signed(msgspec.json.encode(_Payload(uuid, issued_at + LIFETIME_SECONDS)), secret)


def signed(payload: bytes, secret: bytes) -> str:
    """`payload` and its signature, each in base64url, with a dot between."""
    segment = _encode(payload)
    return f"{segment.decode()}.{_encode(_mac(segment, secret)).decode()}"


def verify(token: bytes, secrets: tuple[bytes, ...], now: float) -> Claims:
    """The claims of `token`, signed with any of `secrets`. The signature is checked before anything is parsed.

    Raises:
        TokenInvalid: `issue` could not have made exactly these bytes.
        TokenExpired: it is valid, but its time is over.
    """
    claims = _parse(opened(token, secrets))
    if claims.expires_at <= now:
        raise TokenExpired
    return claims


def opened(token: bytes, secrets: tuple[bytes, ...]) -> bytes:
    """The payload that `signed` made with any of `secrets`.

    Raises:
        TokenInvalid: it made other bytes, or none.
    """
    segment, dot, signature = token.partition(b".")
    if not dot or len(token) > MAX_BYTES or len(segment) > _MAX_SEGMENT_BYTES:
        raise TokenInvalid
    # This tries every secret, so that the time reveals nothing about which one signed.
    fits = False
    for secret in secrets:
        fits |= hmac.compare_digest(_encode(_mac(segment, secret)), signature)
    if not fits:
        raise TokenInvalid
    return _decode(segment)


def require_issued(claims: Claims, latest: float) -> None:
    """Refuse a token that claims an issue after `latest`, the last second at which the service can have issued one.

    The holder of a plugin secret could sign it, and it would outlive every rekey and every deletion.

    Raises:
        TokenInvalid
    """
    if claims.issued_at > latest + AHEAD_SECONDS:
        raise TokenInvalid


def _parse(payload: bytes) -> Claims:
    decoded = canonical(_decoder, payload)
    return Claims(decoded.uuid, decoded.exp)


def canonical(decoder: msgspec.json.Decoder[T], payload: bytes) -> T:
    """What the payload says, if it is spelled as an issuer writes it.

    Raises:
        TokenInvalid
    """
    try:
        decoded = decoder.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise TokenInvalid from None
    # Spaces, escapes, another order, a field twice, or 1.0 for 1: only the spelling that `issue` writes is valid.
    if msgspec.json.encode(decoded) != payload:
        raise TokenInvalid
    return decoded


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
