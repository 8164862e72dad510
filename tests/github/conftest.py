"""A strict GitHub on this machine, a service that may call it, and a user with one connection to it."""

from collections.abc import AsyncIterator

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from tests.support import strict_github
from tests.support.strict_github import REPOSITORY, TOKEN, GitHub


@pytest.fixture
async def github() -> AsyncIterator[GitHub]:
    async with strict_github.github() as server:
        yield server


@pytest.fixture
def settings(settings: Settings, github: GitHub) -> Settings:
    return replace(settings, github_hosts=("api.github.com", github.host, "*.example"))


@pytest.fixture
async def connection(ada: httpx.AsyncClient, github: GitHub) -> str:
    """The path of a connection."""
    body = {"name": "Texts", "repository": REPOSITORY, "token": TOKEN, "base_url": github.base_url}
    made = await ada.post("/api/github-connections", json=body)
    assert made.status_code == 201, made.text
    return f"/api/github-connections/{made.json()['id']}"
