"""Keys that are JSON objects with several parts, and are traded for tokens (RFC 6749, section 4). Pure."""

import json
import re
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from carrel.errors import BadInput

T = TypeVar("T", bound=msgspec.Struct)


class Grant(NamedTuple):
    """The form that brings a token, and where it is sent."""

    url: str
    form: bytes


class KeyTrade(Protocol):
    """How the keys of one provider are traded."""

    def kept(self, key: str) -> str:
        """The key as it is stored. It is traded if it is a JSON object, and otherwise sent as it is.

        Raises:
            BadInput: a part is missing, or nothing can be traded for it.
        """
        ...

    def address(self, key: str, base_url: str | None) -> str | None:
        """The base URL that follows from the key and from what the user named."""
        ...

    def grant(self, key: str, now: float) -> Grant:
        """What is sent for a token at this time."""
        ...


class _Granted(msgspec.Struct, frozen=True):
    access_token: str


_VISIBLE = re.compile(r"[!-~]+")
_granted = msgspec.json.Decoder(_Granted)


def token_in(body: bytes) -> str | None:
    """The token in the answer to a grant."""
    try:
        return _granted.decode(body).access_token
    except msgspec.DecodeError:
        return None


def plain(key: str) -> str:
    """A key that is sent as it is.

    Raises:
        BadInput: nothing else than visible ASCII characters can stand in a header.
    """
    if _VISIBLE.fullmatch(key) is None:
        raise BadInput.at("key", "must be visible ASCII characters, without spaces")
    return key


def is_object(key: str) -> bool:
    """Whether the key is a JSON object."""
    return key.startswith("{")


def read(key: str, kind: type[T]) -> T:
    """The parts of a key.

    Raises:
        BadInput: one is missing.
    """
    try:
        return msgspec.json.decode(key, type=kind)
    except msgspec.DecodeError:
        names = ", ".join(field.encode_name for field in msgspec.structs.fields(kind) if field.required)
        raise BadInput.at("key", f"must be a JSON object with {names}") from None


def one_line(parts: msgspec.Struct) -> str:
    """The key in ASCII. What was in it beside its parts is left out."""
    return json.dumps(msgspec.to_builtins(parts))
