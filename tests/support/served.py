"""Fixtures of modules whose users call models of a server: `server = served.by(…)`, `settings = served.settings`."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from tests.support.host import Host
from tests.support.model_server import MODELS, Running, model_server
from tests.support.web_runs import add_keys


def by(*models: str) -> Any:
    """The server of a module, with these models."""

    @pytest.fixture(scope="module")
    def server() -> Iterator[Running]:
        with model_server(models=models or MODELS) as server:
            yield server

    return server


@pytest.fixture
def settings(settings: Settings, server: Running) -> Settings:
    """They allow the server, which begins anew."""
    server.renew()
    return replace(settings, provider_hosts=(server.host,))


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient, server: Running) -> httpx.AsyncClient:
    """A user with the server's key."""
    client.headers.update(await host.signed_in("ada"))
    await add_keys(client, server.key, {"openai": server.base_url})
    return client
