from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.keys import probe
from carrel.keys import store as keys
from carrel.keys.probe import KeyTest
from carrel.keys.store import ProviderKeyIn
from carrel.providers.catalogue import KNOWN
from tests.support.host import ADMIN, PLUGIN, Host, code_of

KEYS, SYSTEM_KEYS = "/api/provider-keys", "/api/admin/system-keys"
SECRET = "sk-canary-0123456789-WXYZ"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(
        settings, provider_hosts=("api.openai.com", "proxy.example:8443", "*.azure.example", "localhost:11434")
    )


async def test_a_key_goes_in_and_never_comes_out(ada: httpx.AsyncClient) -> None:
    stored = await ada.post(KEYS, json={"provider": "openai", "key": SECRET})
    assert stored.status_code == 201
    key = stored.json()
    assert set(key) == {"provider", "hint", "base_url", "created_at", "updated_at", "last_test"}
    assert (key["provider"], key["hint"], key["last_test"]) == ("openai", "WXYZ", None)
    again = await ada.post(KEYS, json={"provider": "openai", "key": "short-12345"})
    assert again.json()["hint"] == ""
    found = await ada.get(f"{KEYS}/openai")
    assert found.json() == again.json()
    assert (await ada.get(KEYS)).json()["items"] == [found.json()]
    for answer in (stored, again, found):
        assert "canary" not in answer.text
        assert "short-12345" not in answer.text
    late = await ada.delete(f"{KEYS}/openai", headers={"If-Match": '"1.json"'})
    assert (late.status_code, code_of(late)) == (412, "version-mismatch")
    assert (await ada.delete(f"{KEYS}/openai")).status_code == 204
    gone = await ada.get(f"{KEYS}/openai")
    assert (gone.status_code, code_of(gone)) == (404, "provider-key-not-found")


async def test_a_key_that_is_not_stored_cannot_be_tested(ada: httpx.AsyncClient) -> None:
    for provider in ("openai", "nobody"):
        nothing = await ada.get(f"{KEYS}/test/{provider}")
        assert (nothing.status_code, code_of(nothing)) == (404, "provider-key-not-found")


async def test_the_test_of_a_key_says_nothing_of_the_one_that_replaced_it(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slowly(*_: Any) -> KeyTest:
        await ada.post(KEYS, json={"provider": "openai", "key": "short-12345"})
        return KeyTest(ok=True)

    monkeypatch.setattr(probe, "probe", slowly)
    await ada.post(KEYS, json={"provider": "openai", "key": SECRET})
    assert (await ada.get(f"{KEYS}/test/openai")).json()["ok"] is True
    assert (await ada.get(f"{KEYS}/openai")).json()["last_test"] is None


async def test_the_operators_hosts_bind_a_providers_own_address_too(ada: httpx.AsyncClient) -> None:
    answer = await ada.post(KEYS, json={"provider": "mistral", "key": SECRET})
    assert (answer.status_code, code_of(answer)) == (400, "provider-host-not-allowed")


GOOD_URLS = [
    "https://api.openai.com/v1",
    "https://api.openai.com:443",
    "https://proxy.example:8443/v1",
    "https://desk.azure.example",
    "http://localhost:11434/v1",
]
BAD_URLS = [
    "",
    "api.openai.com",
    "ftp://api.openai.com",
    "http://api.openai.com",
    "https://user@api.openai.com",
    "https://user:secret@api.openai.com",
    "https://api.openai.com/?x=1",
    "https://api.openai.com/#x",
    "https://api.openai.com/ x",
    "https://api.openai.com/\n",
    "https://api.openai.com:port",
    "https://[::1",
]
FOREIGN_URLS = [
    "https://elsewhere.example",
    "https://api.openai.com.elsewhere.example",
    "https://api.openai.com:444",
    "https://proxy.example",
    "https://azure.example",
    "https://desk.azure.example:444",
    "https://notazure.example",
    "https://127.0.0.1",
    "http://localhost:11435",
    "https://[::1]",
]


async def test_a_base_url_is_plain_https_to_a_host_that_the_operator_allows(ada: httpx.AsyncClient) -> None:
    async def store(url: str) -> httpx.Response:
        return await ada.post(KEYS, json={"provider": "compatible", "key": SECRET, "base_url": url})

    for url in GOOD_URLS:
        assert (await store(url)).json()["base_url"] == url
    for url in BAD_URLS:
        assert code_of(await store(url)) == "invalid-input", url
    for url in FOREIGN_URLS:
        answer = await store(url)
        assert (answer.status_code, code_of(answer)) == (400, "provider-host-not-allowed"), url


UNFIT = ("local", "human", "a", "-lan", "lan-", "lan:a", "lan/a", "my lan", "2lan", "l" * 41, "größe")
BAD: list[tuple[dict[str, Any], str]] = [
    *(({"provider": name}, "provider") for name in ("nobody", "local", "test")),
    *(({"provider": name, "base_url": "https://desk.azure.example"}, "provider") for name in UNFIT),
    ({"key": "short"}, "key"),
    ({"key": "with space 123"}, "key"),
    ({"key": "trailing-newline\n"}, "key"),
    ({"key": "größer-als-ascii"}, "key"),
    ({"key": "k" * 8_001}, "key"),
    ({"key": None}, "key"),
    ({"provider": "vllm"}, "base_url"),
    ({"hint": "1234"}, "hint"),
]


async def test_bad_input_is_refused_at_its_place_and_never_repeated(ada: httpx.AsyncClient) -> None:
    for change, path in BAD:
        answer = await ada.post(KEYS, json={"provider": "openai", "key": SECRET} | change)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input"), change
        assert [fault["path"] for fault in answer.json()["errors"]] == [path], change
        assert "canary" not in answer.text


async def test_free_members_see_and_delete_keys_but_store_none(ada: httpx.AsyncClient) -> None:
    await ada.post(KEYS, json={"provider": "openai", "key": SECRET})
    await ada.post("/api/users/ada/deactivate", headers=PLUGIN)
    refused = await ada.post(KEYS, json={"provider": "openai", "key": SECRET})
    assert (refused.status_code, code_of(refused)) == (403, "membership-required")
    assert (await ada.get(KEYS)).status_code == 200
    assert (await ada.delete(f"{KEYS}/openai")).status_code == 204


async def test_there_are_so_many_keys_at_most(ada: httpx.AsyncClient) -> None:
    def key(number: int) -> dict[str, str]:
        return {"provider": f"Lan-{number}", "key": SECRET, "base_url": "https://desk.azure.example/v1"}

    for number in range(keys.MAX_KEYS):
        assert (await ada.post(KEYS, json=key(number))).json()["provider"] == f"lan-{number}"
    refused = await ada.post(KEYS, json=key(keys.MAX_KEYS))
    assert (refused.status_code, code_of(refused)) == (409, "too-many-provider-keys")
    assert (await ada.post(KEYS, json=key(0))).status_code == 201


async def test_a_key_is_its_users_own(ada: httpx.AsyncClient, host: Host) -> None:
    await ada.post(KEYS, json={"provider": "openai", "key": SECRET})
    bob = await host.signed_in("bob")
    assert (await ada.get(f"{KEYS}/openai", headers=bob)).status_code == 404
    assert (await ada.get(SYSTEM_KEYS, headers=ADMIN)).json()["items"] == []


def test_a_key_does_not_show_itself() -> None:
    assert SECRET not in repr(ProviderKeyIn(provider="openai", key=SECRET))
    assert keys.ProviderKeyIn.__struct_config__.forbid_unknown_fields


def test_every_known_provider_is_called_over_https() -> None:
    assert all(known.base_url is None or known.base_url.startswith("https://") for known in KNOWN.values())
