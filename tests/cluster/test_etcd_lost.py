"""A node whose etcd is cut off, loses its leader, or loses most of its servers, while users read and write."""

import asyncio
import secrets
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from carrel.cluster.etcd import Etcd
from carrel.cluster.registry import ClusterRegistry, shared_out
from tests.support.etcd import EtcdServer, ThreeServers
from tests.support.service import Service
from tests.support.soak import Figure, size
from tests.support.steady_load import sign_in, steady_load

pytestmark = [pytest.mark.program("etcd"), pytest.mark.soak(campaign="nodes", alone=True)]

MINUTE = 60.0
SPARE_SECONDS = 0.5
"""The last acknowledgement comes so long before the lease is free, at least."""
USERS = ("ada", "bob", "cyd")


class Wire:
    """What lies between a node and etcd, and can be cut."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.port = 0
        self.is_cut = False

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """Nothing comes through any more, and nobody is told."""
        self.is_cut = True

    def mend(self) -> None:
        self.is_cut = False
        for writer in self._writers:
            writer.close()

    async def end(self) -> None:
        self.mend()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, onward = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, onward}
        try:
            with suppress(OSError):
                await asyncio.gather(self._pass_on(reader, onward), self._pass_on(back, writer))
        finally:  # also when the test ends while a connection is being made
            for end in (writer, onward):
                self._writers.discard(end)
                end.close()

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            if not self.is_cut:
                target.write(data)
                await target.drain()
        target.close()


async def cluster(etcd: Etcd, name: str) -> tuple[ClusterRegistry, str]:
    """A cluster of one node, and its service key."""
    key = secrets.token_bytes(32)
    registry = ClusterRegistry(etcd, name, key)
    members = {"a": "127.0.0.1:1"}
    assert await registry.create(name, members, shared_out(["a"]))
    return registry, key.hex()


@asynccontextmanager
async def node(folder: Path, key: str, **settings: str) -> AsyncIterator[Service]:
    service = Service(folder, service_key=key, settings={"CARREL_NODE_NAME": "a", **settings})
    await asyncio.to_thread(service.start)
    try:
        yield service
    finally:
        service.kill()


class Writer:
    """Writes without a pause, and remembers when it was last told that something was written."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._session = sign_in(service, "ada")
        self.last = 0.0
        self.refused = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        with httpx.Client(base_url=f"{self._service.url}/api", headers=self._session, timeout=MINUTE) as client:
            while not self._over.is_set():
                try:
                    answer = client.post("/contents", json={"type": "fragment", "name": "x"})
                except httpx.HTTPError:
                    continue
                if answer.status_code == 201:
                    self.last = time.monotonic()
                    self.refused.clear()
                else:
                    assert answer.json()["code"] == "node-suspended", answer.text
                    self.refused.set()

    def end(self) -> None:
        self._over.set()
        self._thread.join()


async def seconds_before_the_end(registry: ClusterRegistry, wire: Wire, writer: Writer) -> float:
    """Cut the wire: how long before the lease is free the last write is acknowledged."""
    wire.cut()
    while await registry.present():
        await asyncio.sleep(0.005)
    free = time.monotonic()
    assert await asyncio.to_thread(writer.refused.wait, MINUTE)
    before = free - writer.last
    wire.mend()
    async with asyncio.timeout(MINUTE):
        while writer.refused.is_set():
            await asyncio.sleep(0.01)
    return before


async def test_cut_off_from_etcd_a_node_stops_before_its_lease_is_free(
    server: EtcdServer, etcd: Etcd, prefix: str, tmp_path: Path, figure: Figure
) -> None:
    registry, key = await cluster(etcd, prefix.rstrip("/"))
    wire = Wire(server.port)
    await wire.start()
    settings = {
        "CARREL_ETCD": f"http://127.0.0.1:{wire.port}",
        "CARREL_CLUSTER": prefix.rstrip("/"),
        "CARREL_LEASE_SECONDS": "3",
    }
    cuts = size(50)
    async with node(tmp_path / "a", key, **settings) as service:
        writer = await asyncio.to_thread(Writer, service)
        try:
            before = [await seconds_before_the_end(registry, wire, writer) for _ in range(cuts)]
        finally:
            await asyncio.to_thread(writer.end)
    await wire.end()
    figure("a node cut off from etcd under load", cuts=cuts, too_late=sum(one < SPARE_SECONDS for one in before))
    assert min(before) >= SPARE_SECONDS, before


@pytest.fixture
def three(tmp_path: Path) -> Iterator[ThreeServers]:
    servers = ThreeServers(tmp_path)
    servers.start()
    yield servers
    servers.stop()


@asynccontextmanager
async def beside_three(three: ThreeServers, folder: Path) -> AsyncIterator[Service]:
    etcd = Etcd([server.url for server in three.servers], call_seconds=20.0)
    try:
        _, key = await cluster(etcd, "three")
    finally:
        await etcd.close()
    settings = {"CARREL_ETCD": three.urls, "CARREL_CLUSTER": "three", "CARREL_LEASE_SECONDS": "10"}
    async with node(folder / "node", key, **settings) as service:
        yield service


async def test_a_leader_that_is_killed_costs_no_request(three: ThreeServers, tmp_path: Path, figure: Figure) -> None:
    kills, answered, failures = size(10), 0, []
    async with beside_three(three, tmp_path) as service:
        with steady_load(service, *USERS) as load:
            for _ in range(kills):
                leader = await asyncio.to_thread(three.leader)
                leader.stop()
                # Longer than the lease: the node has to renew it at another server.
                await asyncio.sleep(12)
                await asyncio.to_thread(three.start)
            answered, failures = load.answered.total(), load.failures
    figure("leaders of etcd killed under load", kills=kills, requests=answered, failed=len(failures))
    assert failures == []


async def test_without_most_servers_of_etcd_a_node_keeps_its_keys_and_answers_soon_after(
    three: ThreeServers, tmp_path: Path, figure: Figure
) -> None:
    losses, slowest = size(10), 0.0
    async with beside_three(three, tmp_path) as service:
        session = await asyncio.to_thread(sign_in, service, "ada")
        async with httpx.AsyncClient(base_url=f"{service.url}/api", headers=session, timeout=MINUTE) as client:
            for _ in range(losses):
                for server in three.servers[:2]:
                    server.stop()
                await asyncio.sleep(10)
                async with asyncio.timeout(MINUTE):
                    while (await client.get("/users/me")).status_code != 503:
                        await asyncio.sleep(0.05)
                await asyncio.to_thread(three.start)
                back = time.monotonic()
                async with asyncio.timeout(MINUTE):
                    while (answer := await client.get("/users/me")).status_code != 200:
                        assert answer.status_code == 503, answer.text
                        await asyncio.sleep(0.01)
                slowest = max(slowest, time.monotonic() - back)
    figure("etcd without most of its servers for 10 s", losses=losses, sign_ins=0, seconds_to_the_first_answer=slowest)
    assert slowest <= 2.0
