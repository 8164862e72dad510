"""Remembers what users' own servers listed a moment ago, so that not every list of models waits for them."""

import hashlib
from typing import NamedTuple

from carrel.kit.clock import Clock
from carrel.providers.base import Access, ProviderError
from carrel.providers.remote import Remote

_SECONDS = 30.0
_PATIENCE_SECONDS = 2.0
_MOST_REMEMBERED = 1_000


class _Listed(NamedTuple):
    names: tuple[str, ...]
    until: float


class RecentLists:
    """Lists of models by server and key, for half a minute each.

    A server that did not answer counts as a server without models in that time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._listed: dict[tuple[str | None, bytes], _Listed] = {}

    async def models(self, remote: Remote, access: Access) -> tuple[str, ...]:
        """The names that `remote` lists for this key. If it remembers none, the server has two seconds."""
        key = (access.base_url, hashlib.sha256(access.key.reveal()).digest())
        known = self._listed.get(key)
        if known is not None and self._clock.monotonic() < known.until:
            return known.names
        try:
            names = (await remote.offered(access, timeout_seconds=_PATIENCE_SECONDS)).models
        except ProviderError:
            names = ()
        if len(self._listed) >= _MOST_REMEMBERED:
            self._listed.clear()
        self._listed[key] = _Listed(names, self._clock.monotonic() + _SECONDS)
        return names
