"""The operator's commands for moves: what they write into the map, and what they refuse."""

import asyncio
from collections import Counter

import pytest
from click.testing import CliRunner, Result

from carrel.cli.main import main
from carrel.cluster import moves
from carrel.cluster.etcd import Etcd
from carrel.cluster.registry import ClusterRegistry, MoveProgress
from tests.cluster.nodes import SERVICE_KEY, made_cluster
from tests.support.etcd import EtcdServer

pytestmark = pytest.mark.program("etcd")


class Commands:
    """A cluster of three nodes, and what an operator types."""

    def __init__(self, registry: ClusterRegistry, url: str, cluster: str) -> None:
        self.registry = registry
        self._leases: dict[str, str] = {}
        self._environment = {
            "CARREL_PLUGIN_SECRET": "plugin-secret-for-tests-0123456789abcdef",
            "CARREL_SERVICE_KEY": SERVICE_KEY.hex(),
            "CARREL_ETCD": url,
            "CARREL_CLUSTER": cluster,
        }

    async def run(self, *words: str) -> Result:
        runner = CliRunner()
        return await asyncio.to_thread(runner.invoke, main, ["cluster", *words], env=self._environment)

    async def starts(self, *nodes: str, peer: str = "127.0.0.1:1") -> None:
        """These nodes have a lease."""
        for node in nodes:
            lease = self._leases[node] = await self.registry.etcd.grant(60)
            assert await self.registry.occupy(node, lease, term_now="", term="1.a", peer=peer)

    async def stops(self, node: str) -> None:
        await self.registry.etcd.revoke(self._leases[node])

    async def commits(self, slot: int) -> None:
        """The target of the slot's move has all of it."""
        entry = await self.registry.entry(slot)
        assert entry is not None
        committed = moves.commit(entry, entry.move)
        assert committed is not None
        await self.registry.replace({slot: (entry, committed)})

    async def moving(self) -> dict[int, tuple[str, str]]:
        entries = (await self.registry.slots()).entries
        return {slot: (entry.node, entry.to) for slot, entry in entries.items() if entry is not None and entry.move}


@pytest.fixture
async def commands(server: EtcdServer, etcd: Etcd, prefix: str) -> Commands:
    registry = await made_cluster(etcd, prefix, ("a", "b", "c"), few=False)
    return Commands(registry, server.url, prefix.rstrip("/"))


async def test_a_move_is_written_followed_refused_to_others_and_aborted(commands: Commands) -> None:
    await commands.starts("a", "b", "c")
    begun = await commands.run("move", "7", "10-11", "b", "--no-wait")
    assert (begun.exit_code, begun.output) == (0, "0 of 3 slots moved\n")
    assert await commands.moving() == dict.fromkeys((7, 10, 11), ("a", "b"))
    entry = await commands.registry.entry(7)
    assert entry is not None
    await commands.registry.tell(7, MoveProgress(entry.move, "waiting", 2_000_000, "the disk of b: disk-full"))
    again = await commands.run("move", "7", "10-11", "b", "--no-wait")
    told = "0 of 3 slots moved; slot 7: waiting, 2.0 MB (the disk of b: disk-full)\n"
    assert (again.exit_code, again.output) == (0, told)
    elsewhere = await commands.run("move", "7", "8", "c")
    assert (elsewhere.exit_code, "slot 7 is moving to b" in elsewhere.output) == (5, True)
    assert 8 not in await commands.moving()
    assert (await commands.run("abort", "7")).output == "1 move aborted\n"
    assert sorted(await commands.moving()) == [10, 11]
    assert (await commands.run("abort")).output == "2 moves aborted\n"
    assert await commands.moving() == {}


async def test_a_followed_move_ends_when_its_slots_have_moved(commands: Commands) -> None:
    await commands.starts("a", "b", "c")
    following = asyncio.create_task(commands.run("move", "7", "b"))
    while not await commands.moving():
        await asyncio.sleep(0.01)
    await commands.commits(7)
    done = await following
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "1 of 1 slot moved")
    nothing = await commands.run("move", "7", "b")
    assert (nothing.exit_code, nothing.output) == (0, "nothing to move\n")


async def test_a_move_that_was_ended_is_not_counted_as_moved(commands: Commands) -> None:
    await commands.starts("a", "b", "c")
    following = asyncio.create_task(commands.run("move", "7-8", "b"))
    while not await commands.moving():
        await asyncio.sleep(0.01)
    await commands.commits(7)
    assert (await commands.run("abort")).exit_code == 0
    done = await following
    assert done.exit_code == 1
    assert "1 of 2 slots moved" in done.output
    assert "1 stayed where they were" in done.output


async def test_a_node_comes_goes_and_gets_another_address(commands: Commands) -> None:
    await commands.starts("a", "b", "c")
    assert (await commands.run("add", "d=127.0.0.1:9")).exit_code == 0
    assert (await commands.run("add", "d=127.0.0.1:8")).exit_code == 5
    await commands.starts("d")
    assert (await commands.run("rebalance", "--no-wait")).exit_code == 0
    assert Counter(to for _, to in (await commands.moving()).values()) == {"d": 256}
    coming = await commands.run("remove", "d")
    assert (coming.exit_code, "carrel cluster drain d" in coming.output) == (5, True)
    await commands.run("abort")
    running = await commands.run("remove", "d")
    assert (running.exit_code, "d runs: stop it" in running.output) == (5, True)
    assert (await commands.run("readdress", "d=127.0.0.1:7")).exit_code == 0
    assert "127.0.0.1:7" in (await commands.run("haproxy")).output
    await commands.stops("d")
    assert (await commands.run("remove", "d")).exit_code == 0
    assert "127.0.0.1:7" not in (await commands.run("haproxy")).output
    assert (await commands.run("readdress", "d=127.0.0.1:7")).exit_code == 2


async def test_a_node_is_drained_and_the_cluster_rebalanced(commands: Commands) -> None:
    await commands.starts("a", "b", "c")
    assert (await commands.run("drain", "a", "--no-wait")).exit_code == 0
    drained = await commands.moving()
    assert Counter(drained.values()) == {("a", "b"): 171, ("a", "c"): 171}
    assert (await commands.run("abort")).exit_code == 0
    level = await commands.run("rebalance", "--no-wait")
    assert (level.exit_code, level.output) == (0, "nothing to move\n")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("move", "7", "d"), 2, "d: is not a node of the cluster"),
        (("move", "1024", "b"), 2, "slots are numbered from 0 to 1023"),
        (("move", "9-7", "b"), 2, "slots are numbered"),
        (("move", "seven", "b"), 2, "must be a slot such as 7"),
        (("move", "7", "c"), 1, "c does not run, or has no CARREL_NODE_PEER"),
        (("move", "1000", "a"), 1, "c does not run, or has no CARREL_NODE_PEER"),
        (("drain", "d"), 2, "d: is not a node of the cluster"),
    ],
)
async def test_what_cannot_be_done_is_said_and_nothing_is_written(
    commands: Commands, words: tuple[str, ...], code: int, said: str
) -> None:
    await commands.starts("a", "b")
    await commands.starts("c", peer="")
    refused = await commands.run(*words)
    assert (refused.exit_code, said in refused.output) == (code, True), refused.output
    assert await commands.moving() == {}


async def test_a_node_that_is_alone_is_not_drained(commands: Commands) -> None:
    await commands.starts("a")
    alone = await commands.run("drain", "a")
    assert (alone.exit_code, "no other node runs" in alone.output) == (1, True)


async def test_a_map_with_holes_is_not_touched(server: EtcdServer, etcd: Etcd, prefix: str) -> None:
    registry = await made_cluster(etcd, prefix)
    refused = await Commands(registry, server.url, prefix.rstrip("/")).run("rebalance")
    assert (refused.exit_code, "the map lacks 1,008 slots" in refused.output) == (1, True)
