"""Strong ETags from a row's version, the conditions that name them, and fields that a body may repeat, not change."""

import re
from collections.abc import Callable
from functools import cache
from typing import Final

import msgspec
from msgspec import UNSET

from carrel.errors import BadInput, FieldError, PreconditionFailed

_LIST = re.compile(r'\s*(?:W/)?"[\x21\x23-\x7e]*"\s*(?:,\s*(?:W/)?"[\x21\x23-\x7e]*"\s*)*')
_STRONG = re.compile(r'(?<!W/)"([0-9]{1,18})\.[a-z]+"')
_OPAQUE = re.compile(r'"[\x21\x23-\x7e]*"')


def etag(version: int, representation: str = "json") -> str:
    """The ETag of one representation of a row: `"7.json"`."""
    return f'"{version}.{representation}"'


def matches(if_none_match: str, tag: str) -> bool:
    """Whether the condition names `tag`; weak comparison, as RFC 9110 asks for `If-None-Match`."""
    return if_none_match.strip() == "*" or tag in _OPAQUE.findall(if_none_match)


class IfMatch(msgspec.Struct, frozen=True):
    """The versions that `If-Match` names, in any representation; `None` when it was not sent or is `*`."""

    versions: frozenset[int] | None = None

    def require(self, version: int) -> None:
        """Raise unless the condition names the present version. Call it inside the transaction.

        Raises:
            PreconditionFailed: the row was changed in the meantime.
        """
        if self.versions is not None and version not in self.versions:
            raise PreconditionFailed


ANY_VERSION: Final = IfMatch()
"""No condition."""


def parse_if_match(header: str | None) -> IfMatch:
    """The condition in an `If-Match` header.

    Raises:
        BadInput: the header is not a list of ETags.
    """
    if header is None or header.strip() == "*":
        return ANY_VERSION
    if not _LIST.fullmatch(header):
        raise BadInput.at("If-Match", "must be a list of ETags")
    # A weak tag never matches here (RFC 9110, section 13.1.1), and a foreign one names no version.
    return IfMatch(frozenset(int(version) for version in _STRONG.findall(header)))


def require_unchanged(sent: msgspec.Struct, stored: Callable[[], msgspec.Struct]) -> None:
    """Hold every read-only field of a body, which is one that is `UNSET` by default, against what is `stored`.

    `stored` is called only if the body has such a field.

    Raises:
        BadInput: naming each field that is not as it is stored.
    """
    names = [name for name in _read_only(type(sent)) if getattr(sent, name) is not UNSET]
    if not names:
        return
    present = stored()
    faults = [
        FieldError(name, "is read-only and differs from what is stored")
        for name in names
        if getattr(sent, name) != getattr(present, name)
    ]
    if faults:
        raise BadInput(errors=tuple(faults))


@cache
def _read_only(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(struct) if field.default is UNSET)
