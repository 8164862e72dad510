"""Fixtures of modules whose user calls two strict servers: `strict = strict_pair.by(…)` and the two below it."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from tests.support.host import Host
from tests.support.own_hosts import own_hosts
from tests.support.strict_anthropic import Anthropic
from tests.support.strict_google import Google
from tests.support.strict_servers import KEY, serving
from tests.support.web_runs import add_keys

Pair = tuple[Anthropic, Google]


def by(claude: str, gemini: str) -> Any:
    """Anthropic's server and Google's, with a model each."""

    @pytest.fixture
    async def strict() -> AsyncIterator[Pair]:
        async with serving(Anthropic(claude)) as anthropic, serving(Google(gemini)) as google:
            yield anthropic, google

    return strict


@pytest.fixture
def settings(settings: Settings, strict: Pair) -> Settings:
    """They allow the two."""
    return replace(settings, provider_hosts=tuple(server.host for server in strict))


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient, strict: Pair) -> AsyncIterator[httpx.AsyncClient]:
    """A user with a key for each."""
    client.headers.update(await host.signed_in("ada"))
    base_urls = {"anthropic": strict[0].base_url, "google": strict[1].base_url}
    await add_keys(client, KEY, base_urls)
    with own_hosts(base_urls):
        yield client
