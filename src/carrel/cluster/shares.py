"""Which node has which slot, for a backup of the whole cluster and for its restore."""

from collections.abc import Mapping
from typing import NamedTuple

from carrel.backup.archive import BackupPart
from carrel.cluster.ownership import Entry
from carrel.cluster.refusals import NodeUnknown
from carrel.cluster.registry import ClusterRegistry


class Shares(NamedTuple):
    """The cluster as of one moment."""

    cluster: str
    members: Mapping[str, str]
    """The address of every node."""
    present: frozenset[str]
    entries: Mapping[int, Entry]

    def given(self, parts: Mapping[str, BackupPart]) -> dict[int, str]:
        """The slots that a part holds in the copy that is in force, each with its node.

        A copy is in force on one disk only, so no slot can be in two parts.
        """
        return {
            slot: entry.node
            for slot, entry in self.entries.items()
            if entry.node in parts and parts[entry.node].slots.get(slot) == entry.copy
        }

    def lacking(self, parts: Mapping[str, BackupPart]) -> list[str]:
        """The nodes that have slots which no part gives yet."""
        given = self.given(parts)
        return sorted({entry.node for slot, entry in self.entries.items() if slot not in given})


async def look(registry: ClusterRegistry) -> Shares:
    """The cluster as of now. Raises also `EtcdUnreachable`.

    Raises:
        ClusterAbsent, ClusterKeyRejected
    """
    cluster = await registry.cluster()
    members, present = await registry.members(), await registry.present()
    entries = {slot: entry for slot, entry in (await registry.slots()).entries.items() if entry is not None}
    return Shares(cluster, members, frozenset(present), entries)


async def slots_of(registry: ClusterRegistry, node: str) -> tuple[frozenset[int], bool]:
    """The slots that the map gives to a node, and whether one of them moves. Raises also `EtcdUnreachable`.

    Raises:
        ClusterAbsent, ClusterKeyRejected, NodeUnknown
    """
    found = await look(registry)
    if node not in found.members:
        raise NodeUnknown
    moving = any(entry.move and node in (entry.node, entry.to) for entry in found.entries.values())
    return frozenset(slot for slot, entry in found.entries.items() if entry.node == node), moving
