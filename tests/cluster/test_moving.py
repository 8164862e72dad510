"""Slots that move between two services in this process, over a real etcd and real connections with mutual TLS."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import msgspec
import pytest

from carrel.accounts import slot_rows
from carrel.accounts.slots import slot_of
from carrel.app import create_app
from carrel.cluster import arrivals, copying, files, moves, peers
from carrel.cluster.etcd import Etcd
from carrel.cluster.fence import Fence
from carrel.cluster.ownership import SlotMark
from carrel.cluster.peers import PeerFailed, Peers, PeerServer
from carrel.cluster.refusals import NodeCertificateUnusable, NodePeerUnusable
from carrel.cluster.registry import ClusterRegistry
from carrel.config import Settings
from tests.cluster.nodes import made_cluster
from tests.support.asgi import client_of, running
from tests.support.certificates import self_signed
from tests.support.clock import FakeClock
from tests.support.etcd import EtcdServer
from tests.support.host import Host
from tests.support.service import free_port
from tests.support.waiting import until

pytestmark = pytest.mark.program("etcd")

ADA = next(f"u{number}" for number in range(100) if slot_of(f"u{number}") < 512)
SLOT = slot_of(ADA)
MINUTE = 60.0


@dataclasses.dataclass
class Serving:
    """A node's service, and a client of it."""

    settings: Settings
    client: httpx.AsyncClient
    fence: Fence

    @property
    def host(self) -> Host:
        return Host(self.client)

    def mark(self) -> SlotMark | None:
        return files.read_marks(self.settings.data_dir).get(SLOT)


class Two:
    """Two nodes, which start when they are asked for."""

    def __init__(self, settings: Settings, server: EtcdServer, registry: ClusterRegistry, prefix: str) -> None:
        self.registry = registry
        self._settings = msgspec.structs.replace(
            settings, etcd=(server.url,), cluster=prefix.rstrip("/"), lease_seconds=60, node_peer="127.0.0.1:0"
        )

    @asynccontextmanager
    async def node(self, name: str, **other: object) -> AsyncIterator[Serving]:
        data = self._settings.data_dir.with_name(name)
        ours = msgspec.structs.replace(
            self._settings, node_name=name, data_dir=data, node_peer=f"127.0.0.1:{free_port()}", **other
        )
        app = create_app(ours, clock=FakeClock())
        async with running(app), client_of(app) as client:
            yield Serving(ours, client, cast("Fence", app.fence))

    async def begin(self, to: str, move: str = "m1") -> None:
        entry = await self.registry.entry(SLOT)
        assert entry is not None
        begun = moves.begin(entry, to, move)
        assert begun is not None
        assert await self.registry.replace({SLOT: (entry, begun)})


@pytest.fixture
async def two(settings: Settings, server: EtcdServer, etcd: Etcd, prefix: str) -> Two:
    return Two(settings, server, await made_cluster(etcd, prefix, few=False), prefix)


@pytest.fixture
def with_keys(tmp_path: Path) -> dict[str, object]:
    """The settings of nodes that give each other keys."""
    certificate, key = self_signed(tmp_path)
    return {"node_ca": certificate, "node_cert": certificate, "node_key": key, "move_keys": "on"}


async def noted(node: Serving, headers: dict[str, str], name: str) -> None:
    answer = await node.client.post("/api/contents", json={"type": "fragment", "name": name}, headers=headers)
    assert answer.status_code == 201, answer.text


async def names(node: Serving, headers: dict[str, str]) -> set[str]:
    answer = await node.client.get("/api/contents", headers=headers)
    assert answer.status_code == 200, answer.text
    return {item["name"] for item in answer.json()["items"]}


async def test_a_moved_user_goes_on_with_the_same_session_and_comes_back(
    two: Two, with_keys: dict[str, object]
) -> None:
    async with two.node("a", **with_keys) as a, two.node("b", **with_keys) as b:
        headers = await a.host.signed_in(ADA)
        await noted(a, headers, "before")
        await two.begin("b")
        await until(lambda: SLOT in b.fence.serving)
        assert await names(b, headers) == {"before"}
        await noted(b, headers, "there")
        refused = await a.client.get("/api/contents", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (421, "wrong-node")
        await until(lambda: a.mark() is None)
        assert list(files.slot_folder(a.settings.data_dir, SLOT).iterdir()) == []
        await two.begin("a", "m2")
        await until(lambda: SLOT in a.fence.serving)
        assert await names(a, headers) == {"before", "there"}
        entry = await two.registry.entry(SLOT)
        assert entry is not None
        assert (entry.node, entry.copy, a.mark()) == ("a", "m2", SlotMark(state="owned", copy="m2"))


async def test_the_last_copy_of_a_large_slot_reads_only_the_logs(
    two: Two, with_keys: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    release, opened, read = Peers.release, copying.opened, set[str]()
    async with two.node("a", **with_keys) as a, two.node("b", **with_keys) as b:
        headers = await a.host.signed_in(ADA)
        await noted(a, headers, "before")

        def noted_opening(path: Path) -> AbstractContextManager[int]:
            read.add(path.name)
            return opened(path)

        async def late(self: Peers, source: str, slot: int, move: str) -> None:
            await noted(a, headers, "late")
            await release(self, source, slot, move)
            monkeypatch.setattr(copying, "opened", noted_opening)

        monkeypatch.setattr(arrivals, "LARGE_BYTES", 0)
        monkeypatch.setattr(Peers, "release", late)
        await two.begin("b")
        await until(lambda: SLOT in b.fence.serving)
        assert await names(b, headers) == {"before", "late"}
    assert read == {"workspace.db-wal", slot_rows.FILE}


async def test_without_the_operators_word_keys_stay_where_they_are_and_are_wiped(two: Two) -> None:
    async with two.node("a") as a, two.node("b") as b:
        headers = await a.host.signed_in(ADA)
        await noted(a, headers, "before")
        await two.begin("b")
        await until(lambda: SLOT in b.fence.serving)
        refused = await b.client.get("/api/contents", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (401, "key-not-cached")
        assert await names(b, await b.host.signed_in(ADA)) == {"before"}
        # The token of before is in force again with the key.
        assert await names(b, headers) == {"before"}


async def test_an_aborted_move_gives_the_slot_back_with_keys_and_all(two: Two, with_keys: dict[str, object]) -> None:
    async with two.node("a", **with_keys) as a:
        headers = await a.host.signed_in(ADA)
        await noted(a, headers, "before")
        await two.begin("b")
        target = await _target(two, a)
        try:
            address = (await two.registry.peers())["a"]
            await target.release(address, SLOT, "m1")
            refused = await a.client.get("/api/contents", headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (503, "slot-moving")
            with pytest.raises(PeerFailed, match="not committed"):
                await target.keys(address, SLOT, "m1")
            entry = await two.registry.entry(SLOT)
            assert entry is not None
            aborted = moves.abort(entry, "m1")
            assert aborted is not None
            await two.registry.replace({SLOT: (entry, aborted)})
            await until(lambda: SLOT in a.fence.serving)
            assert await names(a, headers) == {"before"}
            with pytest.raises(PeerFailed, match="not under way"):
                await target.release(address, SLOT, "m1")
        finally:
            await target.close()


async def _target(two: Two, a: Serving) -> Peers:
    cluster = await two.registry.cluster()
    tls = peers.contexts(a.settings)
    assert tls is not None
    return Peers(peers.token_of(cluster, a.settings.service_key.reveal()), tls[1])


async def test_whoever_has_no_certificate_or_another_service_key_gets_nothing(
    two: Two, with_keys: dict[str, object]
) -> None:
    async with two.node("a", **with_keys) as a:
        address = (await two.registry.peers())["a"]
        cluster = await two.registry.cluster()
        tls = peers.contexts(a.settings)
        assert tls is not None
        plain = Peers(peers.token_of(cluster, a.settings.service_key.reveal()), None)
        foreign = Peers(peers.token_of(cluster, bytes(32)), tls[1])
        for stranger in (plain, foreign):
            with pytest.raises(PeerFailed):
                await stranger.prepare(address, SLOT, "m1")
            await stranger.close()


async def test_a_target_that_was_stopped_goes_on_where_the_marks_say(two: Two, with_keys: dict[str, object]) -> None:
    async with AsyncExitStack() as stack:
        a = await stack.enter_async_context(two.node("a", **with_keys))
        headers = await a.host.signed_in(ADA)
        await noted(a, headers, "before")
        async with two.node("b", **with_keys) as b:
            data = b.settings.data_dir
        # It was stopped while it filled the folder.
        files.write_mark(data, SLOT, moves.incoming("m1"))
        (files.slot_folder(data, SLOT) / slot_rows.FILE).write_bytes(b"half of it")
        await two.begin("b")
        b = await stack.enter_async_context(two.node("b", **with_keys))
        await until(lambda: SLOT in b.fence.serving)
        assert await names(b, headers) == {"before"}


async def test_a_copy_of_an_aborted_move_is_removed_at_the_target(two: Two, with_keys: dict[str, object]) -> None:
    async with two.node("b", **with_keys) as b:
        data = b.settings.data_dir
    files.write_mark(data, SLOT, moves.arrived("m1"))
    (files.slot_folder(data, SLOT) / ("0" * 32)).mkdir()
    async with two.node("b", **with_keys) as b:
        await until(lambda: b.mark() is None)
        assert list(files.slot_folder(data, SLOT).iterdir()) == []


async def test_a_node_that_other_nodes_cannot_reach_does_not_start(two: Two, tmp_path: Path) -> None:
    async with two.node("a") as a:
        other = PeerServer(cast("Any", None), "token", lambda: True)
        with pytest.raises(NodePeerUnusable) as refused:
            await other.start(a.settings.node_peer or "", None)
        assert refused.value.code == "node-peer-unusable"
        await other.stop()
        (tmp_path / "nothing.pem").write_text("nothing")
        for name in ("nothing.pem", "absent.pem"):
            file = tmp_path / name
            settings = msgspec.structs.replace(a.settings, node_ca=file, node_cert=file, node_key=file)
            with pytest.raises(NodeCertificateUnusable) as unusable:
                peers.contexts(settings)
            assert unusable.value.code == "node-certificate-unusable"
