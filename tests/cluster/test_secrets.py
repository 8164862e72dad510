"""What can be read of a user beside the nodes: in etcd, in the proxy, on the disks, and in all logs."""

from pathlib import Path

import httpx
import pytest
from carrel_sdk import derive_key

from carrel.accounts.slots import slot_of
from carrel.vault.keyring import UserUuid
from tests.cluster.proxied import proxied
from tests.support.canaries import (
    CANARIES,
    NEW_PASSWORD,
    PASSWORD,
    Search,
    journey,
    let_a_program_in,
    provoke_errors,
    sign_in,
    take_along,
)
from tests.support.etcd import EtcdServer
from tests.support.soak import Figure

pytestmark = [pytest.mark.program("etcd"), pytest.mark.program("haproxy")]

USER = UserUuid("canary-user")


def search_after_a_move(server: EtcdServer, folder: Path) -> Search:
    """Go the whole journey behind the proxy, move the user with the key to the other node, and look everywhere."""
    errors: list[bytes] = []
    keys = [derive_key(PASSWORD, USER), derive_key(NEW_PASSWORD, USER)]
    with proxied(folder, server, ("a", "b"), {"CARREL_LOG_LEVEL": "debug"}) as cluster:
        cluster.keep_map()
        search = Search(cluster.nodes.values(), [folder, server.folder])
        with httpx.Client(base_url=f"{cluster.url}/api", timeout=60) as client:
            session = sign_in(client, cluster.plugin, keys[0])
            run = journey(client, session, errors)
            keys.append(let_a_program_in(client, session, errors))
            provoke_errors(client, session, cluster.plugin, run, errors)
            take_along(client, session)
            assert search.found(errors, keys) == {}, "before the move"
            source = cluster.node_of(USER)
            target = next(name for name in cluster.names if name != source)
            cluster.carrel("cluster", "move", str(slot_of(USER)), target)
            # The key went along, from memory to memory: nobody signs in again.
            report = client.get(f"/runs/{run}/report", headers=session | {"Accept": "application/json"})
            assert CANARIES["document"] in report.text
            assert search.found(errors, keys) == {}, "after the move"
            body = {"uuid": USER, "new_db_key_hex": keys[1].hex()}
            assert client.post("/auth/rekey", json=body, headers=cluster.plugin).status_code == 200
            assert search.found(errors, keys) == {}, "after a rekey"
        for node in cluster.nodes.values():
            assert node.stop() == 0
    server.stop()
    try:
        assert search.found(errors, keys) == {}, "after the end"
    finally:
        server.start()
    return search


def test_nothing_of_a_user_is_readable_beside_the_nodes(server: EtcdServer, tmp_path: Path) -> None:
    assert search_after_a_move(server, tmp_path).places > 50


@pytest.mark.soak(campaign="canaries")
def test_the_search_beside_the_nodes_has_its_figures(server: EtcdServer, tmp_path: Path, figure: Figure) -> None:
    search = search_after_a_move(server, tmp_path)
    figure("the same behind a proxy, with a move between nodes", strings=search.strings, places=search.places, found=0)
