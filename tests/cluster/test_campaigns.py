"""Long campaigns with nodes: many users behind the proxy, and pauses past the lease with a take-over."""

import asyncio
import secrets
import shutil
import signal
from collections import Counter
from pathlib import Path

import httpx
import pytest

from carrel.cluster.etcd import Etcd
from tests.cluster.proxied import proxied
from tests.cluster.test_processes import MINUTE, made, signed_in
from tests.support.etcd import EtcdServer
from tests.support.service import Service
from tests.support.soak import Figure, size

pytestmark = [pytest.mark.program("etcd"), pytest.mark.soak(campaign="nodes")]

AT_ONCE = 32
WRITERS = 4
LEASE_SECONDS = 3


@pytest.mark.program("haproxy")
async def test_requests_of_many_users_over_three_nodes(server: EtcdServer, tmp_path: Path, figure: Figure) -> None:
    users, requests = size(2_000), size(20_000)
    turns = asyncio.Semaphore(AT_ONCE)
    statuses: Counter[int] = Counter()
    strangers = 0
    with proxied(tmp_path, server, ("a", "b", "c")) as cluster:
        async with httpx.AsyncClient(base_url=cluster.url, timeout=MINUTE) as client:

            async def session(uuid: str) -> dict[str, str]:
                async with turns:
                    return await cluster.signed_in(client, uuid)

            async def ask(uuid: str, headers: dict[str, str]) -> None:
                nonlocal strangers
                async with turns:
                    answer = await client.get("/api/users/me", headers=headers)
                statuses[answer.status_code] += 1
                strangers += answer.status_code == 200 and answer.json()["uuid"] != uuid

            uuids = [f"user-{number}" for number in range(users)]
            sessions = await asyncio.gather(*map(session, uuids))
            await asyncio.gather(*(ask(uuids[n % users], sessions[n % users]) for n in range(requests)))
            right = cluster.map_in_force()
            following = dict(zip(cluster.names, (*cluster.names[1:], cluster.names[0]), strict=True))
            cluster.set_map({slot: following[node] for slot, node in right.items()})
            misled = size(1_500)
            body = {"type": "fragment", "name": "nobody writes this"}
            posts = (client.post("/api/contents", json=body, headers=sessions[n % users]) for n in range(misled))
            executed = sum([(await post).status_code != 503 for post in posts])
            async with asyncio.timeout(MINUTE):
                # The nodes write their logs a moment later.
                while sum(log.count('"code":"wrong-node"') for log in cluster.logs()) < misled:
                    await asyncio.sleep(0.1)
    figure("requests over three nodes", users=users, requests=requests, at_a_stranger=strangers)
    figure("requests with a wrong map", requests=misled, executed=executed)
    assert (strangers, executed, dict(statuses)) == (0, 0, {200: requests})


@pytest.fixture
async def node(tmp_path: Path, server: EtcdServer, etcd: Etcd, prefix: str) -> Service:
    settings = {
        "CARREL_NODE_NAME": "a",
        "CARREL_ETCD": server.url,
        "CARREL_CLUSTER": prefix.rstrip("/"),
        "CARREL_LEASE_SECONDS": str(LEASE_SECONDS),
    }
    node = Service(tmp_path / "0", service_key=secrets.token_hex(32), settings=settings)
    await made(etcd, prefix, node.service_key, ("a",))
    return node


@pytest.mark.parametrize("fence", ["lease", "storage"])
async def test_pauses_past_the_lease_with_a_take_over(node: Service, fence: str, figure: Figure) -> None:
    """With `storage` nothing looks at the lease, and the old disk stays: so it shows what the fence prevents."""
    node.settings["CARREL_NODE_FENCE"] = fence
    pauses = size(100 if fence == "lease" else 10)
    acknowledged = lost = stale = 0
    await asyncio.to_thread(node.start)
    for number in range(pauses):
        told, late, other = await _pause(node, node.folder.with_name(f"{number + 1}"))
        headers = {uuid: signed_in(other, uuid) for uuid in told}
        async with httpx.AsyncClient(base_url=other.url, timeout=MINUTE) as client:
            for uuid, names in told.items():
                acknowledged += len(names)
                found = await _names(client, headers[uuid])
                lost += len(names - found)
        stale += late
        node = other
    node.kill()
    figure(
        f"pauses past the lease ({'fenced' if fence == 'lease' else 'not fenced'})",
        pauses=pauses,
        acknowledged=acknowledged,
        lost=lost,
        stale_reads=stale,
    )
    if fence == "lease":
        assert (lost, stale) == (0, 0)
    elif pauses == 10:
        assert lost + stale


async def _pause(node: Service, folder: Path) -> tuple[dict[str, set[str]], int, Service]:
    """Pause the node under load until another process has taken its place; what it acknowledged, and its late reads."""
    assert node.process is not None
    other = Service(
        folder,
        plugin_secret=node.plugin_secret,
        admin_secret=node.admin_secret,
        service_key=node.service_key,
        settings=node.settings,
    )
    told: dict[str, set[str]] = {f"user-{number}": set() for number in range(WRITERS)}
    late, is_over, began = 0, False, asyncio.Event()

    async def write(uuid: str, headers: dict[str, str]) -> None:
        nonlocal late
        async with httpx.AsyncClient(base_url=node.url, timeout=MINUTE) as client:
            while True:
                name = secrets.token_hex(8)
                try:
                    body = {"type": "fragment", "name": name}
                    if (await client.post("/api/contents", json=body, headers=headers)).status_code == 201:
                        told[uuid].add(name)
                    asked_late = is_over
                    read = await client.get("/api/contents", params={"limit": 1}, headers=headers)
                    late += asked_late and read.status_code == 200
                except httpx.ConnectError:
                    return
                except httpx.HTTPError:
                    continue
                if len(told[uuid]) > 2:
                    began.set()

    headers = {uuid: await asyncio.to_thread(signed_in, node, uuid) for uuid in told}
    writers = [asyncio.create_task(write(uuid, headers[uuid])) for uuid in told]
    await began.wait()
    node.process.send_signal(signal.SIGSTOP)
    await asyncio.to_thread(shutil.copytree, node.folder, folder)
    await asyncio.to_thread(other.start)
    is_over = True
    node.process.send_signal(signal.SIGCONT)
    await asyncio.gather(*writers)
    assert await asyncio.to_thread(node.process.wait, MINUTE) == 3
    return told, late, other


async def _names(client: httpx.AsyncClient, headers: dict[str, str]) -> set[str]:
    found: set[str] = set()
    params: dict[str, str | int] = {"limit": 100}
    while True:
        page = (await client.get("/api/contents", params=params, headers=headers)).json()
        found |= {item["name"] for item in page["items"]}
        if not page.get("next_cursor"):
            return found
        params["cursor"] = page["next_cursor"]
