"""Chooses the representation of a resource: compares the `Accept` header with the offered media types."""

from collections.abc import Sequence
from typing import NamedTuple

from carrel.http.answers.problem import NotAcceptable

_MAX_CHARACTERS = 1_000


class _Range(NamedTuple):
    """One entry of the header; `precision` is 0 for `*/*`, 1 for `text/*`, 2 for a whole type."""

    media_type: str
    precision: int
    quality: float


def choose(accept: str | None, offered: Sequence[str]) -> str:
    """The offered media type that `accept` prefers, the first of equals; the first one if there is no header.

    The most precise entry that covers a type decides about it (RFC 9110, section 12.5.1); parameters are ignored.

    Raises:
        NotAcceptable: the header accepts none of them.
    """
    if not accept or not accept.strip():
        return offered[0]
    ranges = [_range(entry) for entry in accept[:_MAX_CHARACTERS].split(",")]
    liked = [(_quality(media_type, ranges), -place, media_type) for place, media_type in enumerate(offered)]
    quality, _, best = max(liked)
    if quality <= 0:
        raise NotAcceptable
    return best


def takes_gzip(accept_encoding: str | None) -> bool:
    """Whether the client may be sent what is packed so."""
    return "gzip" in (accept_encoding or "")


def _range(entry: str) -> _Range:
    media_type, *parameters = (part.strip().lower() for part in entry.split(";"))
    quality = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            quality = _number(value.strip())
    precision = 0 if media_type == "*/*" else 1 if media_type.endswith("/*") else 2
    return _Range(media_type, precision, quality)


def _number(text: str) -> float:
    """A quality between 0 and 1; anything else counts as 0."""
    whole, _, fraction = text.partition(".")
    if whole not in ("0", "1") or not (fraction or "0").isdecimal() or len(fraction) > 3:
        return 0.0
    return min(1.0, float(text))


def _quality(media_type: str, ranges: Sequence[_Range]) -> float:
    covers = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
    covering = [one for one in ranges if one.media_type in covers]
    return max(covering, key=lambda one: (one.precision, one.quality)).quality if covering else 0.0
