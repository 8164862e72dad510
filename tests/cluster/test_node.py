"""One process as a node: lease, term, slots, and what it finds on its disk. etcd is real, the clock is the test's."""

import shutil
from pathlib import Path

import msgspec
import pytest

from carrel.accounts.slots import former_decoy
from carrel.cluster import files
from carrel.cluster.connection import etcd_of
from carrel.cluster.etcd import Etcd, EtcdUnreachable
from carrel.cluster.ownership import Entry
from carrel.cluster.refusals import (
    ClusterAbsent,
    ClusterKeyRejected,
    EtcdCertificateUnusable,
    EtcdSilent,
    NodeDiskForeign,
    NodeHoldsOthers,
    NodeTaken,
    NodeUnknown,
)
from carrel.cluster.registry import ClusterRegistry
from carrel.config import Settings
from tests.cluster.nodes import LEASE_SECONDS, SERVICE_KEY, SLOTS, made_cluster, node
from tests.cluster.nodes import copied as copied_disk
from tests.support.service import free_port

pytestmark = pytest.mark.program("etcd")


async def entry_of(registry: ClusterRegistry, slot: int) -> Entry:
    found = (await registry.slots()).entries[slot]
    assert found is not None
    return found


async def test_each_node_takes_the_slots_that_the_map_gives_it(etcd: Etcd, prefix: str, tmp_path: Path) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    b = await node(registry, tmp_path / "b", "b").joined()
    assert a.fence.serving | b.fence.serving == set(range(SLOTS))
    assert not a.fence.serving & b.fence.serving
    assert len(a.fence.serving) == SLOTS // 2
    marks = files.read_marks(tmp_path / "a")
    assert marks.keys() == a.fence.serving
    assert (await entry_of(registry, 0)).copy == marks[0].copy
    assert await registry.present() == {"a": a.node.term, "b": b.node.term}


async def test_a_fence_closes_one_second_before_the_end_counted_from_the_question(
    etcd: Etcd, prefix: str, tmp_path: Path
) -> None:
    a = await node(await made_cluster(etcd, prefix), tmp_path / "a").joined()
    a.boot.seconds += LEASE_SECONDS - 1.001
    assert a.is_open()
    a.boot.seconds += 0.001
    assert not a.is_open()
    await a.node.renew()
    assert a.is_open()
    assert a.resumed == 2


async def test_a_node_whose_lease_ended_goes_on_if_nobody_else_was_it(etcd: Etcd, prefix: str, tmp_path: Path) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    term = a.node.term
    await etcd.revoke(a.record.lease)
    await a.node.renew()
    assert a.is_open()
    assert (a.node.term, a.ends, a.lost) == (term, 0, [])
    assert await registry.present() == {"a": term}


async def test_a_node_ends_if_another_process_was_it_meanwhile(etcd: Etcd, prefix: str, tmp_path: Path) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    await etcd.revoke(a.record.lease)
    other = await node(registry, copied_disk(tmp_path / "a")).joined()
    await a.node.renew()
    assert a.ends == 1
    assert not a.is_open()
    assert other.is_open()
    # Also if that process has left again: what it wrote is not here.
    await other.node.leave()
    await a.node.renew()
    assert (a.ends, a.is_open()) == (2, False)


async def test_a_copy_of_the_folder_waits_for_the_end_of_the_lease(etcd: Etcd, prefix: str, tmp_path: Path) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    with pytest.raises(NodeTaken):
        await node(registry, copied_disk(tmp_path / "a")).node.join(timeout_seconds=0.0)
    assert await registry.present() == {"a": a.node.term}


async def test_a_process_that_finds_the_lease_of_a_crash_in_its_own_folder_waits_for_nothing(
    etcd: Etcd, prefix: str, tmp_path: Path
) -> None:
    registry = await made_cluster(etcd, prefix)
    before = await node(registry, tmp_path / "a").joined()
    after = await node(registry, tmp_path / "a").joined()
    assert after.node.term > before.node.term
    assert after.fence.serving == before.fence.serving


async def test_a_crash_between_the_record_and_etcd_is_no_other_disk(etcd: Etcd, prefix: str, tmp_path: Path) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    for is_done in (True, False):
        done = a.record
        term, next_term = ("0.before", done.term) if is_done else (done.term, "9.after")
        files.write_record(tmp_path / "a", msgspec.structs.replace(done, term=term, next_term=next_term))
        a = await node(registry, tmp_path / "a").joined()
    assert a.is_open()


async def test_a_disk_that_was_emptied_or_put_back_does_not_serve(etcd: Etcd, prefix: str, tmp_path: Path) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    await a.node.leave()
    older = copied_disk(tmp_path / "a")
    a = await node(registry, tmp_path / "a").joined()
    await a.node.leave()
    for data in (older, tmp_path / "empty"):
        with pytest.raises(NodeDiskForeign):
            await node(registry, data).node.join(timeout_seconds=0.0)
    with pytest.raises(NodeDiskForeign):
        await node(registry, tmp_path / "a", "b").node.join(timeout_seconds=0.0)
    (tmp_path / "a" / files.RECORD).write_text("{")
    with pytest.raises(NodeDiskForeign):
        await node(registry, tmp_path / "a").node.join(timeout_seconds=0.0)


async def test_a_slot_whose_folder_was_removed_is_served_by_nobody(etcd: Etcd, prefix: str, tmp_path: Path) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    await a.node.leave()
    shutil.rmtree(files.slot_folder(tmp_path / "a", 3))
    a = await node(registry, tmp_path / "a").joined()
    assert a.fence.lacking == {3}
    assert a.fence.serving == set(range(SLOTS // 2)) - {3}


async def test_a_crash_between_the_marks_and_the_map_is_finished_by_the_next_start(
    etcd: Etcd, prefix: str, tmp_path: Path
) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    entry = await entry_of(registry, 5)
    await registry.replace({5: (entry, Entry(node="a", copy="new"))})
    await a.node.refresh()
    assert await entry_of(registry, 5) == entry
    assert 5 in a.fence.serving


async def test_a_slot_that_the_map_gives_to_another_node_is_lost_at_once(
    etcd: Etcd, prefix: str, tmp_path: Path
) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    entry = await entry_of(registry, 7)
    assert await registry.replace({7: (entry, Entry(node="b", copy="m"))}) == {7}
    await a.node.refresh()
    assert a.lost == [frozenset({7})]
    assert 7 not in a.fence.serving | a.fence.lacking


async def test_what_is_wrong_with_the_cluster_is_said_at_the_start(etcd: Etcd, prefix: str, tmp_path: Path) -> None:
    registry = await made_cluster(etcd, prefix)
    with pytest.raises(NodeUnknown):
        await node(registry, tmp_path / "c", "c").node.join(timeout_seconds=0.0)
    with pytest.raises(ClusterKeyRejected):
        await node(ClusterRegistry(etcd, prefix.rstrip("/"), bytes(32)), tmp_path / "c").node.join(timeout_seconds=0.0)
    with pytest.raises(ClusterAbsent):
        await node(ClusterRegistry(etcd, f"{prefix}other", SERVICE_KEY), tmp_path / "c").node.join(timeout_seconds=0.0)
    silent = Etcd([f"http://127.0.0.1:{free_port()}"])
    with pytest.raises(EtcdSilent):
        await node(ClusterRegistry(silent, "main", SERVICE_KEY), tmp_path / "c").node.join(timeout_seconds=0.0)
    await silent.close()


async def test_a_folder_with_users_joins_only_if_their_slots_are_its_own(
    etcd: Etcd, prefix: str, tmp_path: Path
) -> None:
    registry = await made_cluster(etcd, prefix)
    (files.slot_folder(tmp_path / "a", SLOTS - 1) / "0123").mkdir(parents=True)
    # What every process of an earlier version has, whichever slots it serves.
    (tmp_path / "a" / "slots" / former_decoy(SERVICE_KEY)).mkdir(parents=True)
    with pytest.raises(NodeHoldsOthers):
        await node(registry, tmp_path / "a").node.join(timeout_seconds=0.0)
    shutil.rmtree(files.slot_folder(tmp_path / "a", SLOTS - 1))
    assert (await node(registry, tmp_path / "a").joined()).is_open()


def test_certificates_that_cannot_be_used_are_refused(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    for name in ("ca.pem", "absent.pem"):
        with pytest.raises(EtcdCertificateUnusable):
            etcd_of(msgspec.structs.replace(settings, etcd_ca=tmp_path / name))


async def test_without_etcd_a_node_goes_on_until_its_fence_closes(etcd: Etcd, prefix: str, tmp_path: Path) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    answering, registry.etcd = registry.etcd, Etcd([f"http://127.0.0.1:{free_port()}"])
    with pytest.raises(EtcdUnreachable):
        await a.node.renew()
    assert a.is_open()
    a.boot.seconds += LEASE_SECONDS
    assert not a.is_open()
    await registry.etcd.close()
    registry.etcd = answering
    await a.node.renew()
    assert a.is_open()


async def test_a_node_hears_how_many_run(etcd: Etcd, prefix: str, tmp_path: Path) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    await a.node.count_nodes()
    b = await node(registry, tmp_path / "b", "b").joined()
    await a.node.count_nodes()
    await a.node.count_nodes()
    await b.node.leave()
    await a.node.count_nodes()
    assert a.running == [2, 1]
