"""Requests to a service that is one node of several: what it refuses, and which answers it holds back."""

import dataclasses
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
import msgspec
import pytest

from carrel.accounts.slots import slot_of
from carrel.app import create_app
from carrel.cluster.etcd import Etcd
from carrel.cluster.fence import Fence
from carrel.cluster.registry import ClusterRegistry
from carrel.config import Settings
from carrel.http.client_connection import CLIENT, ClientConnection
from carrel.http.requests.envelope import Envelope
from tests.cluster.nodes import made_cluster
from tests.support.asgi import client_of, running
from tests.support.begun import PLUGIN_SECRET
from tests.support.clock import FakeClock
from tests.support.etcd import EtcdServer
from tests.support.host import Host
from tests.support.waiting import until

pytestmark = pytest.mark.program("etcd")

HERE = next(f"u{number}" for number in range(100) if slot_of(f"u{number}") < 512)
ANY = next(slot for slot in range(512) if slot != slot_of(HERE))
ELSEWHERE = next(f"u{number}" for number in range(100) if slot_of(f"u{number}") >= 512)


@dataclasses.dataclass
class OfANode:
    """A node's service, a client of it, its fence, and the map of its cluster."""

    app: Envelope
    client: httpx.AsyncClient
    fence: Fence
    registry: ClusterRegistry

    async def reassign(self, slot: int, **other: str) -> None:
        entry = await self.registry.entry(slot)
        assert entry is not None
        assert await self.registry.replace({slot: (entry, msgspec.structs.replace(entry, **other))})


@asynccontextmanager
async def serving(settings: Settings, server: EtcdServer, etcd: Etcd, prefix: str) -> AsyncIterator[OfANode]:
    registry = await made_cluster(etcd, prefix, few=False)
    ours = msgspec.structs.replace(
        settings, node_name="a", etcd=(server.url,), cluster=prefix.rstrip("/"), lease_seconds=60
    )
    app = create_app(ours, clock=FakeClock())
    async with running(app), client_of(app) as client:
        node = OfANode(app, client, cast("Fence", app.fence), registry)
        # What the node itself has changed in the map comes back to it, and would undo what a test does to the fence.
        await node.reassign(ANY, node="b")
        await until(lambda: ANY not in node.fence.serving)
        yield node


async def test_users_of_other_nodes_are_refused_whatever_they_ask(
    settings: Settings, server: EtcdServer, etcd: Etcd, prefix: str
) -> None:
    async with serving(settings, server, etcd, prefix) as node:
        host = Host(node.client)
        signed_in = await host.signed_in(HERE)
        assert (await node.client.get("/api/users/me", headers=signed_in)).status_code == 200
        plugin = {"X-SVC-Plugin-Secret": PLUGIN_SECRET}
        asked = [
            node.client.post("/api/users", json={"uuid": ELSEWHERE}, headers=plugin),
            node.client.post("/api/auth/login", json={"uuid": ELSEWHERE, "db_key_hex": "ab" * 32}, headers=plugin),
            node.client.post("/api/auth/refresh", json={"uuid": ELSEWHERE}, headers=plugin),
            node.client.post("/api/auth/logout", json={"uuid": ELSEWHERE}, headers=plugin),
            node.client.post(f"/api/users/{ELSEWHERE}/activate", headers=plugin),
            node.client.delete(f"/api/users/{ELSEWHERE}", headers=plugin),
            node.client.post("/api/credits/add", json={"uuid": ELSEWHERE, "amount": "1"}, headers=plugin),
        ]
        for request in asked:
            answer = await request
            assert (answer.status_code, answer.json()["code"]) == (421, "wrong-node"), answer.request.url
        # A slot that the map gives to this node, while its disk holds something else.
        await node.reassign(slot_of(HERE), copy="another")
        await until(lambda: slot_of(HERE) in node.fence.lacking)
        refused = await node.client.post("/api/auth/refresh", json={"uuid": HERE}, headers=plugin)
        assert (refused.status_code, refused.json()["code"]) == (503, "slot-unavailable")


async def test_past_the_deadline_nothing_begins_and_health_is_told(
    settings: Settings, server: EtcdServer, etcd: Etcd, prefix: str
) -> None:
    async with serving(settings, server, etcd, prefix) as node:
        signed_in = await Host(node.client).signed_in(HERE)
        until, node.fence.deadline = node.fence.deadline, 0.0
        for path in ("/api/users/me", "/api/contents", "/api/admin/system-keys", "/api/auth/login"):
            refused = await node.client.get(path, headers=signed_in)
            assert (refused.status_code, refused.json()["code"]) == (503, "node-suspended")
            assert refused.headers["Retry-After"] == "2"
        assert (await node.client.get("/api/health")).status_code == 200
        assert (await node.client.get("/api/health/ready")).json()["code"] == "not-ready"
        node.fence.deadline = until
        # The keys stayed.
        assert (await node.client.get("/api/users/me", headers=signed_in)).status_code == 200
        assert (await node.client.get("/api/health/ready")).status_code == 200


async def test_what_was_committed_past_the_deadline_is_not_acknowledged(
    settings: Settings, server: EtcdServer, etcd: Etcd, prefix: str
) -> None:
    async with serving(settings, server, etcd, prefix) as node:
        signed_in = await Host(node.client).signed_in(HERE)
        until = node.fence.deadline

        def close() -> None:
            node.fence.deadline = 0.0

        sent, dropped = await exchanged(node.app, "POST", "/api/contents", signed_in, CONTENT, close)
        assert (sent, dropped) == ([], 1)
        node.fence.deadline = until
        # It was written, and nobody was told.
        contents = (await node.client.get("/api/contents", headers=signed_in)).json()["items"]
        assert [content["name"] for content in contents] == ["a letter"]
        sent, dropped = await exchanged(node.app, "GET", "/api/contents", signed_in, b"", close)
        assert (sent, dropped) == ([], 1)


async def test_what_a_slot_lost_meanwhile_is_not_acknowledged_either(
    settings: Settings, server: EtcdServer, etcd: Etcd, prefix: str
) -> None:
    async with serving(settings, server, etcd, prefix) as node:
        signed_in = await Host(node.client).signed_in(HERE)

        def lose() -> None:
            node.fence.serving -= {slot_of(HERE)}

        sent, dropped = await exchanged(node.app, "POST", "/api/contents", signed_in, CONTENT, lose)
        assert (sent, dropped) == ([], 1)


CONTENT = b'{"type": "fragment", "name": "a letter", "body": "Dear"}'


async def exchanged(
    app: Any, method: str, path: str, headers: dict[str, str], body: bytes, meanwhile: Callable[[], None]
) -> tuple[list[Any], int]:
    """One request, during which something happens: after its check on entry, and before its answer."""
    sent: list[Any] = []
    drops: list[None] = []
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    if body:
        raw += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": raw,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 1),
        CLIENT: ClientConnection(lambda: drops.append(None)),
    }

    async def receive() -> Any:
        meanwhile()
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        meanwhile()
        sent.append(message)

    if not body:
        meanwhile_entry = app.fence.refusal

        def refusal(path: str) -> Any:
            found = meanwhile_entry(path)
            meanwhile()
            return found

        app.fence.refusal = refusal
    await app(scope, receive, send)
    return sent, len(drops)
