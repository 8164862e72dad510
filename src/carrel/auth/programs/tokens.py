"""The session tokens of programs: `carrel_pt_<payload>.<HMAC-SHA256>`, signed with a key that no host has. Pure.

A token of the specification carries a user and an end, and nothing else may stand in it. One for a program has to name
its key and its scopes, so it is another kind of token. Neither kind passes for the other.
"""

from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from carrel.accounts.program_keys import ProgramKeyId
from carrel.auth import tokens
from carrel.auth.programs.scopes import Scope
from carrel.auth.tokens import Claims, TokenExpired
from carrel.http.requests.schema import UserUuid

PREFIX: Final = b"carrel_pt_"
_Second = Annotated[int, Meta(ge=0, lt=1 << 53)]


class _Payload(msgspec.Struct, forbid_unknown_fields=True):
    uuid: UserUuid
    program: str
    scopes: list[Scope]
    iat: _Second
    exp: _Second
    v: Literal["program-1"] = "program-1"


_decoder = msgspec.json.Decoder(_Payload)


class ProgramClaims(NamedTuple):
    """What a verified token of a program says. Times are epoch seconds."""

    uuid: UserUuid
    expires_at: int
    issued_at: int
    program: ProgramKeyId
    scopes: frozenset[str]


def is_one(token: bytes) -> bool:
    """Whether the token is a program's, if it is any."""
    return token.startswith(PREFIX)


def issue(claims: ProgramClaims, scopes: list[Scope], key: bytes) -> str:
    """The token; `scopes` are those of the claims, in their order."""
    payload = _Payload(claims.uuid, claims.program, scopes, claims.issued_at, claims.expires_at)
    return PREFIX.decode() + tokens.signed(msgspec.json.encode(payload), key)


def verify(token: bytes, keys: tuple[bytes, ...], now: float) -> ProgramClaims:
    """The claims of `token`. The signature is checked before anything is parsed.

    Raises:
        TokenInvalid: `issue` could not have made exactly these bytes.
        TokenExpired: it is valid, but its time is over.
    """
    decoded = tokens.canonical(_decoder, tokens.opened(token.removeprefix(PREFIX), keys))
    if decoded.exp <= now:
        raise TokenExpired
    return ProgramClaims(
        decoded.uuid, decoded.exp, decoded.iat, ProgramKeyId(decoded.program), frozenset(decoded.scopes)
    )


def verify_either(
    token: bytes, plugin_secrets: tuple[bytes, ...], keys: tuple[bytes, ...], now: float
) -> Claims | ProgramClaims:
    """The claims of a token of either kind.

    Raises:
        TokenInvalid, TokenExpired
    """
    return verify(token, keys, now) if is_one(token) else tokens.verify(token, plugin_secrets, now)
