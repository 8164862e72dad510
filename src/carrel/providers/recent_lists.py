"""Remembers what users' own servers listed a moment ago, so that not every list of models waits for them."""

import hashlib
import sys
from typing import NamedTuple

from carrel.kit.clock import Clock
from carrel.providers.base import Access, ProviderError
from carrel.providers.remote import Remote

_SECONDS = 30.0
_TIMEOUT_SECONDS = 2.0
_MOST_BYTES = 8 * 1024 * 1024
"""Of all names that are remembered. A server may list two thousand names of two hundred characters."""
_ENTRY_BYTES = 512


class _ModelList(NamedTuple):
    names: tuple[str, ...]
    until: float


class RecentLists:
    """Lists of models by server and key, for half a minute each.

    A server that did not answer counts as a server without models in that time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._listed: dict[tuple[str | None, bytes], _ModelList] = {}
        self._bytes = 0

    async def models(self, remote: Remote, access: Access) -> tuple[str, ...]:
        """The names that `remote` lists for this key. If it remembers none, the server has two seconds."""
        key = (access.base_url, hashlib.sha256(access.key.reveal()).digest())
        known = self._listed.get(key)
        if known is not None and self._clock.monotonic() < known.until:
            return known.names
        try:
            names = (await remote.offered(access, timeout_seconds=_TIMEOUT_SECONDS)).models
        except ProviderError:
            names = ()
        size = _ENTRY_BYTES + sum(map(sys.getsizeof, names))
        if self._bytes + size > _MOST_BYTES:
            self._listed.clear()
            self._bytes = 0
        # A list that takes the place of an old one counts once more: then they are forgotten a little earlier.
        self._bytes += size
        self._listed[key] = _ModelList(names, self._clock.monotonic() + _SECONDS)
        return names
