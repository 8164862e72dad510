"""What befalls a cluster of three nodes while its users work: kills, pauses, moves, growth, losses of etcd and HAProxy.

Each event has 24 users who write and three who run, and a line with what it cost them.
"""

import asyncio
import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import httpx
import pytest

from tests.cluster.moved import MINUTE, Writer, names_of, users_of
from tests.cluster.proxied import Proxied, proxied
from tests.cluster.test_moving_nodes import completed, connected, with_a_run
from tests.support.etcd import EtcdServer
from tests.support.model_server import Running, model_server
from tests.support.service import Service, free_port
from tests.support.soak import Figure, size

pytestmark = [
    pytest.mark.program("etcd"),
    pytest.mark.program("haproxy"),
    pytest.mark.soak(campaign="nodes", alone=True),
]

LEASE_SECONDS = 5
WRITERS, RUNS = 24, 3
SLOTS = [slot * 1024 // (WRITERS + RUNS) for slot in range(WRITERS + RUNS)]
"""Of the users, a third on each node."""
AWAY_SECONDS = 20.0


@dataclass
class Witness(Writer):
    """A writer who reads what it was told, and notes what was refused."""

    refused: set[str] = field(default_factory=set)
    stale: int = 0

    async def run(self, cluster: Proxied, client: httpx.AsyncClient, rest_seconds: float = 0.05) -> None:
        while True:
            name = secrets.token_hex(8)
            try:
                body = {"type": "fragment", "name": name}
                answer = await client.post("/api/contents", json=body, headers=self.headers)
                if answer.status_code == 201:
                    self.acknowledged.add(name)
                    self.moments.append(time.perf_counter())
                    read = await client.get(f"/api/contents/{answer.json()['id']}", headers=self.headers)
                    self.stale += read.status_code == 404
                elif answer.status_code == 401:
                    await self.sign_in(cluster, client)
                else:
                    self.refused.add(name)
            except httpx.HTTPError:
                pass
            await asyncio.sleep(rest_seconds)


@dataclass
class Stage:
    """The cluster, its etcd, and its users."""

    cluster: Proxied
    server: EtcdServer
    models: Running
    client: httpx.AsyncClient
    writers: list[Witness]

    async def carrel(self, *words: str) -> str:
        return await asyncio.to_thread(self.cluster.carrel, "cluster", *words)

    async def befallen(self, what: str, event: Callable[["Stage"], Awaitable[None]], figure: Figure) -> None:
        """Let it happen under load, and tell what it cost."""
        self.models.forget()
        before = sum(writer.sign_ins for writer in self.writers)
        began = time.perf_counter()
        for writer in self.writers:
            writer.moments = [began]
        tasks = [asyncio.create_task(writer.run(self.cluster, self.client)) for writer in self.writers]
        runs = [
            (uuid, *await with_a_run(self.cluster, self.client, self.models, uuid, documents=60))
            for uuid in (next(islice(users_of(slot), 1, None)) for slot in SLOTS[WRITERS:])
        ]
        await asyncio.sleep(1.0)
        await event(self)
        ended = [await self._ended(*run) for run in runs]
        await asyncio.sleep(1.0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        found = {writer.uuid: await names_of(self.client, writer.headers) for writer in self.writers}
        lost = sum(len(writer.acknowledged - found[writer.uuid]) for writer in self.writers)
        done = sum(len(writer.refused & found[writer.uuid]) for writer in self.writers)
        counts = self.models.counts()
        figure(
            what,
            acknowledged=sum(len(writer.moments) - 1 for writer in self.writers),
            lost=lost,
            refused=sum(len(writer.refused) for writer in self.writers),
            refused_but_done=done,
            stale_reads=sum(writer.stale for writer in self.writers),
            sign_ins=sum(writer.sign_ins for writer in self.writers) - before,
            longest_gap_seconds=max(writer.gap() for writer in self.writers),
            calls_of_models=counts.started,
            calls_repeated=counts.started - sum(ended),
        )
        for writer in self.writers:
            writer.refused.clear()
        assert (lost, done) == (0, 0), what

    async def _ended(self, uuid: str, token: str, run: str) -> int:
        """The calls that the run needed, once it has ended; signs in again and resumes it if the event takes that."""
        headers = {"X-SVC-Session-Token": token}
        async with asyncio.timeout(4 * MINUTE):
            while True:
                with suppress(httpx.HTTPError):
                    answer = await self.client.get(f"/api/runs/{run}", headers=headers)
                    found = answer.json()
                    if answer.status_code == 401:
                        key = {"uuid": uuid, "db_key_hex": "ab" * 32}
                        again = await self.client.post("/api/auth/login", json=key, headers=self.cluster.plugin)
                        headers = {"X-SVC-Session-Token": again.json().get("session_token", "")}
                    elif answer.status_code == 200 and found["state"] == "paused":
                        await self.client.post(f"/api/runs/{run}/resume", headers=headers)
                    elif answer.status_code == 200 and found["state"] not in ("pending", "running"):
                        return int(found["progress"]["total"])
                await asyncio.sleep(0.2)

    async def reloaded(self) -> None:
        """HAProxy with the configuration of now, as `systemctl reload` has it: the old process ends its connections."""
        cluster = self.cluster
        listen = ("--listen", f"127.0.0.1:{cluster.port}", "--map-file", str(cluster.map_file))
        text = await self.carrel("haproxy", *listen, "--socket", str(cluster.socket))
        (cluster.folder / "haproxy.cfg").write_text(text)
        await self.carrel("map", "--once", "--map-file", str(cluster.map_file))
        await asyncio.to_thread(cluster.reload_proxy)


# The events ----------------------------------------------------------------------------------------------------------


async def nothing(stage: Stage) -> None:
    await asyncio.sleep(5.0)


async def kills(stage: Stage) -> None:
    for name in "abcab":
        stage.cluster.nodes[name].kill()
        await asyncio.to_thread(stage.cluster.nodes[name].start)
        await asyncio.sleep(3.0)


async def paused(stage: Stage) -> None:
    """Past the lease; another process takes the place of the node, on a copy of its disk and at another address."""
    old = stage.cluster.nodes["a"]
    assert old.process is not None
    old.process.send_signal(signal.SIGSTOP)
    folder = old.folder.with_name("a-again")
    await asyncio.to_thread(shutil.copytree, old.folder, folder)
    new = Service(folder, old.plugin_secret, old.admin_secret, old.service_key, dict(old.settings))
    new.settings["CARREL_NODE_PEER"] = f"127.0.0.1:{free_port()}"
    await stage.carrel("readdress", f"a=127.0.0.1:{new.port}")
    await stage.reloaded()
    await asyncio.to_thread(new.start)
    stage.cluster.nodes["a"] = new
    old.process.send_signal(signal.SIGCONT)
    assert await asyncio.to_thread(old.process.wait, MINUTE) == 3


async def readdressed(stage: Stage) -> None:
    """A node gives its slots away, gets another address, and takes slots again."""
    node = stage.cluster.nodes["b"]
    await stage.carrel("drain", "b")
    await asyncio.to_thread(node.stop)
    node.port = free_port()
    await stage.carrel("readdress", f"b=127.0.0.1:{node.port}")
    await stage.reloaded()
    await asyncio.to_thread(node.start)
    await stage.carrel("rebalance")


async def moved(stage: Stage) -> None:
    slots = [str(slot) for slot in SLOTS[:9]]
    assert "9 of 9 slots moved" in await stage.carrel("move", *slots, "c")


async def _killed(stage: Stage, victim: str, source: str, target: str) -> None:
    slots = [str(slot) for slot in SLOTS[9:15]]
    await stage.carrel("move", *slots, source)
    mover = stage.cluster.started("cluster", "move", *slots, target)
    await asyncio.sleep(1.2)
    stage.cluster.nodes[victim].kill()
    await asyncio.to_thread(stage.cluster.nodes[victim].start)
    await asyncio.to_thread(mover.wait, 2 * MINUTE)


async def source_killed(stage: Stage) -> None:
    await _killed(stage, "b", "b", "c")


async def target_killed(stage: Stage) -> None:
    await _killed(stage, "c", "b", "c")


async def added(stage: Stage) -> None:
    """A fourth node, which takes its share."""
    cluster, first = stage.cluster, stage.cluster.nodes["b"]
    settings = first.settings | {"CARREL_NODE_NAME": "d", "CARREL_NODE_PEER": f"127.0.0.1:{free_port()}"}
    node = Service(cluster.folder / "d", first.plugin_secret, first.admin_secret, first.service_key, settings)
    await stage.carrel("add", f"d=127.0.0.1:{node.port}")
    await asyncio.to_thread(node.start)
    cluster.nodes["d"] = node
    await stage.reloaded()
    print((await stage.carrel("rebalance")).splitlines()[-1])


async def removed(stage: Stage) -> None:
    """The fourth node gives its slots back, and leaves for good."""
    print((await stage.carrel("drain", "d")).splitlines()[-1])
    await asyncio.to_thread(stage.cluster.nodes["d"].stop)
    await stage.carrel("remove", "d")
    del stage.cluster.nodes["d"]
    await stage.reloaded()


async def etcd_killed(stage: Stage) -> None:
    stage.server.stop()
    await asyncio.sleep(AWAY_SECONDS)
    await asyncio.to_thread(stage.server.start)


async def etcd_paused(stage: Stage) -> None:
    assert stage.server.process is not None
    stage.server.process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(AWAY_SECONDS)
    stage.server.process.send_signal(signal.SIGCONT)


async def proxy_restarted(stage: Stage) -> None:
    cluster = stage.cluster
    for number in (signal.SIGKILL, signal.SIGTERM):
        assert cluster.proxy is not None
        cluster.proxy.send_signal(number)
        cluster.proxy.wait()
        await asyncio.to_thread(cluster.start_proxy)
        await asyncio.sleep(2.0)


async def misled(stage: Stage) -> None:
    """The whole map names other nodes for six seconds."""
    right = stage.cluster.map_in_force()
    names = stage.cluster.names
    following = dict(zip(names, (*names[1:], names[0]), strict=True))
    for _ in range(6):
        await asyncio.to_thread(stage.cluster.set_map, {slot: following[node] for slot, node in right.items()})
        await asyncio.sleep(1.0)
    await asyncio.to_thread(stage.cluster.set_map, right)


EVENTS = (
    nothing, kills, paused, readdressed, moved, source_killed, target_killed, added, removed, etcd_killed,
    etcd_paused, proxy_restarted, misled,
)  # fmt: skip


@pytest.fixture(scope="module")
def models() -> Iterator[Running]:
    with model_server(latency_ms=100) as models:
        yield models


@asynccontextmanager
async def staged(
    folder: Path, server: EtcdServer, models: Running, settings: dict[str, str] | None = None
) -> AsyncIterator[Stage]:
    own = {"CARREL_PROVIDER_HOSTS": models.host, "CARREL_LEASE_SECONDS": str(LEASE_SECONDS), **(settings or {})}
    with proxied(folder, server, ("a", "b", "c"), own) as cluster:
        cluster.keep_map()
        async with connected(cluster) as client:
            uuids = [next(users_of(slot)) for slot in SLOTS[:WRITERS]]
            writers = [Witness(uuid, await cluster.signed_in(client, uuid)) for uuid in uuids]
            yield Stage(cluster, server, models, client, writers)


async def test_nothing_acknowledged_is_lost_whatever_befalls_the_cluster(
    server: EtcdServer, models: Running, tmp_path: Path, figure: Figure
) -> None:
    async with staged(tmp_path, server, models) as stage:
        for event in EVENTS[: size(len(EVENTS))]:
            await stage.befallen(event.__name__.replace("_", " "), event, figure)


async def test_nobody_notices_that_etcd_stops_where_the_platform_fences_the_disks(
    server: EtcdServer, models: Running, tmp_path: Path, figure: Figure
) -> None:
    async with staged(tmp_path, server, models, {"CARREL_NODE_FENCE": "storage"}) as stage:
        await stage.befallen("etcd paused, fenced by the storage", etcd_paused, figure)


# A large slot, and calls in flight -----------------------------------------------------------------------------------

_SLOT = 7
_LISTENS_ELSEWHERE = """
import os
from carrel.cluster.peers import PeerServer
start = PeerServer.start
PeerServer.start = lambda self, address, tls: start(self, os.environ["LISTEN"], tls)
from carrel.cli.program import run
run()
"""
"""A node that other nodes reach through something else."""


async def _slow_line(port: int, to: int, bytes_a_second: float) -> asyncio.Server:
    """Passes connections on, and no more than that from the other end."""

    async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, slowly: bool) -> None:
        with suppress(OSError):
            due = time.perf_counter()
            while piece := await reader.read(64 * 1024):
                if slowly:
                    due = max(due, time.perf_counter() - 0.05) + len(piece) / bytes_a_second
                    await asyncio.sleep(due - time.perf_counter())
                writer.write(piece)
                await writer.drain()
        writer.close()

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_node, to_node = await asyncio.open_connection("127.0.0.1", to)
        await asyncio.gather(passed(reader, to_node, slowly=False), passed(from_node, writer, slowly=True))

    return await asyncio.start_server(met, "127.0.0.1", port)


async def test_a_slot_of_a_gigabyte_moves_over_a_line_of_20_megabytes_a_second(
    server: EtcdServer, models: Running, tmp_path: Path, figure: Figure
) -> None:
    folder = tmp_path / "nodes"
    folder.mkdir()
    with proxied(folder, server, ("a", "b"), start=False) as cluster:
        first, near = cluster.nodes["a"], free_port()
        first.program = [sys.executable, "-c", _LISTENS_ELSEWHERE]
        first.settings["LISTEN"] = f"127.0.0.1:{near}"
        cluster.start()
        cluster.keep_map()
        far = int(first.settings["CARREL_NODE_PEER"].rpartition(":")[2])
        line = await _slow_line(far, near, 20e6)
        async with line, connected(cluster) as client:
            uuids = list(islice(users_of(_SLOT), 2))
            writers = [Witness(uuid, await cluster.signed_in(client, uuid)) for uuid in uuids]
            for writer in writers:
                # The beginning of an import stays in the workspace until the rest comes.
                part, total = size(480) * 1024 * 1024, 900 * 1024 * 1024
                headers = {
                    **writer.headers,
                    "Content-Type": "application/zip",
                    "Content-Range": f"bytes 0-{part - 1}/{total}",
                }
                zeros = (os.urandom(1024 * 1024) for _ in range(part // 2**20))

                async def sent(pieces: Iterator[bytes] = zeros) -> AsyncIterator[bytes]:
                    for piece in pieces:
                        yield piece

                kept = await client.post("/api/users/me/import", content=sent(), headers=headers)
                assert kept.status_code == 202, kept.text
            tasks = [asyncio.create_task(writer.run(cluster, client)) for writer in writers]
            began = time.perf_counter()
            said = await asyncio.to_thread(cluster.carrel, "cluster", "move", str(_SLOT), "b")
            took = time.perf_counter() - began
            assert "1 of 1 slot moved" in said
            await asyncio.sleep(3.0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            lost = sum([len(await writer.lost(client)) for writer in writers])
            stored = sum(file.stat().st_size for file in cluster.nodes["b"].data_dir.glob("slots/*7/*/*"))
        gap = max(writer.gap() for writer in writers)
        figure(
            "a large slot moves over a line of 20 MB a second",
            megabytes=stored / 1e6,
            seconds=took,
            longest_gap_seconds=gap,
            acknowledged=sum(len(writer.acknowledged) for writer in writers),
            lost=lost,
            sign_ins=sum(writer.sign_ins for writer in writers),
        )
        assert lost == 0


async def test_no_call_in_flight_is_paid_twice_when_its_slot_moves(
    server: EtcdServer, models: Running, tmp_path: Path, figure: Figure
) -> None:
    # Two nodes share them.
    settings = {"CARREL_PROVIDER_HOSTS": models.host, "CARREL_MAX_PROVIDER_CALLS": "128"}
    with proxied(tmp_path, server, ("a", "b"), settings) as cluster:
        cluster.keep_map()
        async with connected(cluster) as client:
            models.forget()
            models.latency(500)
            uuids = list(islice(users_of(_SLOT), 4))
            runs = [await with_a_run(cluster, client, models, uuid, documents=200, concurrency=16) for uuid in uuids]
            # More and more at once, as long as the server answers.
            await asyncio.to_thread(models.until_in_flight, 64)
            models.latency(3_000)
            await asyncio.sleep(1.0)
            in_flight = models.counts().in_flight
            said = await asyncio.to_thread(cluster.carrel, "cluster", "move", str(_SLOT), "b")
            assert "1 of 1 slot moved" in said
            models.latency(100)
            ended = [await completed(client, token, run) for token, run in runs]
            models_calls = models.counts().started
    needed = sum(run["progress"]["total"] for run in ended)  # type: ignore[index]
    figure("a slot moves with calls in flight", in_flight=in_flight, calls=models_calls, repeated=models_calls - needed)
    assert {run["state"] for run in ended} == {"completed"}
    assert models_calls == needed
