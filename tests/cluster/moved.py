"""A slot that moves between two nodes behind a proxy, while its users write: what they were told, and what is there."""

import asyncio
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import msgspec

from carrel.accounts.slots import slot_of
from carrel.cluster import files
from carrel.cluster.etcd import Etcd
from carrel.cluster.ownership import SlotMark
from carrel.cluster.registry import ClusterRegistry
from tests.cluster.proxied import Proxied

MINUTE: Final = 60.0
STEPS: Final = ("begun", "incoming", "released", "arrived", "committed", "taken", "left")
"""What an observer can see of a move, in order."""
VICTIMS: Final = ("mover", "source", "target")


def users_of(slot: int) -> Iterator[str]:
    """Uuids in one slot."""
    number = 0
    while True:
        if slot_of(f"user-{number}") == slot:
            yield f"user-{number}"
        number += 1


@dataclass
class Writer:
    """A user who writes without a pause, and comes again when told to."""

    uuid: str
    headers: dict[str, str]
    acknowledged: set[str] = field(default_factory=set)
    moments: list[float] = field(default_factory=list)
    """When each acknowledgement came."""
    longest: float = 0.0
    """Seconds of the longest request that was answered."""
    sign_ins: int = 0
    errors: set[str] = field(default_factory=set)

    async def run(self, cluster: Proxied, client: httpx.AsyncClient, rest_seconds: float = 0.02) -> None:
        """Write until cancelled."""
        while True:
            name, began = secrets.token_hex(8), time.perf_counter()
            try:
                body = {"type": "fragment", "name": name}
                answer = await client.post("/api/contents", json=body, headers=self.headers)
            except httpx.HTTPError:
                await asyncio.sleep(0.02)
                continue
            if answer.status_code == 201:
                self.acknowledged.add(name)
                self.moments.append(time.perf_counter())
                self.longest = max(self.longest, time.perf_counter() - began)
                await asyncio.sleep(rest_seconds)
            elif answer.status_code == 401:
                await self.sign_in(cluster, client)
            else:
                self.errors.add(f"{answer.status_code} {answer.json()['code']}")
                await asyncio.sleep(0.02)

    async def sign_in(self, cluster: Proxied, client: httpx.AsyncClient) -> None:
        """Again, because the key is gone."""
        self.sign_ins += 1
        key = {"uuid": self.uuid, "db_key_hex": "ab" * 32}
        answer = await client.post("/api/auth/login", json=key, headers=cluster.plugin)
        if answer.status_code == 200:
            self.headers = {"X-SVC-Session-Token": answer.json()["session_token"]}

    async def lost(self, client: httpx.AsyncClient) -> set[str]:
        """What was acknowledged, and is not there."""
        return self.acknowledged - await names_of(client, self.headers)

    def gap(self) -> float:
        """Seconds of the longest time without an acknowledgement."""
        return max((after - before for before, after in zip(self.moments, self.moments[1:], strict=False)), default=0.0)


async def names_of(client: httpx.AsyncClient, headers: dict[str, str]) -> set[str]:
    """The names of all contents of a user."""
    found: set[str] = set()
    params: dict[str, Any] = {"limit": 100}
    while True:
        answer = await client.get("/api/contents", params=params, headers=headers)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found |= {item["name"] for item in page["items"]}
        if not page.get("next_cursor"):
            return found
        params["cursor"] = page["next_cursor"]


class Observed:
    """A slot as the disks and the map have it."""

    def __init__(self, cluster: Proxied, etcd: Etcd, slot: int) -> None:
        self.cluster, self.slot = cluster, slot
        first = next(iter(cluster.nodes.values()))
        self.registry = ClusterRegistry(etcd, first.settings["CARREL_CLUSTER"], bytes.fromhex(first.service_key))

    def mark(self, node: str) -> SlotMark | None:
        path = files.slot_folder(self.cluster.nodes[node].data_dir, self.slot) / files.MARK
        try:
            return msgspec.json.decode(path.read_bytes(), type=SlotMark)
        except FileNotFoundError:
            return None

    async def has_reached(self, step: str, source: str, target: str) -> bool:
        """Whether a move from `source` to `target` has come so far, or further."""
        from_mark, to_mark = self.mark(source), self.mark(target)
        entry = await self.registry.entry(self.slot)
        assert entry is not None
        is_committed = entry.node == target
        match step:
            case "begun":
                return is_committed or bool(entry.move)
            case "incoming":
                return is_committed or (bool(entry.move) and to_mark is not None and to_mark.copy == entry.move)
            case "released":
                return is_committed or (from_mark is not None and from_mark.state == "released")
            case "arrived":
                return is_committed or (to_mark is not None and to_mark.state == "arrived")
            case "committed":
                return is_committed
            case "taken":
                return is_committed and to_mark is not None and to_mark.state == "owned"
            case _:
                return is_committed and from_mark is None

    async def owner(self) -> str | None:
        """The node whose disk has the copy in force; `None` while the slot is moving."""
        entry = await self.registry.entry(self.slot)
        assert entry is not None
        owners = [name for name in self.cluster.names if self.mark(name) == SlotMark(state="owned", copy=entry.copy)]
        assert len(owners) < 2, "two nodes have the copy in force"
        return owners[0] if owners == [entry.node] and not entry.move else None

    async def killed_at(self, step: str, victim: str, target: str) -> str:
        """Move the slot to `target`, and kill the victim when the move has come so far; who owns the slot then."""
        source = next(name for name in self.cluster.names if name != target)
        mover = self.cluster.started("cluster", "move", str(self.slot), target)
        try:
            async with asyncio.timeout(MINUTE):
                while not await self.has_reached(step, source, target):
                    assert mover.poll() in (None, 0), "the command has failed"
            if victim == "mover":
                mover.kill()
            else:
                node = self.cluster.nodes[source if victim == "source" else target]
                node.kill()
                await asyncio.to_thread(node.start)
            async with asyncio.timeout(2 * MINUTE):
                while (owner := await self.owner()) is None:
                    await asyncio.sleep(0.05)
                await asyncio.to_thread(mover.wait, MINUTE)
        finally:
            mover.kill()
            mover.wait()
        return owner
