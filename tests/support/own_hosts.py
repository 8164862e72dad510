"""Servers of tests that stand in for providers' own hosts, so that list prices hold there."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from carrel.providers.catalogue import KNOWN


@contextmanager
def own_hosts(base_urls: Mapping[str, str]) -> Iterator[None]:
    """For the length of a block, take these base URLs for the providers' own, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        for provider, base_url in base_urls.items():
            patch.setitem(KNOWN, provider, KNOWN[provider]._replace(base_url=base_url))
        yield
