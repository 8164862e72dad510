"""Nodes as processes of their own: what becomes of them when they are killed, paused, or cut off from etcd."""

import asyncio
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from carrel.cluster.etcd import Etcd
from carrel.cluster.registry import ClusterRegistry, shared_out
from tests.support.etcd import EtcdServer
from tests.support.service import Service

pytestmark = pytest.mark.program("etcd")

LEASE_SECONDS = 3
MINUTE = 60.0


async def made(etcd: Etcd, prefix: str, service_key: str, names: tuple[str, ...]) -> None:
    name = prefix.rstrip("/")
    registry = ClusterRegistry(etcd, name, bytes.fromhex(service_key))
    members = dict.fromkeys(names, "127.0.0.1:1")
    assert await registry.create(name, members, shared_out(list(names)))


@pytest.fixture
async def node(tmp_path: Path, server: EtcdServer, etcd: Etcd, prefix: str) -> "Iterator[Service]":  # type: ignore[misc]
    settings = {
        "CARREL_NODE_NAME": "a",
        "CARREL_ETCD": server.url,
        "CARREL_CLUSTER": prefix.rstrip("/"),
        "CARREL_LEASE_SECONDS": str(LEASE_SECONDS),
    }
    node = Service(tmp_path / "a", service_key=secrets.token_hex(32), settings=settings)
    await made(etcd, prefix, node.service_key, ("a",))
    await asyncio.to_thread(node.start)
    yield node
    if node.process is not None and node.process.poll() is None:
        node.process.send_signal(signal.SIGCONT)
        node.kill()


def signed_in(node: Service, uuid: str = "ada") -> dict[str, str]:
    plugin = {"X-SVC-Plugin-Secret": node.plugin_secret}
    key = {"uuid": uuid, "db_key_hex": "ab" * 32}
    httpx.post(f"{node.url}/api/users", json={"uuid": uuid, "membership": "paid"}, headers=plugin, timeout=MINUTE)
    answer = httpx.post(f"{node.url}/api/auth/login", json=key, headers=plugin, timeout=MINUTE)
    assert answer.status_code == 200, answer.text
    return {"X-SVC-Session-Token": answer.json()["session_token"]}


def written(node: Service, headers: dict[str, str], name: str) -> int:
    """The status of a write; 0 if the connection ended without an answer."""
    body = {"type": "fragment", "name": name}
    try:
        return httpx.post(f"{node.url}/api/contents", json=body, headers=headers, timeout=MINUTE).status_code
    except httpx.HTTPError:
        return 0


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(MINUTE):
        while not await asyncio.to_thread(holds):
            await asyncio.sleep(0.05)


async def test_a_killed_node_is_back_at_once(node: Service) -> None:
    headers = signed_in(node)
    assert written(node, headers, "before") == 201
    node.kill()
    await asyncio.to_thread(node.start)
    assert written(node, headers, "without a key") == 401
    assert written(node, signed_in(node), "after") == 201


async def test_a_paused_node_whose_place_is_taken_ends_with_code_3_and_acknowledges_nothing(
    node: Service, tmp_path: Path
) -> None:
    headers = signed_in(node)
    assert node.process is not None
    assert written(node, headers, "before") == 201
    node.process.send_signal(signal.SIGSTOP)
    shutil.copytree(node.folder, tmp_path / "b")
    other = Service(
        tmp_path / "b",
        plugin_secret=node.plugin_secret,
        service_key=node.service_key,
        settings=node.settings,
    )
    try:
        await asyncio.to_thread(other.start)
        node.process.send_signal(signal.SIGCONT)
        assert written(node, headers, "too late") in (0, 503)
        assert await asyncio.to_thread(node.process.wait, MINUTE) == 3
        assert "node-superseded" in node.log()
        assert written(other, signed_in(other), "after") == 201
    finally:
        other.kill()


async def test_without_etcd_a_node_refuses_everything_and_then_goes_on_with_its_keys(
    node: Service, server: EtcdServer
) -> None:
    headers = signed_in(node)
    server.stop()
    try:
        await until(lambda: written(node, headers, "while it was cut off") == 503)
        assert httpx.get(f"{node.url}/api/health/ready", timeout=MINUTE).status_code == 503
    finally:
        await asyncio.to_thread(server.start)
    await until(lambda: written(node, headers, "after") == 201)
    await until(lambda: "node-resumed" in node.log())


async def test_a_second_process_of_a_name_is_refused_with_a_line_that_says_why(node: Service, tmp_path: Path) -> None:
    other = Service(tmp_path / "b", service_key=node.service_key, settings=node.settings)
    with pytest.raises(AssertionError, match="The data folder is not the one that this node used last"):
        await asyncio.to_thread(other.start)


def test_without_a_cluster_nothing_of_it_is_imported() -> None:
    code = "import carrel.app, sys; print([name for name in sys.modules if name.startswith('carrel.cluster')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
