"""Models that are found at servers of the user's own, such as an Ollama, when models are listed."""

from collections.abc import Iterator

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.providers import endings
from tests.support.model_server import Running, model_server
from tests.support.own_hosts import own_hosts

KEYS, MODELS = "/api/provider-keys", "/api/models"
NOBODY = "127.0.0.1:9"
"""Nobody listens there."""


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with model_server(models=("llama3:8b", "qwen3:4b")) as server:
        yield server


@pytest.fixture
def settings(settings: Settings, server: Running) -> Settings:
    return replace(settings, provider_hosts=(server.host, NOBODY))


async def store(ada: httpx.AsyncClient, provider: str, url: str, key: str) -> None:
    stored = await ada.post(KEYS, json={"provider": provider, "key": key, "base_url": url})
    assert stored.status_code == 201, stored.text


async def live(ada: httpx.AsyncClient) -> list[str]:
    items = (await ada.get(MODELS)).json()["items"]
    return [item["model"] for item in items if item["provider"] != "local"]


async def test_the_models_of_an_ollama_are_found_live(ada: httpx.AsyncClient, server: Running) -> None:
    assert await live(ada) == []
    await store(ada, "ollama", server.base_url, server.key)
    assert await live(ada) == ["ollama:llama3:8b", "ollama:qwen3:4b"]
    [first] = [item for item in (await ada.get(MODELS)).json()["items"] if item["model"] == "ollama:llama3:8b"]
    assert (first["family"], first["available"], first["roles"]) == ("meta", True, ["generate", "judge"])
    await store(ada, "lan-vllm", server.base_url, server.key)
    assert await live(ada) == ["lan-vllm:llama3:8b", "lan-vllm:qwen3:4b", "ollama:llama3:8b", "ollama:qwen3:4b"]
    await ada.delete(f"{KEYS}/ollama")
    assert await live(ada) == ["lan-vllm:llama3:8b", "lan-vllm:qwen3:4b"]


async def test_a_key_for_a_provider_elsewhere_lists_nothing(ada: httpx.AsyncClient, server: Running) -> None:
    await store(ada, "openai", server.base_url, server.key)
    assert await live(ada) == []


async def test_a_picker_lists_what_every_stored_key_opens(ada: httpx.AsyncClient, server: Running) -> None:
    await store(ada, "openai", server.base_url, server.key)
    await store(ada, "mistral", server.base_url, "wrong-key-0123456789")
    items = (await ada.get(MODELS, params={"of_keys": "true"})).json()["items"]
    theirs = [item for item in items if item["provider"] != "local"]
    assert [item["model"] for item in theirs] == ["openai:llama3:8b", "openai:qwen3:4b"]
    assert all(item["available"] and item["roles"] == ["generate", "judge"] for item in theirs)


async def test_a_server_that_is_not_there_keeps_no_list_from_coming(ada: httpx.AsyncClient, server: Running) -> None:
    await store(ada, "ollama", f"http://{NOBODY}/v1", server.key)
    await store(ada, "vllm", server.base_url, "wrong-key-0123456789")
    assert await live(ada) == []
    await store(ada, "ollama", server.base_url, server.key)
    assert len(await live(ada)) == 2, "another address is another server"


async def test_what_a_providers_own_list_says_of_ends_is_told_and_what_another_server_says_is_not(
    ada: httpx.AsyncClient, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "listed", {})
    await store(ada, "openai", server.base_url, server.key)
    await ada.get(MODELS, params={"of_keys": "true"})
    assert endings.listed == {}, "anybody can run such a server"
    with own_hosts({"openai": server.base_url}):
        assert (await ada.get(f"{KEYS}/test/openai")).json()["ok"]
        (ending,) = (await ada.get(f"{MODELS}/endings?model=openai:qwen3:4b&model=openai:llama3:8b")).json()["items"]
        model = (await ada.get(f"{MODELS}/openai:qwen3:4b")).json()
    assert ending["sentence"] == "openai:qwen3:4b is switched off in 17 days, on 1 February 2027."
    assert (model["ends_on"], model["ends_source"]) == ("2027-02-01", "the provider's list of models")
    assert list(endings.listed) == ["openai:qwen3:4b"]
