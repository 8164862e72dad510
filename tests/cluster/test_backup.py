"""`carrel admin backup --all-nodes`: one backup of all nodes, and its restore onto another number of them."""

import asyncio
import io
import secrets
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from carrel_sdk import Host, Workspace
from click.testing import CliRunner, Result

from carrel.accounts.slots import folder_of, slot_of
from carrel.backup import cluster_backup
from carrel.backup.archive import BackupPart, Packing
from carrel.cli.main import main
from carrel.cluster.etcd import Etcd
from carrel.cluster.registry import ClusterRegistry
from carrel.kit.clock import SystemClock
from tests.cluster.moved import users_of
from tests.cluster.nodes import SERVICE_KEY, made_cluster
from tests.cluster.proxied import Proxied
from tests.support.etcd import EtcdServer
from tests.support.service import Service
from tests.support.steady_load import at_work, sign_in

pytestmark = pytest.mark.program("etcd")

MINUTE = 60.0
SLOTS = {"a": (7, 20), "b": (400, 500), "c": (900, 1000)}
FROM_A, FROM_C = 7, 900
"""These slots move while the backup is made: the one to c, the other to b."""


class Nodes(Proxied):
    """Nodes without a proxy: each is asked at its own address."""

    def make(self) -> None:
        self.carrel("cluster", "init", *(f"{name}=127.0.0.1:{node.port}" for name, node in self.nodes.items()))

    def start(self) -> None:
        for node in self.nodes.values():
            node.start()

    def of(self, uuid: str) -> Service:
        return self.nodes[self.node_of(uuid)]

    def type(self, *words: str, **environment: str) -> Result:
        return CliRunner().invoke(main, list(words), env=self.environment() | environment)


@contextmanager
def nodes(folder: Path, server: EtcdServer, *names: str) -> Iterator[Nodes]:
    folder.mkdir()
    made = Nodes(folder, server, names)
    try:
        made.make()
        yield made
    finally:
        made.stop()


def written(service: Service, headers: dict[str, str], name: str) -> None:
    body = {"type": "fragment", "name": name}
    answer = httpx.post(f"{service.url}/api/contents", json=body, headers=headers, timeout=MINUTE)
    assert answer.status_code == 201, answer.text


def names(service: Service, uuid: str) -> set[str]:
    found: set[str] = set()
    headers, params = sign_in(service, uuid), {"limit": "200"}
    while True:
        page = httpx.get(f"{service.url}/api/contents", headers=headers, params=params, timeout=MINUTE).json()
        found |= {item["name"] for item in page["items"]}
        if page["next_cursor"] is None:
            return found
        params["cursor"] = page["next_cursor"]


def test_three_nodes_are_backed_up_while_slots_move_and_restored_onto_two(server: EtcdServer, tmp_path: Path) -> None:
    users = [next(users_of(slot)) for slots in SLOTS.values() for slot in slots]
    acknowledged: dict[str, set[str]] = {uuid: set() for uuid in users}
    file, over = tmp_path / "backup", threading.Event()
    with nodes(tmp_path / "three", server, "a", "b", "c") as three:
        three.start()
        sessions = {uuid: sign_in(three.of(uuid), uuid) for uuid in users}

        def write(uuid: str) -> None:
            number = len(acknowledged[uuid])
            written(three.of(uuid), sessions[uuid], f"{number}")
            acknowledged[uuid].add(f"{number}")

        def go_on(uuid: str) -> None:
            while not over.wait(0.02):
                write(uuid)

        for uuid in users:
            for _ in range(3):
                write(uuid)
        with closing(Host(three.of(users[-1]).url, three.of(users[-1]).plugin_secret)) as host:
            host.add_credits(users[-1], "5")
        # What an interrupted command leaves: two parts. Then a slot leaves the first node, and one comes to the second.
        file.mkdir()
        for name in ("a", "b"):
            words = ("admin", "backup", str(file / f"{name}.tar"), "--url", three.nodes[name].url)
            copied = three.type(*words)
            assert copied.exit_code == 0, copied.output + three.nodes[name].log()[-3000:]
        early = {name: (file / f"{name}.tar").stat().st_ino for name in ("a", "b")}
        three.carrel("cluster", "move", str(FROM_A), "c")
        three.carrel("cluster", "move", str(FROM_C), "b")
        staying = [uuid for uuid in users if slot_of(uuid) not in (FROM_A, FROM_C)]
        with at_work(go_on, staying, over):
            before = {uuid: set(found) for uuid, found in acknowledged.items()}
            # Of the users of `a` the kept part has what was acknowledged before it.
            before |= {uuid: {"0", "1", "2"} for uuid in users if three.node_of(uuid) == "a"}
            made = three.type("admin", "backup", str(file), "--all-nodes")
        assert made.exit_code == 0, made.output
        now = {name: (file / f"{name}.tar").stat().st_ino for name in ("a", "b")}
        assert (now["a"] == early["a"], now["b"] == early["b"]) == (True, False)
        again = three.type("admin", "backup", str(file), "--all-nodes")
        assert (again.exit_code, "is a finished backup already" in again.stderr) == (2, True)
        key = bytes.fromhex(three.nodes["a"].service_key)
        parts = cluster_backup.read(file, key).parts
        assert sorted(slot for part in parts.values() for slot in part.slots) == list(range(1024))
        assert (FROM_A in parts["c"].slots, FROM_C in parts["b"].slots) == (True, True)
        assert three.type("verify", str(file)).exit_code == 0
    with nodes(tmp_path / "two", server, "d", "e") as two:
        # Made again with the key of the backup.
        for node in two.nodes.values():
            node.service_key, node.settings["CARREL_CLUSTER"] = key.hex(), f"again{two.port}"
        two.make()
        for name, node in two.nodes.items():
            done = two.type("restore", str(file), "--node", name, "--data-dir", str(node.data_dir))
            assert done.exit_code == 0, done.output
        for uuid in users:
            held = [name for name, node in two.nodes.items() if folder_of(node.data_dir, key, uuid).exists()]
            assert held == [two.node_of(uuid)]
        two.start()
        for uuid in users:
            assert names(two.of(uuid), uuid) >= before[uuid]
        rich = two.of(users[-1])
        with Workspace(rich.url, sign_in(rich, users[-1])["X-SVC-Session-Token"]) as workspace:
            assert workspace.credits().balance == "5"
        whole = tmp_path / "one"
        assert two.type("restore", str(file), "--data-dir", str(whole)).exit_code == 0
        assert all(folder_of(whole, key, uuid).exists() for uuid in users)
        unknown = two.type("restore", str(file), "--node", "x", "--data-dir", str(tmp_path / "x"))
        assert (unknown.exit_code, "no node of the name" in unknown.stderr) == (1, True)


class Told:
    """A cluster of two nodes that nobody runs, and what an operator types."""

    def __init__(self, registry: ClusterRegistry, server: EtcdServer, cluster: str, folder: Path) -> None:
        self.registry, self.cluster, self.folder = registry, cluster, folder
        self._environment = {
            "CARREL_PLUGIN_SECRET": "plugin-secret-for-tests-0123456789abcdef",
            "CARREL_ADMIN_SECRET": "admin-secret-for-tests-0123456789abcdef",
            "CARREL_SERVICE_KEY": SERVICE_KEY.hex(),
            "CARREL_ETCD": server.url,
            "CARREL_CLUSTER": cluster,
        }

    async def type(self, *words: str, **environment: str) -> Result:
        return await asyncio.to_thread(CliRunner().invoke, main, list(words), env=self._environment | environment)

    async def back_up(self, **environment: str) -> Result:
        return await self.type("admin", "backup", str(self.folder), "--all-nodes", **environment)

    async def part(self, node: str, *, cluster: str | None = None, schema: int = 1, held: str = "") -> None:
        """The backup of a node, with all of its slots."""
        entries = (await self.registry.slots()).entries
        slots = {slot: entry.copy for slot, entry in entries.items() if entry is not None and entry.node == node}
        said = BackupPart(cluster=cluster or self.cluster, node=held or node, schemas=(1, 1, schema), slots=slots)
        self.folder.mkdir(exist_ok=True)
        packing = Packing()
        body = b"".join(packing.member("service.db", io.BytesIO(b"x" * 10), 10))
        ended = b"".join(packing.end(SERVICE_KEY, SystemClock(), said))
        (self.folder / f"{node}.tar").write_bytes(body + ended)


@pytest.fixture
async def told(server: EtcdServer, etcd: Etcd, prefix: str, tmp_path: Path) -> Told:
    return Told(await made_cluster(etcd, prefix), server, prefix.rstrip("/"), tmp_path / "backup")


async def test_a_node_that_is_down_is_named_and_the_command_goes_on_later(told: Told) -> None:
    await told.part("a")
    refused = await told.back_up()
    assert (refused.exit_code, "b: does not run" in refused.stderr) == (6, True), refused.output
    assert sorted(path.name for path in told.folder.iterdir()) == ["a.tar"]
    unfinished = await told.type("verify", str(told.folder))
    assert (unfinished.exit_code, "not a finished backup" in unfinished.stderr) == (1, True)
    # Its part is brought, as by a node that came back.
    await told.part("b")
    assert (await told.back_up()).exit_code == 0
    assert (await told.type("verify", str(told.folder))).exit_code == 0


async def test_a_node_that_runs_and_does_not_answer_is_named(told: Told) -> None:
    for node in ("a", "b"):
        lease = await told.registry.etcd.grant(60)
        assert await told.registry.occupy(node, lease, term_now="", term="1.x")
    refused = await told.back_up()
    assert (refused.exit_code, refused.stderr.startswith("carrel: a: ")) == (6, True), refused.output
    assert list(told.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"schema": 2}, "different schemas"),
        ({"cluster": "another"}, "is not the part"),
        ({"held": "a"}, "is not the part"),
    ],
)
async def test_a_part_that_does_not_fit_is_refused_and_left_alone(told: Told, part: dict[str, Any], words: str) -> None:
    await told.part("a")
    await told.part("b", **part)
    kept = (told.folder / "b.tar").read_bytes()
    refused = await told.back_up()
    assert (refused.exit_code, words in refused.stderr) == (1, True), refused.output
    assert (told.folder / "b.tar").read_bytes() == kept
    assert not (told.folder / "cluster.json").exists()


async def test_another_service_key_is_refused_before_anything_is_asked(told: Told) -> None:
    refused = await told.back_up(CARREL_SERVICE_KEY=secrets.token_hex(32))
    assert (refused.exit_code, "not the key of this cluster" in refused.stderr) == (1, True), refused.output


async def test_a_backup_whose_files_were_exchanged_is_not_good(told: Told) -> None:
    await told.part("a")
    await told.part("b")
    assert (await told.back_up()).exit_code == 0
    good = (told.folder / "b.tar").read_bytes()
    # A good part of the same node, and not the one of this backup.
    await told.part("b", schema=3)
    exchanged = await told.type("verify", str(told.folder))
    assert (exchanged.exit_code, "b.tar is not the part" in exchanged.stderr) == (1, True), exchanged.output
    (told.folder / "b.tar").write_bytes(good)
    manifest = told.folder / "cluster.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"slots":[', b'"slots":[1,', 1))
    changed = await told.type("verify", str(told.folder))
    assert (changed.exit_code, "cluster.json has changed" in changed.stderr) == (1, True), changed.output


async def test_options_that_do_not_fit_are_refused(told: Told, tmp_path: Path) -> None:
    alone = await told.type("admin", "backup", str(told.folder), "--allow-http")
    assert (alone.exit_code, "only with --all-nodes" in alone.stderr) == (2, True)
    there = tmp_path / "file"
    there.write_bytes(b"")
    assert (await told.type("admin", "backup", str(there), "--all-nodes")).exit_code == 2
    assert (await told.type("restore", str(there), "--node", "a", "--data-dir", str(tmp_path / "d"))).exit_code == 2
