"""The operator's keys on several nodes: stored once, there for all, and readable in no place between them."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.cluster.etcd import Etcd
from tests.cluster.test_processes import MINUTE, made, until
from tests.support.etcd import EtcdServer
from tests.support.service import Service

pytestmark = pytest.mark.program("etcd")

CANARY = "sk-canary-1f9c7e2b5a8d4063-TAIL"
KEYS = "/api/admin/system-keys"


class Operator:
    """Somebody with the admin secret of one node."""

    def __init__(self, node: Service) -> None:
        self.node = node

    def ask(self, method: str, path: str = KEYS, status: int = 200, **request: Any) -> httpx.Response:
        headers = {"X-SVC-Admin-Secret": self.node.admin_secret, **request.pop("headers", {})}
        answer = httpx.request(method, f"{self.node.url}{path}", headers=headers, timeout=MINUTE, **request)
        assert answer.status_code == status, answer.text
        return answer

    def store(self, provider: str, key: str = CANARY, status: int = 201) -> httpx.Response:
        return self.ask("POST", status=status, json={"provider": provider, "key": key})

    def providers(self) -> set[str]:
        return {item["provider"] for item in self.ask("GET").json()["items"]}

    def has(self, *providers: str) -> Callable[[], bool]:
        return lambda: self.providers() == set(providers)


@pytest.fixture
async def nodes(tmp_path: Path, server: EtcdServer, etcd: Etcd, prefix: str) -> AsyncIterator[Callable[[str], Service]]:
    key, secret, begun = secrets.token_hex(32), secrets.token_urlsafe(36), list[Service]()
    await made(etcd, prefix, key, ("a", "b"))

    def node(name: str) -> Service:
        settings = {
            "CARREL_NODE_NAME": name,
            "CARREL_ETCD": server.url,
            "CARREL_CLUSTER": prefix.rstrip("/"),
            "CARREL_LEASE_SECONDS": "3",
        }
        begun.append(Service(tmp_path / name, admin_secret=secret, service_key=key, settings=settings))
        return begun[-1]

    yield node
    for one in begun:
        if one.process is not None and one.process.poll() is None:
            one.kill()


async def test_a_key_is_stored_once_and_every_node_has_it(
    nodes: Callable[[str], Service], server: EtcdServer, etcd: Etcd, prefix: str
) -> None:
    first, second = nodes("a"), nodes("b")
    await asyncio.to_thread(first.start)
    a = Operator(first)
    a.store("anthropic")
    # It comes later, with a folder of its own.
    await asyncio.to_thread(second.start)
    b = Operator(second)
    assert b.providers() == {"anthropic"}
    tag = a.store("openai").headers["etag"]
    await until(b.has("anthropic", "openai"))
    # They are one key with one version, wherever it is asked for.
    assert b.ask("GET", f"{KEYS}/openai").headers["etag"] == tag
    b.store("openai", "sk-another-0123456789-ENDS")
    await until(lambda: a.ask("GET", f"{KEYS}/openai").json()["hint"] == "ENDS")
    a.ask("DELETE", f"{KEYS}/openai", 412, headers={"If-Match": tag})
    a.ask("DELETE", f"{KEYS}/openai", 204)
    a.ask("DELETE", f"{KEYS}/openai", 404)
    await until(b.has("anthropic"))
    assert a.store("openai").headers["etag"] != tag
    found = (await etcd.below(f"/carrel/{prefix}")).values
    assert "system-keys" in found
    assert not any(CANARY.encode() in (value.text or b"") for value in found.values())
    # A node that was away hears of what has happened since.
    second.stop()
    a.ask("DELETE", f"{KEYS}/anthropic", 204)
    await asyncio.to_thread(second.start)
    assert b.providers() == {"openai"}


async def test_without_etcd_keys_are_read_and_not_changed(nodes: Callable[[str], Service], server: EtcdServer) -> None:
    node = nodes("a")
    node.settings["CARREL_LEASE_SECONDS"] = "60"
    await asyncio.to_thread(node.start)
    operator = Operator(node)
    operator.store("openai")
    server.stop()
    try:
        assert operator.store("anthropic", status=503).json()["code"] == "etcd-unreachable"
        assert operator.ask("DELETE", f"{KEYS}/openai", 503).json()["code"] == "etcd-unreachable"
        assert operator.providers() == {"openai"}
    finally:
        await asyncio.to_thread(server.start)
    operator.store("anthropic")
    assert operator.providers() == {"openai", "anthropic"}


async def test_keys_from_before_the_cluster_become_everybodys(nodes: Callable[[str], Service]) -> None:
    first, second = nodes("a"), nodes("b")
    in_a_cluster = dict(first.settings)
    first.settings.clear()
    await asyncio.to_thread(first.start)
    Operator(first).store("openai")
    first.stop()
    first.settings |= in_a_cluster
    await asyncio.to_thread(first.start)
    await asyncio.to_thread(second.start)
    assert Operator(second).providers() == Operator(first).providers() == {"openai"}
