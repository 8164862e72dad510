"""The pages that an answer rests on, as its provider names them, in the bounds in which Carrel keeps them. Pure."""

from collections.abc import Iterable
from typing import Final

from carrel.providers.base import Citation

MOST: Final = 50
_LONGEST_URL: Final = 2_000
_LONGEST_TITLE: Final = 300


def bounded(found: Iterable[tuple[str | None, str | None]]) -> tuple[Citation, ...]:
    """The citations of these addresses and titles, each once, in their order; only addresses of web pages."""
    kept: dict[str, Citation] = {}
    for url, title in found:
        if url and len(url) <= _LONGEST_URL and url.startswith(("https://", "http://")) and url not in kept:
            kept[url] = Citation(url, " ".join((title or "").split())[:_LONGEST_TITLE])
        if len(kept) == MOST:
            break
    return tuple(kept.values())
