"""Nodes behind HAProxy that are replaced one after the other while their users work."""

from pathlib import Path

import pytest

from tests.cluster.proxied import proxied
from tests.support.etcd import EtcdServer
from tests.support.replaceable import adopting, ask_for_successor, successor_of
from tests.support.soak import Figure, size
from tests.support.steady_load import steady_load

pytestmark = [
    pytest.mark.program("etcd"),
    pytest.mark.program("haproxy"),
    pytest.mark.soak(campaign="restart"),
]


def test_the_users_of_nodes_behind_the_proxy_notice_nothing(server: EtcdServer, tmp_path: Path, figure: Figure) -> None:
    replacements = size(20)
    settings = {"CARREL_HOT_RESTART": "on", "CARREL_LOG_LEVEL": "warning"}
    with adopting(tmp_path), proxied(tmp_path, server, ("a", "b"), settings) as cluster:
        uuids = [f"user-{number}" for number in range(100)]
        users = [uuid for name in cluster.names for uuid in uuids if cluster.node_of(uuid) == name][:3]
        users += [uuid for uuid in uuids if cluster.node_of(uuid) == "b"][:3]
        with steady_load(cluster.front, *users) as load:
            for number in range(replacements):
                node = cluster.nodes[cluster.names[number % 2]]
                ask_for_successor(node)
                assert node.process is not None
                assert node.process.wait(60) == 0, node.log()
                node.process = successor_of(node)
                load.go_on()
        assert load.failures == []
        assert load.all_written()
    figure(
        "hot restarts of two nodes behind HAProxy",
        replacements=replacements,
        requests=load.answered.total(),
        failed=len(load.failures),
    )
