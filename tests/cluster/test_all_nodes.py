"""What an operator asks all nodes at once: logs that were shared, and whether they may be restarted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import Result

from tests.cluster.test_backup import Nodes, nodes
from tests.support.canaries import journey
from tests.support.etcd import EtcdServer
from tests.support.steady_load import sign_in

pytestmark = pytest.mark.program("etcd")


@pytest.fixture
def two(server: EtcdServer, tmp_path: Path) -> Iterator[Nodes]:
    with nodes(tmp_path / "two", server, "a", "b") as two:
        two.start()
        yield two


def rows(answer: Result) -> list[dict[str, Any]]:
    assert answer.exit_code == 0, answer.output
    return [json.loads(line) for line in answer.stdout.splitlines()]


def test_all_nodes_answer_one_command(two: Nodes) -> None:
    users = {name: next(u for u in map("user{}".format, range(100)) if two.node_of(u) == name) for name in two.names}
    for name, uuid in users.items():
        session = sign_in(two.nodes[name], uuid)
        with httpx.Client(base_url=f"{two.nodes[name].url}/api", timeout=60) as client:
            journey(client, session, [])
    logs = rows(two.type("admin", "logs", "list", "--all-nodes", "--json"))
    assert sorted(log["node"] for log in logs) == ["a", "b"]
    for log in logs:
        assert len(rows(two.type("admin", "logs", "show", log["share_id"], "--all-nodes", "--json"))) > 3
    assert two.type("admin", "logs", "show", "0" * 32, "--all-nodes").exit_code == 4
    one = rows(two.type("admin", "logs", "list", "--url", two.nodes["a"].url, "--json"))
    assert ["node" in log for log in one] == [False]
    restarts = rows(two.type("admin", "safe-to-restart", "--all-nodes", "--json"))
    assert [(each["node"], each["safe"], each["cached_keys"]) for each in restarts] == [("a", True, 1), ("b", True, 1)]
    table = two.type("admin", "safe-to-restart", "--all-nodes").stdout
    assert table.split()[:2] == ["node", "safe"]
    two.nodes["b"].stop()
    down = two.type("admin", "logs", "list", "--all-nodes")
    assert (down.exit_code, "b: does not run" in down.stderr) == (6, True)
    assert two.type("admin", "logs", "list", "--allow-http", "--url", two.nodes["a"].url).exit_code == 2
