"""No base URL leads to this machine, its network or a cloud's metadata: from storing a key to the call made with it."""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.keys.probe import TESTS_PER_MINUTE
from tests.support.clock import FakeClock
from tests.support.host import Host, code_of
from tests.support.raw_server import RawServer, Say, ok, raw_server, says
from tests.support.web_runs import content

KEYS = "/api/provider-keys"
SECRET = "sk-canary-0123456789-WXYZ"
PROVIDERS = ("openai", "anthropic", "google")
METADATA = ("169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "0.0.0.0", "[::]")
"""Refused even where the operator names them."""


@pytest.fixture
async def inside() -> AsyncIterator[RawServer]:
    """A server on this machine that must see nobody."""
    async with raw_server(says(ok(b'{"data": []}'))) as server:
        yield server


@pytest.fixture
async def gateway() -> AsyncIterator[RawServer]:
    """A server on this machine that the operator has named."""
    async with raw_server(says(ok(b'{"data": []}'))) as server:
        yield server


@pytest.fixture
def settings(settings: Settings, inside: RawServer, gateway: RawServer) -> Settings:
    plain = (f"http://{name}.lan:{gateway.port}" for name in ("desk", "shelf"))
    rules = ("api.openai.com", f"*.example:{inside.port}", f"localhost:{gateway.port}", *METADATA, *plain)
    return replace(settings, provider_hosts=rules)


async def store(ada: httpx.AsyncClient, url: str, provider: str = "openai") -> httpx.Response:
    return await ada.post(KEYS, json={"provider": provider, "key": SECRET, "base_url": url})


async def outcome_of(ada: httpx.AsyncClient, provider: str = "openai") -> dict[str, Any]:
    answer = await ada.get(f"{KEYS}/test/{provider}")
    assert answer.status_code == 200, answer.text
    assert "canary" not in answer.text
    found: dict[str, Any] = answer.json()
    return found


def resolving(monkeypatch: pytest.MonkeyPatch, *found: str) -> None:
    """Every name has these addresses."""

    async def getaddrinfo(_: Any, host: str, port: int, **__: Any) -> list[Any]:
        return [(_family(one), socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

    monkeypatch.setattr(type(asyncio.get_running_loop()), "getaddrinfo", getaddrinfo)


def elsewhere(status: int, goal: RawServer) -> Say:
    """A redirect to the goal."""
    where = b"Location: http://127.0.0.1:%d/" % goal.port
    return says(b"HTTP/1.1 %d Elsewhere\r\nContent-Length: 0\r\n%b\r\n\r\n" % (status, where))


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET


HOSTS = [
    # loopback
    "127.0.0.1", "127.0.0.2", "localhost", "[::1]", "0.0.0.0", "[::]",
    # private and shared networks
    "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "[fc00::1]", "[fd12:3456::1]",
    # link-local, where clouds keep their metadata
    "169.254.169.254", "[fe80::1]", "metadata.google.internal",
    # IPv4 inside IPv6
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
    # other spellings of 127.0.0.1, and of 169.254.169.254
    "2130706433", "0x7f000001", "017700000001", "0177.0.0.1", "127.1", "127.0.1", "2852039166", "0xa9fea9fe",
    # names that carry an address, and what only looks like an allowed name
    "127.0.0.1.nip.io", "evil.example@127.0.0.1", "127.0.0.1#.example", "127.0.0.1%2f.example", "127.0.0.1\\.example",
]  # fmt: skip


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_no_spelling_of_an_inside_address_is_stored(
    ada: httpx.AsyncClient, inside: RawServer, provider: str
) -> None:
    for host in HOSTS:
        for url in (f"http://{host}:{inside.port}/v1", f"https://{host}:{inside.port}/v1", f"http://{host}/v1"):
            answer = await store(ada, url, provider)
            assert answer.status_code == 400, url
            assert code_of(answer) in ("invalid-input", "provider-host-not-allowed"), url
            assert "canary" not in answer.text
    assert (await ada.get(f"{KEYS}/{provider}")).status_code == 404
    assert inside.visits == 0


async def test_what_nobody_may_call_is_not_called_even_if_the_operator_names_it(ada: httpx.AsyncClient) -> None:
    for literal in METADATA:
        assert (await store(ada, f"https://{literal}/v1")).status_code == 201
        outcome = await outcome_of(ada)
        assert (outcome["ok"], outcome["code"]) == (False, "provider-host-not-allowed"), literal


INSIDE = [
    ("127.0.0.1",), ("10.0.0.1",), ("192.168.1.1",), ("100.64.0.1",), ("169.254.169.254",), ("0.0.0.0",),
    ("::1",), ("fc00::1",), ("fe80::1",), ("::ffff:127.0.0.1",), ("64:ff9b::7f00:1",), ("2002:7f00:1::",),
    ("93.184.216.34", "127.0.0.1"),
]  # fmt: skip


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_name_that_leads_inside_is_stored_but_not_called(
    ada: httpx.AsyncClient, inside: RawServer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    for number, found in enumerate(INSIDE):
        clock.advance(60)
        stored = await store(ada, f"https://desk-{number}.example:{inside.port}/v1", provider)
        assert stored.status_code == 201
        resolving(monkeypatch, *found)
        outcome = await outcome_of(ada, provider)
        assert (outcome["ok"], outcome["code"]) == (False, "provider-host-not-allowed"), found
        assert (await ada.get(f"{KEYS}/{provider}")).json()["last_test"]["ok"] is False
    assert inside.visits == 0


async def test_the_address_of_a_well_known_provider_must_be_public_too(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await ada.post(KEYS, json={"provider": "openai", "key": SECRET})).status_code == 201
    resolving(monkeypatch, "10.0.0.1")
    assert (await outcome_of(ada))["code"] == "provider-host-not-allowed"


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_redirect_is_not_followed_wherever_it_leads(
    ada: httpx.AsyncClient, inside: RawServer, gateway: RawServer, provider: str
) -> None:
    assert (await store(ada, f"http://localhost:{gateway.port}", provider)).status_code == 201
    for status in (301, 302, 303, 307, 308):
        gateway.say = elsewhere(status, inside)
        outcome = await outcome_of(ada, provider)
        assert (outcome["ok"], outcome["code"]) == (False, "provider-redirected"), status
    assert (inside.visits, len(gateway.asked)) == (0, 5)


async def test_a_run_that_is_redirected_or_led_inside_says_so_and_calls_nobody(
    ada: httpx.AsyncClient, inside: RawServer, gateway: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store(ada, f"http://localhost:{gateway.port}", "anthropic")
    await store(ada, f"https://a.example:{inside.port}", "google")
    gateway.say = elsewhere(307, inside)
    judges = [{"model": "local:reader"}]
    configuration = {
        "inputs": [await content(ada, {}, "input_document", "A document says something.")],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise {{document}}"),
        "generation": {"candidates": [{"model": model} for model in ("anthropic:m", "google:m", "local:lead")]},
        "scoring": {"judges": judges, "criteria": await content(ada, {}, "criteria", "- name: Coverage\n")},
    }
    made = await ada.post("/api/runs", json={"configuration": configuration})
    assert made.status_code == 201, made.text
    run = f"/api/runs/{made.json()['id']}"
    resolving(monkeypatch, "127.0.0.1")
    assert (await ada.post(f"{run}/start")).status_code == 202
    async with asyncio.timeout(60):
        while (await ada.get(run)).json()["state"] not in ("completed", "completed_with_errors", "failed"):
            await asyncio.sleep(0.02)
    tasks = (await ada.get(f"{run}/tasks?limit=200")).json()["items"]
    errors = [(task["key"], task["error"]["code"]) for task in tasks if task["state"] == "failed"]
    assert sorted(errors) == [
        ("r1.generate.d1.c1.s1", "provider-redirected"), ("r1.generate.d1.c2.s1", "provider-host-not-allowed")
    ]  # fmt: skip
    assert inside.visits == 0


async def test_a_server_that_the_operator_named_is_called(ada: httpx.AsyncClient, gateway: RawServer) -> None:
    assert (await store(ada, f"http://localhost:{gateway.port}/v1")).status_code == 201
    assert (await outcome_of(ada))["ok"] is True
    assert gateway.visits == 1


async def test_what_the_operator_named_without_tls_is_called_so_and_nothing_beside_it(
    ada: httpx.AsyncClient, gateway: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, shelf = (f"{name}.lan:{gateway.port}" for name in ("desk", "shelf"))
    assert (await store(ada, f"http://{desk}/v1", "lan-vllm")).status_code == 201
    resolving(monkeypatch, "127.0.0.1")
    assert ((await outcome_of(ada, "lan-vllm"))["ok"], gateway.visits) == (True, 1)
    assert (await store(ada, f"http://{shelf}/v1", "lan-vllm")).status_code == 201
    resolving(monkeypatch, "169.254.169.254")
    assert (await outcome_of(ada, "lan-vllm"))["code"] == "provider-host-not-allowed"
    for url in (f"https://{desk}/v1", "http://desk.lan/v1", f"http://a.{desk}/v1"):
        assert (await store(ada, url, "lan-vllm")).status_code == 400, url
    assert gateway.visits == 1


async def test_a_user_tests_keys_ten_times_a_minute_and_others_as_often(
    ada: httpx.AsyncClient, host: Host, gateway: RawServer, clock: FakeClock
) -> None:
    assert (await store(ada, f"http://localhost:{gateway.port}/v1")).status_code == 201
    for _ in range(TESTS_PER_MINUTE):
        await outcome_of(ada)
    refused = await ada.get(f"{KEYS}/test/openai")
    assert (refused.status_code, code_of(refused)) == (429, "too-many-key-tests")
    assert gateway.visits <= TESTS_PER_MINUTE
    bob = await host.signed_in("bob")
    assert (await ada.get(f"{KEYS}/test/openai", headers=bob)).status_code == 404
    clock.advance(int(refused.headers["retry-after"]))
    await outcome_of(ada)
    assert (await ada.get(f"{KEYS}/test/openai")).status_code == 429
