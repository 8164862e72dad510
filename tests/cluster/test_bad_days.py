"""What goes wrong around nodes: the proxy ends in the middle of a move, and certificates end while a move is wanted."""

import asyncio
from itertools import islice
from pathlib import Path

import pytest

from carrel.cluster.etcd import Etcd
from tests.cluster.moved import MINUTE, Observed, users_of
from tests.cluster.proxied import proxied
from tests.cluster.test_moving_nodes import Load, connected
from tests.support.certificates import self_signed
from tests.support.etcd import EtcdServer
from tests.support.soak import Figure, size

pytestmark = [pytest.mark.program("etcd", "haproxy"), pytest.mark.soak(campaign="nodes")]

SLOT = 7


async def test_the_proxy_may_end_and_start_again_in_the_middle_of_a_move(
    server: EtcdServer, etcd: Etcd, tmp_path: Path, figure: Figure
) -> None:
    restarts, lost, sign_ins = size(10), 0, 0
    with proxied(tmp_path, server, ("a", "b")) as cluster:
        cluster.keep_map()
        observed = Observed(cluster, etcd, SLOT)
        async with connected(cluster) as client:
            load = Load(cluster, client)
            writers = await load.writes(list(islice(users_of(SLOT), 3)))
            try:
                for _ in range(restarts):
                    await load.until_written(writers)
                    source = await observed.owner()
                    target = "b" if source == "a" else "a"
                    moving = cluster.started("cluster", "move", str(SLOT), target)
                    async with asyncio.timeout(MINUTE):
                        while not await observed.has_reached("released", source or "", target):
                            await asyncio.sleep(0.005)
                    assert cluster.proxy is not None
                    cluster.proxy.kill()
                    cluster.proxy.wait()
                    await asyncio.to_thread(cluster.start_proxy)
                    assert await asyncio.to_thread(moving.wait, MINUTE) == 0
                    assert await observed.owner() == target
                await load.until_written(writers)
            finally:
                await load.stop()
            for writer in writers:
                lost += len(await writer.lost(client))
                sign_ins += writer.sign_ins
    figure("HAProxy killed in the middle of a move", restarts=restarts, lost=lost, sign_ins=sign_ins)
    assert (lost, sign_ins) == (0, 0)


async def test_a_move_waits_for_certificates_that_have_ended_and_users_notice_nothing(
    server: EtcdServer, etcd: Etcd, tmp_path: Path, figure: Figure
) -> None:
    ended = tmp_path / "ended"
    ended.mkdir()
    certificate, key = self_signed(ended, days=0)
    settings = {"CARREL_NODE_CA": str(certificate), "CARREL_NODE_CERT": str(certificate), "CARREL_NODE_KEY": str(key)}
    with proxied(tmp_path, server, ("a", "b"), settings) as cluster:
        observed = Observed(cluster, etcd, SLOT)
        async with connected(cluster) as client:
            load = Load(cluster, client)
            writers = await load.writes(list(islice(users_of(SLOT), 2)))
            try:
                moving = cluster.started("cluster", "move", str(SLOT), "b")
                async with asyncio.timeout(MINUTE):
                    while not any("slot-not-moved" in log or "slot-not-taken" in log for log in cluster.logs()):
                        await asyncio.sleep(0.05)
                await load.until_written(writers)
                assert moving.poll() is None
                told = (tmp_path / "move.log").read_text()
                cluster.carrel("cluster", "abort")
                await asyncio.to_thread(moving.wait, MINUTE)
                await load.until_written(writers)
                assert await observed.owner() == "a"
            finally:
                await load.stop()
            errors = {error for writer in writers for error in writer.errors}
            lost = sum([len(await writer.lost(client)) for writer in writers])
    figure("certificates of nodes that have ended", lost=lost, refused=len(errors))
    assert (lost, errors) == (0, set())
    assert "slot 7" in told, told
