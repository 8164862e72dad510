"""Where a model answers: at its provider's own host, or at another one that a key names. Pure.

A model is identified by provider and host. `openai:gpt-6-luna` with a key that names another server is whatever that
server answers with, so it has a `host` beside its name everywhere: `None` at the provider's own host, and otherwise the
host that answers, with its port.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from carrel.providers import base_url
from carrel.providers.catalogue import find

UNKNOWN: Final = "an unknown host"
"""The host of what was recorded before hosts were. No host has a space in its name."""
BETWEEN: Final = ", "


class ModelAt(NamedTuple):
    """A model, `provider:name`, and the host at which it answers."""

    model: str
    host: str | None

    def __str__(self) -> str:
        """What people read: `openai:gpt-6-luna`, or `openai:gpt-6-luna at llm.example.org`."""
        return self.model if self.host is None else f"{self.model} at {self.host}"


def host_of(provider: str, url: str | None) -> str | None:
    """The host of this base URL of a key; `None` if it is the provider's own."""
    if url is None:
        return None
    found = base_url.host(url)
    return None if found == own(provider) else found


def own(provider: str) -> str | None:
    """The provider's own host; `None` if it has none, because each user has a server there."""
    known = find(provider)
    return None if known is None or known.base_url is None else urlsplit(known.base_url).netloc


def has_list_prices(provider: str, host: str | None) -> bool:
    """Whether what the provider publishes about its models, as their prices, holds at this host."""
    if host is None:
        return True
    known = find(provider)
    return known is not None and known.own_hosts is not None and known.own_hosts.fullmatch(host) is not None


def joined(provider: str, hosts: Iterable[str | None]) -> str | None:
    """Several hosts at which a model answered, as one text; the provider's own is named beside others."""
    found = sorted({one for host in hosts for one in listed(provider, host)})
    return None if found == [own(provider)] else BETWEEN.join(found) or None


def listed(provider: str, host: str | None) -> list[str]:
    """The hosts in such a text."""
    if host is not None:
        return host.split(BETWEEN)
    name = own(provider)
    return [] if name is None else [name]
