"""Three nodes behind a real HAProxy: every request reaches the node of its user, or is done by nobody."""

import asyncio
import json
import re
import secrets
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.accounts.slots import SLOTS
from carrel.cluster import haproxy, routing
from carrel.cluster.etcd import Etcd, Put
from tests.cluster import hostile
from tests.cluster.proxied import Proxied, proxied
from tests.support.etcd import EtcdServer

pytestmark = pytest.mark.program("etcd", "haproxy")

USERS = 24
MINUTE = 60.0


@pytest.fixture(scope="module")
def cluster(server: EtcdServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    with proxied(tmp_path_factory.mktemp("cluster"), server, ("a", "b", "c")) as cluster:
        yield cluster


def misdirected(cluster: Proxied) -> int:
    """How many requests reached a node that does not serve their user."""
    return sum(log.count('"code":"wrong-node"') for log in cluster.logs())


async def test_requests_of_many_users_reach_their_own_nodes_and_no_stranger(cluster: Proxied) -> None:
    before = misdirected(cluster)
    async with httpx.AsyncClient(base_url=cluster.url, timeout=MINUTE) as client:
        sessions = await asyncio.gather(*(cluster.signed_in(client, f"user-{number}") for number in range(USERS)))
        for _ in range(3):
            answers = await asyncio.gather(*(client.get("/api/users/me", headers=session) for session in sessions))
            assert [answer.json()["uuid"] for answer in answers] == [f"user-{number}" for number in range(USERS)]
            bodies = [{"type": "fragment", "name": secrets.token_hex(4)} for _ in sessions]
            made = await asyncio.gather(
                *(
                    client.post("/api/contents", json=body, headers=one)
                    for body, one in zip(bodies, sessions, strict=True)
                )
            )
            assert {answer.status_code for answer in made} == {201}
    assert misdirected(cluster) == before
    served = Counter(name for name in cluster.names if "/api/contents" in cluster.nodes[name].log())
    assert set(served) == set(cluster.names)


async def test_every_way_to_name_a_user_is_routed(cluster: Proxied) -> None:
    before = misdirected(cluster)
    async with httpx.AsyncClient(base_url=cluster.url, timeout=MINUTE) as client:
        for number in range(6):
            uuid = f"way_{number}-x"
            session = await cluster.signed_in(client, uuid)
            plugin, admin = cluster.plugin, cluster.admin
            asked: list[tuple[int, httpx.Response]] = [
                (200, await client.post("/api/auth/refresh", json={"uuid": uuid}, headers=plugin)),
                (200, await client.post("/api/credits/add", json={"uuid": uuid, "amount": "1"}, headers=plugin)),
                (200, await client.post(f"/api/users/{uuid}/deactivate", headers=plugin)),
                (200, await client.post(f"/api/users/{uuid}/activate", headers=plugin)),
                (200, await client.get("/api/users/me/sessions", headers=session)),
            ]
            key = {"name": "a job", "scopes": ["read"], "days": 1}
            made = await client.post("/api/users/me/program-keys", json=key, headers=session)
            exchanged = await client.post("/api/auth/program", json={"program_key": made.json()["program_key"]})
            program = {"X-SVC-Session-Token": exchanged.json()["session_token"]}
            rekeyed = {"uuid": uuid, "new_db_key_hex": "cd" * 32}
            asked += [
                (201, made),
                (200, exchanged),
                (200, await client.get("/api/contents", headers=program)),
                (200, await client.post("/api/auth/rekey", json=rekeyed, headers=plugin)),
                (204, await client.post("/api/auth/logout", json={"uuid": uuid}, headers=plugin)),
                (204, await client.delete(f"/api/users/{uuid}", headers=admin)),
            ]
            assert [
                (answer.status_code, answer.request.url) for status, answer in asked if answer.status_code != status
            ] == []
    assert misdirected(cluster) == before


async def test_with_a_wrong_map_nothing_is_executed(cluster: Proxied) -> None:
    async with httpx.AsyncClient(base_url=cluster.url, timeout=MINUTE) as client:
        session = await cluster.signed_in(client, "mapped")
        before, right = misdirected(cluster), cluster.map_in_force()
        following = dict(zip(cluster.names, (*cluster.names[1:], cluster.names[0]), strict=True))
        cluster.set_map({slot: following[node] for slot, node in right.items()})
        try:
            for _ in range(5):
                answer = await client.post("/api/contents", json={"type": "fragment", "name": "no"}, headers=session)
                assert (answer.status_code, answer.json()["code"]) == (503, "workspace-busy")
                assert answer.headers["Retry-After"] == "1"
                made = await client.post("/api/users", json={"uuid": secrets.token_hex(4)}, headers=cluster.plugin)
                assert made.status_code == 503
        finally:
            cluster.set_map(right)
        async with asyncio.timeout(MINUTE):
            # The log is written a moment later.
            while misdirected(cluster) < before + 10:
                await asyncio.sleep(0.05)
        assert (await client.get("/api/contents", headers=session)).json()["items"] == []


async def test_the_map_agent_puts_the_cluster_s_map_in_force(cluster: Proxied) -> None:
    right = cluster.map_in_force()
    cluster.set_map(dict.fromkeys(right, "a"))
    cluster.carrel("cluster", "map", "--once", "--haproxy", str(cluster.socket), "--map-file", str(cluster.map_file))
    assert cluster.map_in_force() == right
    assert cluster.map_file.read_text().count("\n") == SLOTS


async def test_what_somebody_writes_into_etcd_is_no_command_to_the_proxy(cluster: Proxied, server: EtcdServer) -> None:
    etcd, root = Etcd([server.url], call_seconds=20.0), f"/carrel/c{cluster.port}/"
    options = ("--map-file", str(cluster.map_file), "--socket", str(cluster.socket))
    keep = ("cluster", "map", "--once", "--haproxy", str(cluster.socket), "--map-file", str(cluster.map_file))
    made, servers, right = cluster.carrel("cluster", "haproxy", *options), where(cluster), cluster.map_in_force()
    assert len(servers) == 9
    slot = f"{root}slots/0007"
    before = await etcd.get(slot)
    assert before is not None
    assert before.text is not None
    try:
        for word in hostile.WORDS[:12]:
            await etcd.put_if([], [Put(slot, json.dumps({"node": word, "copy": "new"}).encode())])
            cluster.carrel(*keep)
            assert where(cluster) == servers
            assert cluster.map_in_force() == right | {7: "unassigned"}
        for address in hostile.ADDRESSES:
            forged = json.dumps({"address": address, "proof": "0" * 64}).encode()
            await etcd.put_if([], [Put(f"{root}members/{name}", forged) for name in ("z", *hostile.WORDS[:12])])
        assert cluster.carrel("cluster", "haproxy", *options) == made
    finally:
        await etcd.put_if([], [Put(slot, before.text)])
        cluster.carrel(*keep)
        await etcd.close()
    assert cluster.map_in_force() == right


def where(cluster: Proxied) -> dict[str, str]:
    """The servers that the running proxy has, and where they are."""
    rows = [line.split() for line in cluster.asked("show servers conn").splitlines() if not line.startswith("#")]
    return {row[0]: row[2] for row in rows if len(row) > 2}


async def test_a_node_that_is_away_costs_its_own_users_an_answer_and_no_others(cluster: Proxied) -> None:
    async with httpx.AsyncClient(base_url=cluster.url, timeout=MINUTE) as client:
        users = [f"away-{number}" for number in range(12)]
        sessions = {uuid: await cluster.signed_in(client, uuid) for uuid in users}
        cluster.nodes["b"].kill()
        try:
            answers = {uuid: await client.get("/api/users/me", headers=sessions[uuid]) for uuid in users}
            for uuid, answer in answers.items():
                if cluster.node_of(uuid) == "b":
                    assert answer.json()["code"] in ("node-starting", "node-lost"), answer.text
                else:
                    assert answer.status_code == 200
        finally:
            await asyncio.to_thread(cluster.nodes["b"].start)
        again = next(uuid for uuid in users if cluster.node_of(uuid) == "b")
        async with asyncio.timeout(MINUTE):
            while (await client.get("/api/users/me", headers=sessions[again])).status_code == 503:
                await asyncio.sleep(0.05)
        assert (await client.get("/api/users/me", headers=sessions[again])).json()["code"] == "key-not-cached"


def test_status_lists_the_nodes(cluster: Proxied) -> None:
    rows = [json.loads(line) for line in cluster.carrel("cluster", "status", "--json").splitlines()]
    assert [(row["node"], row["runs"]) for row in rows] == [("a", True), ("b", True), ("c", True)]
    assert sum(row["slots"] for row in rows) == SLOTS
    refused = subprocess.run(
        cluster.command("cluster", "init", "a=127.0.0.1:1"), capture_output=True, text=True, env=cluster.environment()
    )
    assert refused.returncode == 5


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("Transfer-Encoding: identity, chunked", b"422"),
        ("Transfer-Encoding: gzip", b"400"),
        ("Content-Length: 1\r\nContent-Length: 2", b"400"),
    ],
)
def test_a_request_that_the_proxy_cannot_read_reaches_no_node(cluster: Proxied, head: str, status: bytes) -> None:
    before = requests_of_contents(cluster)
    with socket.create_connection(("127.0.0.1", cluster.port), timeout=MINUTE) as connection:
        connection.sendall(f"POST /api/contents HTTP/1.1\r\nHost: a\r\n{head}\r\n\r\n0\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert (answer.split()[1], answer.count(b"HTTP/1.")) == (status, 1)
    assert requests_of_contents(cluster) == before


def requests_of_contents(cluster: Proxied) -> int:
    return sum(log.count('"route":"/api/contents"') for log in cluster.logs())


def test_the_guide_lists_every_answer_of_the_proxy() -> None:
    text = haproxy.configuration({"a": "127.0.0.1:1"}, listen="127.0.0.1:2", map_file="/m", socket="/s")
    answers = set(re.findall(r'"status":(\d+),"detail":"[^"]+","code":"([a-z-]+)"', text))
    guide = (Path(__file__).parents[2] / "docs/operator-guide.md").read_text()
    assert answers == set(re.findall(r"^\| (\d{3}) `([a-z-]+)` \|", guide, re.MULTILINE))
    assert len(answers) == 8


def test_every_route_names_its_user_where_the_proxy_looks() -> None:
    document: dict[str, Any] = json.loads((Path(__file__).parents[2] / "openapi.json").read_text())
    unrouted = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            schemes = {scheme for one in operation.get("security", []) for scheme in one}
            known = (
                schemes == {"SessionToken"}
                or path.startswith(routing.ANY_NODE)
                or (method == "post" and path in (*routing.BODY_ROUTES, routing.PROGRAM_ROUTE))
                or (method.upper(), path) in routing.PATH_ROUTES
            )
            if not known:
                unrouted.append((method, path, schemes))
    assert unrouted == []
    assert all(re.fullmatch(r"/api/users/\{uuid\}(/\w+)?", path) for _, path in routing.PATH_ROUTES)
