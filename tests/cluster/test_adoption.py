"""Disks that were lost and restored: what the operator says with `carrel cluster adopt`, and what it refuses."""

import asyncio
import secrets
import shutil
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from carrel.accounts.slots import slot_of
from carrel.cli.main import main
from carrel.cluster import files, moves
from carrel.cluster.etcd import Etcd
from carrel.cluster.registry import ClusterRegistry, shared_out
from carrel.vault.keyring import UserUuid
from tests.cluster.nodes import copied
from tests.support.etcd import EtcdServer
from tests.support.host import key_of
from tests.support.service import Service
from tests.support.steady_load import sign_in

pytestmark = pytest.mark.program("etcd")

MINUTE = 60.0


class OneNode:
    """A node that has all slots, and what its operator types while it is stopped."""

    def __init__(self, folder: Path, registry: ClusterRegistry, server: EtcdServer, service_key: bytes) -> None:
        self.registry = registry
        self.settings = {
            "CARREL_NODE_NAME": "a",
            "CARREL_ETCD": server.url,
            "CARREL_CLUSTER": registry.root.split("/")[2],
            "CARREL_LEASE_SECONDS": "3",
        }
        self.service = Service(folder, service_key=service_key.hex(), settings=self.settings)

    def over(self, folder: Path) -> Service:
        """The node over another disk."""
        first = self.service
        return Service(folder, plugin_secret=first.plugin_secret, service_key=first.service_key, settings=self.settings)

    async def adopt(self, folder: Path, *words: str, **environment: str) -> Result:
        return await self.type("cluster", "adopt", "a", "--data-dir", str(folder / "data"), *words, **environment)

    async def type(self, *words: str, **environment: str) -> Result:
        env = self.service.environment() | environment
        return await asyncio.to_thread(CliRunner().invoke, main, list(words), env=env)


@pytest.fixture
async def node(tmp_path: Path, server: EtcdServer, etcd: Etcd, prefix: str) -> OneNode:
    service_key = secrets.token_bytes(32)
    name = prefix.rstrip("/")
    registry = ClusterRegistry(etcd, name, service_key)
    made = OneNode(tmp_path / "a", registry, server, service_key)
    members = dict.fromkeys(("a", "b"), "127.0.0.1:1")
    assert await registry.create(name, members, shared_out(["a"]))
    return made


def write(service: Service, name: str) -> None:
    body = {"type": "fragment", "name": name}
    answer = httpx.post(f"{service.url}/api/contents", json=body, headers=sign_in(service, "ada"), timeout=MINUTE)
    assert answer.status_code == 201, answer.text


def names(service: Service) -> set[str]:
    page = httpx.get(f"{service.url}/api/contents", headers=sign_in(service, "ada"), timeout=MINUTE).json()
    return {item["name"] for item in page["items"]}


async def refused(service: Service, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        await asyncio.to_thread(service.start)


async def started(service: Service) -> Service:
    await asyncio.to_thread(service.start)
    return service


FOREIGN = "The data folder is not the one that this node used last"


async def test_a_node_goes_on_with_an_older_copy_once_its_operator_says_so(node: OneNode, tmp_path: Path) -> None:
    service = await started(node.service)
    write(service, "before the snapshot")
    session = sign_in(service, "ada")
    service.stop()
    older = copied(node.service.folder)
    await started(service)
    write(service, "after it")
    service.kill()
    async with asyncio.timeout(MINUTE):
        while await node.registry.present():
            await asyncio.sleep(0.05)
    restored = node.over(older)
    await refused(restored, FOREIGN)
    told = await node.adopt(older)
    assert (told.exit_code, told.stdout) == (2, f"{older / 'data'} holds users of 1 of the 1,024 slots of a\n")
    assert "say --yes" in told.stderr
    await refused(restored, FOREIGN)
    adopted = await node.adopt(older, "--yes")
    assert (adopted.exit_code, adopted.stdout.splitlines()[-1]) == (0, "a may start"), adopted.output
    await started(restored)
    try:
        # The sessions of before have ended: what ended them since the copy was made is not known.
        old = httpx.get(f"{restored.url}/api/users/me", headers=session, timeout=MINUTE)
        assert old.status_code == 401
        assert names(restored) == {"before the snapshot"}
        write(restored, "goes on")
        # The lost disk turns up again, and must not be used.
        await refused(service, FOREIGN)
        running = await node.adopt(older, "--yes")
        assert (running.exit_code, "runs" in running.stderr) == (5, True)
    finally:
        restored.stop()
    await refused(service, FOREIGN)


@pytest.mark.parametrize("live", [False, True])
async def test_a_backup_has_no_marks_and_gets_new_ones(node: OneNode, tmp_path: Path, *, live: bool) -> None:
    service = await started(node.service)
    write(service, "kept")
    file, folder = tmp_path / "backup.tar", tmp_path / "restored"
    if live:
        admin = {"X-SVC-Admin-Secret": service.admin_secret}
        answer = httpx.post(f"{service.url}/api/admin/backup", headers=admin, timeout=MINUTE)
        assert answer.status_code == 200, answer.text
        file.write_bytes(answer.content)
        service.stop()
    else:
        service.stop()
        assert (await node.type("backup", str(file), "--data-dir", str(service.data_dir))).exit_code == 0
    # Started over the new disk by mistake, the node refuses and leaves it as empty as it was.
    restored = node.over(folder)
    await refused(restored, FOREIGN)
    empty = await node.adopt(folder, "--yes")
    assert (empty.exit_code, "restore a copy into it first" in empty.stderr) == (2, True)
    assert (await node.type("restore", str(file), "--data-dir", str(folder / "data"))).exit_code == 0
    await refused(restored, FOREIGN)
    assert (await node.adopt(folder, "--yes")).exit_code == 0
    await started(restored)
    try:
        assert names(restored) == {"kept"}
    finally:
        restored.stop()


async def test_a_slot_whose_folder_was_removed_is_served_again_and_empty(node: OneNode) -> None:
    service = await started(node.service)
    write(service, "lost")
    service.stop()
    shutil.rmtree(files.slot_folder(service.data_dir, slot_of(UserUuid("ada"))))
    await started(service)
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    key = {"uuid": "ada", "db_key_hex": key_of("ada")}
    answer = httpx.post(f"{service.url}/api/auth/login", json=key, headers=plugin, timeout=MINUTE)
    assert answer.json()["code"] == "slot-unavailable"
    service.stop()
    assert (await node.adopt(service.folder, "--yes")).exit_code == 0
    await started(service)
    try:
        assert names(service) == set()
    finally:
        service.stop()


async def test_what_does_not_fit_is_refused_and_changes_nothing(node: OneNode, tmp_path: Path) -> None:
    service = await started(node.service)
    running = await node.adopt(service.folder, "--yes")
    assert running.exit_code == 5
    service.stop()
    before = (await node.registry.slots()).entries, files.read_record(service.data_dir)
    empty = await node.adopt(tmp_path / "nothing", "--yes")
    assert (empty.exit_code, "restore a copy into it first" in empty.stderr) == (2, True)
    other = await node.type("cluster", "adopt", "b", "--data-dir", str(service.data_dir), "--yes")
    assert (other.exit_code, FOREIGN in other.stderr) == (1, True)
    unknown = await node.type("cluster", "adopt", "c", "--data-dir", str(service.data_dir), "--yes")
    assert (unknown.exit_code, "carrel cluster status" in unknown.stderr) == (1, True)
    wrong = await node.adopt(service.folder, "--yes", CARREL_SERVICE_KEY=secrets.token_hex(32))
    assert wrong.exit_code == 1
    entry = before[0][7]
    assert entry is not None
    changed = moves.begin(entry, "b", "m")
    assert changed is not None
    assert await node.registry.replace({7: (entry, changed)}) == {7}
    moving = await node.adopt(service.folder, "--yes")
    assert (moving.exit_code, "carrel cluster abort" in moving.stderr) == (5, True)
    assert await node.registry.replace({7: (changed, entry)}) == {7}
    assert ((await node.registry.slots()).entries, files.read_record(service.data_dir)) == before
