"""Slots that move between nodes behind HAProxy, under load: how long nobody serves them, and what a kill leaves."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import httpx
import pytest

from carrel.cluster.etcd import Etcd
from tests.cluster.moved import MINUTE, STEPS, VICTIMS, Observed, Writer, users_of
from tests.cluster.proxied import Proxied, proxied
from tests.support.etcd import EtcdServer
from tests.support.model_server import Running, model_server
from tests.support.soak import Figure, size

pytestmark = [pytest.mark.program("etcd"), pytest.mark.program("haproxy")]

SLOT = 7
OTHERS = 3
"""Users of other slots who write meanwhile."""


@pytest.fixture(scope="module")
def models() -> Iterator[Running]:
    with model_server(latency_ms=100) as models:
        yield models


@pytest.fixture(scope="module")
def cluster(server: EtcdServer, models: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    settings = {"CARREL_PROVIDER_HOSTS": models.host, "CARREL_MAX_OPEN_WORKSPACES": "2000"}
    with proxied(Path(tmp_path_factory.mktemp("moving")), server, ("a", "b"), settings) as cluster:
        cluster.keep_map()
        yield cluster


class Load:
    """Users of one slot and of others, who write until it is over."""

    def __init__(self, cluster: Proxied, client: httpx.AsyncClient) -> None:
        self.cluster, self.client = cluster, client
        self.writers: list[Writer] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def writes(self, uuids: list[str], rest_seconds: float = 0.02) -> list[Writer]:
        begun = [Writer(uuid, await self.cluster.signed_in(self.client, uuid)) for uuid in uuids]
        self.writers += begun
        self._tasks += [asyncio.create_task(writer.run(self.cluster, self.client, rest_seconds)) for writer in begun]
        return begun

    async def until_written(self, writers: list[Writer], more: int = 3) -> None:
        """Each of them is told of further writes."""
        counts = {writer.uuid: len(writer.acknowledged) + more for writer in writers}
        async with asyncio.timeout(2 * MINUTE):
            while any(len(writer.acknowledged) < counts[writer.uuid] for writer in writers):
                await asyncio.sleep(0.02)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task


def connected(cluster: Proxied) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=200)
    return httpx.AsyncClient(base_url=cluster.url, timeout=MINUTE, limits=limits)


def other_users() -> list[str]:
    return [next(users_of(slot)) for slot in range(200, 200 + OTHERS)]


async def with_a_run(
    cluster: Proxied, client: httpx.AsyncClient, models: Running, uuid: str, documents: int = 15, concurrency: int = 1
) -> tuple[str, str]:
    """A user who has started a run of some seconds; the token, and the run."""
    headers = await cluster.signed_in(client, uuid)
    key = {"provider": "openai", "key": models.key, "base_url": models.base_url}
    assert (await client.post("/api/provider-keys", json=key, headers=headers)).status_code == 201

    async def content(kind: str, body: str) -> str:
        told = {"type": kind, "name": body[:20], "body": body}
        made = await client.post("/api/contents", json=told, headers=headers)
        return str(made.json()["id"])

    criteria = await content("criteria", "- name: coverage\n  description: what the document says\n")
    configuration = {
        "inputs": [await content("input_document", f"Document {number}.") for number in range(documents)],
        "instructions": await content("generation_instructions", "Summarise {{document}}."),
        "generation": {"candidates": [{"model": "openai:alpha"}, {"model": "openai:beta"}]},
        "scoring": {"judges": [{"model": "openai:judge-one"}], "criteria": criteria},
        "limits": {"concurrency": concurrency},
    }
    run = await client.post("/api/runs", json={"configuration": configuration}, headers=headers)
    assert run.status_code == 201, run.text
    started = await client.post(f"/api/runs/{run.json()['id']}/start", headers=headers)
    assert started.status_code == 202, started.text
    return headers["X-SVC-Session-Token"], run.json()["id"]


async def completed(client: httpx.AsyncClient, token: str, run: str) -> dict[str, object]:
    """The run, when it has ended; nobody resumes it."""
    async with asyncio.timeout(3 * MINUTE):
        while True:
            answer = await client.get(f"/api/runs/{run}", headers={"X-SVC-Session-Token": token})
            if answer.status_code == 200 and answer.json()["state"] not in ("pending", "running", "paused"):
                found: dict[str, object] = answer.json()
                return found
            assert answer.status_code in (200, 503), answer.text
            await asyncio.sleep(0.2)


async def moved_under_load(
    cluster: Proxied, models: Running, etcd: Etcd, users: int, runs: int, writers: int
) -> dict[str, float]:
    """Move a slot with so many open workspaces; what it cost."""
    observed = Observed(cluster, etcd, SLOT)
    async with connected(cluster) as client:
        turns = asyncio.Semaphore(16)

        async def opened(uuid: str) -> None:
            async with turns:
                headers = await cluster.signed_in(client, uuid)
                body = {"type": "fragment", "name": "first"}
                assert (await client.post("/api/contents", json=body, headers=headers)).status_code == 201

        uuids = list(islice(users_of(SLOT), users))
        await asyncio.gather(*map(opened, uuids[runs + writers :]))
        load = Load(cluster, client)
        started = [await with_a_run(cluster, client, models, uuid) for uuid in uuids[:runs]]
        here = await load.writes(uuids[runs : runs + writers])
        others = await load.writes(other_users())
        await load.until_written(load.writers)
        source = await observed.owner()
        target = next(name for name in cluster.names if name != source)
        said = await asyncio.to_thread(cluster.carrel, "cluster", "move", str(SLOT), target)
        assert said.splitlines()[-1] == "1 of 1 slot moved"
        await load.until_written(load.writers)
        ended = [await completed(client, token, run) for token, run in started]
        await load.stop()
        assert {run["state"] for run in ended} == {"completed"}
        assert await observed.owner() == target
        lost = sum([len(await writer.lost(client)) for writer in load.writers])
        assert {error for writer in others for error in writer.errors} == set()
        return {
            "users": users,
            "runs": runs,
            "acknowledged": sum(len(writer.acknowledged) for writer in load.writers),
            "lost": lost,
            "sign_ins": sum(writer.sign_ins for writer in load.writers),
            "gap_seconds": max(writer.gap() for writer in here),
            "others_stall_seconds": max(writer.longest for writer in others),
        }


async def test_a_slot_moves_under_load_without_a_loss_or_a_sign_in(
    cluster: Proxied, models: Running, etcd: Etcd
) -> None:
    cost = await moved_under_load(cluster, models, etcd, users=8, runs=1, writers=2)
    assert (cost["lost"], cost["sign_ins"]) == (0, 0)


@pytest.mark.parametrize(("step", "victim"), [("released", "target"), ("arrived", "source"), ("incoming", "mover")])
async def test_a_kill_in_the_middle_of_a_move_leaves_one_owner_and_every_write(
    cluster: Proxied, etcd: Etcd, step: str, victim: str
) -> None:
    assert await lost_by_kills(cluster, etcd, [(step, victim)]) == (0, 1)


async def lost_by_kills(cluster: Proxied, etcd: Etcd, cases: list[tuple[str, str]]) -> tuple[int, int]:
    """Acknowledged writes that are gone, and the kills after which one node owned the slot."""
    observed = Observed(cluster, etcd, SLOT)
    owned = lost = 0
    async with connected(cluster) as client:
        load = Load(cluster, client)
        writers = await load.writes(list(islice(users_of(SLOT), 2)))
        await load.until_written(writers)
        for step, victim in cases:
            source = await observed.owner()
            target = next(name for name in cluster.names if name != source)
            owned += await observed.killed_at(step, victim, target) in cluster.names
            await load.until_written(writers)
        await load.stop()
        lost = sum([len(await writer.lost(client)) for writer in writers])
    return lost, owned


@pytest.mark.soak(campaign="nodes", alone=True)
async def test_moves_of_a_slot_with_many_open_workspaces(
    cluster: Proxied, models: Running, etcd: Etcd, figure: Figure
) -> None:
    cost = await moved_under_load(cluster, models, etcd, users=size(1_000), runs=min(5, size(500)), writers=10)
    figure("a slot moves under load, with its users' keys", **cost)
    assert (cost["lost"], cost["sign_ins"]) == (0, 0)


@pytest.mark.soak(campaign="nodes")
async def test_mover_source_and_target_are_killed_at_every_step(cluster: Proxied, etcd: Etcd, figure: Figure) -> None:
    cases = [(step, victim) for step in STEPS for victim in VICTIMS]
    kills = cases * max(1, size(5)) if size(100) > 20 else cases[: size(100)]
    lost, owned = await lost_by_kills(cluster, etcd, kills)
    figure("kills of mover, source and target at every step of a move", kills=len(kills), one_owner=owned, lost=lost)
    assert (lost, owned) == (0, len(kills))
