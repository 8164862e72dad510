"""Whoever can write to etcd gets no secret by that: what has not the form that it must have is obeyed nowhere."""

import asyncio
import json
import random
import re
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from carrel.accounts.slots import SLOTS
from carrel.cluster import haproxy
from carrel.cluster.etcd import Etcd, Put, RangeResult, Value
from carrel.cluster.map_agent import MapAgent
from carrel.cluster.ownership import Entry
from carrel.cluster.refusals import ClusterAbsent
from carrel.cluster.registry import ClusterRegistry
from tests.cluster import hostile
from tests.cluster.nodes import SERVICE_KEY, made_cluster, node
from tests.support.etcd import EtcdServer

VALUES = 10_000
PLAIN = re.compile(r"show map (\S+)|set map \S+ (0|[1-9][0-9]{0,3}) [a-z][a-z0-9-]{0,31}")


class Held(Etcd):
    """An etcd that holds these values and gives all of them to whoever asks."""

    def __init__(self) -> None:
        super().__init__(["http://127.0.0.1:1"])
        self.values: dict[str, bytes] = {}

    async def below(self, prefix: str, *, changed_after: int = 0) -> RangeResult:
        found = {key.removeprefix(prefix): text for key, text in self.values.items() if key.startswith(prefix)}
        return RangeResult({key: Value(text, 2) for key, text in found.items()}, 2)

    async def get(self, key: str) -> Value | None:
        return Value(self.values[key], 2) if key in self.values else None


class Socket:
    """HAProxy's admin socket: it takes commands apart as HAProxy does, and keeps a map."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.map = dict.fromkeys(range(SLOTS), "z")

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for command in re.split(r"[;\n]", (await reader.readline()).decode("latin-1")):
            if command:
                self.commands.append(command)
                writer.write(self._obeyed(command).encode())
        writer.close()

    def _obeyed(self, command: str) -> str:
        words = command.split()
        if words[0] == "show":
            return "".join(f"0x1 {slot} {node}\n" for slot, node in self.map.items())
        if words[:2] == ["set", "map"] and len(words) == 5:
            self.map[int(words[3])] = words[4]
        return "\n"


@asynccontextmanager
async def listening(path: Path) -> AsyncIterator[Socket]:
    socket = Socket()
    server = await asyncio.start_unix_server(socket.answer, path)
    try:
        yield socket
    finally:
        server.close()
        await server.wait_closed()


async def test_of_10_000_hostile_values_none_becomes_a_command_to_the_proxy(tmp_path: Path) -> None:
    chance, etcd = random.Random(1), Held()
    registry = ClusterRegistry(etcd, "main", SERVICE_KEY)
    path = Path("/tmp") / f"carrel-{tmp_path.name}.sock"
    told: list[str] = []
    written = 0
    async with listening(path) as socket:
        agent = MapAgent(registry, tmp_path / "slots.map", path, told.append)
        while written < VALUES:
            slots = chance.sample(range(SLOTS), SLOTS - 64)
            values = {f"{slot:04d}": hostile.entry(chance) for slot in slots}
            values |= {word: b'{"node":"a","copy":"new"}' for word in hostile.WORDS if word}
            good = {f"{slot:04d}": "b" for slot in set(range(SLOTS)) - set(slots)}
            written += len(values)
            values |= dict.fromkeys(good, b'{"node":"b","copy":"new"}')
            etcd.values = {f"{registry.root}slots/{key}": text for key, text in values.items()}
            await agent.once()
            expected = {slot: good.get(f"{slot:04d}", haproxy.UNASSIGNED) for slot in range(SLOTS)}
            assert socket.map == expected
            assert (tmp_path / "slots.map").read_text() == "".join(
                f"{slot} {node}\n" for slot, node in expected.items()
            )
    assert [command for command in socket.commands if not PLAIN.fullmatch(command)] == []
    assert len(socket.commands) > 1_000


async def test_of_hostile_values_nothing_is_read_and_nothing_breaks() -> None:
    chance, etcd = random.Random(2), Held()
    registry = ClusterRegistry(etcd, "main", SERVICE_KEY)
    folders = ("members", "nodes", "terms", "peers", "slots", "moves")
    for _ in range(VALUES // 10):
        names = [chance.choice((*hostile.WORDS, "a", "b", "0007")) for _ in folders]
        etcd.values = {
            f"{registry.root}{folder}/{name}": hostile.value(chance)
            for folder, name in zip(folders, names, strict=True)
        } | {f"{registry.root}cluster": hostile.value(chance), f"{registry.root}terms/a": hostile.value(chance)}
        with pytest.raises(ClusterAbsent):
            await registry.cluster()
        assert (await registry.members(), await registry.peers(), await registry.present()) == ({}, {}, {})
        assert (await registry.term("a"), await registry.progress(), await registry.entry(7)) == ("", {}, None)
        assert (await registry.slots()).entries == {}


def test_a_slot_s_key_is_its_number_in_four_digits() -> None:
    values = {text: Value(b'{"node":"a","copy":"new"}', 1) for number in range(100_000) for text in forms(number)}
    etcd = Held()
    etcd.values = {f"/carrel/main/slots/{text}": value.text or b"" for text, value in values.items()}
    found = asyncio.run(ClusterRegistry(etcd, "main", SERVICE_KEY).slots())
    assert found.entries == {slot: Entry(node="a", copy="new") for slot in range(SLOTS)}


def forms(number: int) -> set[str]:
    return {f"{number:04d}", str(number), f" {number:04d}", f"-{number:04d}", f"{number:04d}".replace("1", "\u0661")}


# On a real etcd -------------------------------------------------------------------------------------------------------

real = pytest.mark.program("etcd")


@real
async def test_an_address_counts_only_with_a_proof_for_its_place(etcd: Etcd, prefix: str) -> None:
    registry = await made_cluster(etcd, prefix)
    lease = await etcd.grant(60)
    assert await registry.occupy("a", lease, term_now="", term="1.x", peer="127.0.0.1:2")
    assert await registry.peers() == {"a": "127.0.0.1:2"}
    good = (await etcd.below(f"{registry.root}members/")).values["a"].text or b""
    peer = (await etcd.below(f"{registry.root}peers/")).values["a"].text or b""
    proof = json.loads(good)["proof"]
    stranger = await made_cluster(etcd, f"other-{prefix}")
    elsewhere = (await etcd.below(f"{stranger.root}members/")).values["a"].text or b""
    for forged in (
        b'{"address":"127.0.0.1:6666"}',
        b'{"address":"127.0.0.1:6666","proof":""}',
        json.dumps({"address": "127.0.0.1:6666", "proof": "0" * 64}).encode(),
        json.dumps({"address": "127.0.0.1:6666", "proof": proof}).encode(),
        b"127.0.0.1:6666",
        peer,
        elsewhere,
    ):
        await etcd.put_if([], [Put(f"{registry.root}members/b", forged), Put(f"{registry.root}peers/a", forged)])
        assert await registry.members() == {"a": "127.0.0.1:1"}
        assert await registry.peers() == ({"a": "127.0.0.1:2"} if forged == peer else {})
    await etcd.put_if([], [Put(f"{registry.root}members/b", good)])
    assert await registry.members() == {"a": "127.0.0.1:1"}
    assert await ClusterRegistry(etcd, registry.root.split("/")[2], bytes(32)).members() == {}


@real
async def test_a_node_goes_on_beside_hostile_keys(
    server: EtcdServer, etcd: Etcd, prefix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry = await made_cluster(etcd, prefix)
    a = await node(registry, tmp_path / "a").joined()
    served = a.fence.serving
    assert served
    keys = [f"{registry.root}slots/".encode() + name for name in (b"\xff", b"abc", b"9999", b"-001", b"", b"0003")]
    async with httpx.AsyncClient() as client:
        for key in keys:
            body = {"key": b64encode(key).decode(), "value": b64encode(b'{"node":"a;b","copy":"new"}').decode()}
            assert (await client.post(f"{server.url}/v3/kv/put", json=body)).status_code == 200
    await a.node.refresh()
    assert a.fence.serving == served - {3}
    assert '"event":"etcd-values-refused"' in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "a" / "slots").iterdir()) == [
        f"{slot:04d}" for slot in sorted(served)
    ]
