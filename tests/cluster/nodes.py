"""Nodes in this process, on a real etcd, with a clock that stands still until a test moves it."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from carrel.accounts.slots import SLOTS as SLOTS_OF_ALL
from carrel.cluster import files
from carrel.cluster.etcd import Etcd
from carrel.cluster.fence import Fence
from carrel.cluster.node import Identity, Node
from carrel.cluster.registry import ClusterRegistry, shared_out

SERVICE_KEY = bytes(range(32))
SLOTS = 16
"""Of the map of these tests. Each has a file on the disk."""
LEASE_SECONDS = 60
"""No lease ends by itself while a test runs."""


class Boot:
    """Seconds since the machine's start."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Running:
    """A node, and what happened to it."""

    data: Path
    node: Node
    fence: Fence
    boot: Boot
    ends: int = 0
    resumed: int = 0
    lost: list[frozenset[int]] = field(default_factory=list)
    running: list[int] = field(default_factory=list)

    def is_open(self) -> bool:
        return self.fence.is_open

    @property
    def record(self) -> files.Record:
        found = files.read_record(self.data)
        assert found is not None
        return found

    async def joined(self) -> "Running":
        await self.node.join(timeout_seconds=0.0)
        await self.node.refresh()
        return self


def node(registry: ClusterRegistry, data: Path, name: str = "a", service_key: bytes = SERVICE_KEY) -> Running:
    boot = Boot()
    fence = Fence(now=boot)

    def ended() -> None:
        running.ends += 1

    async def lost(slots: frozenset[int]) -> None:
        running.lost.append(slots)

    def resumed() -> None:
        running.resumed += 1

    data.mkdir(exist_ok=True)
    identity = Identity(name, data, service_key, LEASE_SECONDS)

    def runs(count: int) -> None:
        running.running.append(count)

    made = Node(
        identity, registry, fence, on_superseded=ended, on_lost=lost, on_resumed=resumed, on_running=runs, now=boot
    )
    running = Running(data, made, fence, boot)
    return running


async def made_cluster(
    etcd: Etcd, prefix: str, names: Iterable[str] = ("a", "b"), *, few: bool = True
) -> ClusterRegistry:
    name = prefix.rstrip("/")
    registry = ClusterRegistry(etcd, name, SERVICE_KEY)
    members = dict.fromkeys(names, "127.0.0.1:1")
    step = SLOTS_OF_ALL // SLOTS
    entries = {slot // step: entry for slot, entry in shared_out(list(members)).items() if slot % step == 0}
    assert await registry.create(name, members, entries if few else shared_out(list(members)))
    return registry


def copied(data: Path) -> Path:
    """Another disk with what this one holds, as a replicated volume has."""
    return Path(shutil.copytree(data, data.with_name(f"{data.name}-copy")))
