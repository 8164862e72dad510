"""Which node has which slot, for a backup of the whole cluster and for its restore."""

from collections.abc import Mapping
from typing import NamedTuple

from carrel.backup.archive import Part
from carrel.cluster.ownership import Entry
from carrel.cluster.refusals import ClusterAbsent, ClusterKeyRejected, NodeUnknown
from carrel.cluster.registry import Cluster, Member, Registry, proof_of


class Shares(NamedTuple):
    """The cluster as of one moment."""

    cluster: str
    members: Mapping[str, Member]
    present: frozenset[str]
    entries: Mapping[int, Entry]

    def given(self, parts: Mapping[str, Part]) -> dict[int, str]:
        """The slots that a part holds in the copy that is in force, each with its node.

        A copy is in force on one disk only, so no slot can be in two parts.
        """
        return {
            slot: entry.node
            for slot, entry in self.entries.items()
            if entry.node in parts and parts[entry.node].slots.get(slot) == entry.copy
        }

    def lacking(self, parts: Mapping[str, Part]) -> list[str]:
        """The nodes that have slots which no part gives yet."""
        given = self.given(parts)
        return sorted({entry.node for slot, entry in self.entries.items() if slot not in given})


async def look(registry: Registry, service_key: bytes) -> Shares:
    """The cluster as of now. Raises also `EtcdUnreachable`.

    Raises:
        ClusterAbsent, ClusterKeyRejected
    """
    cluster = await _proven(registry, service_key)
    members, present = await registry.members(), await registry.present()
    entries = {slot: entry for slot, entry in (await registry.slots()).entries.items() if entry is not None}
    return Shares(cluster.id, members, frozenset(present), entries)


async def slots_of(registry: Registry, node: str, service_key: bytes) -> tuple[frozenset[int], bool]:
    """The slots that the map gives to a node, and whether one of them moves. Raises also `EtcdUnreachable`.

    Raises:
        ClusterAbsent, ClusterKeyRejected, NodeUnknown
    """
    found = await look(registry, service_key)
    if node not in found.members:
        raise NodeUnknown
    moving = any(entry.move and node in (entry.node, entry.to) for entry in found.entries.values())
    return frozenset(slot for slot, entry in found.entries.items() if entry.node == node), moving


async def _proven(registry: Registry, service_key: bytes) -> Cluster:
    cluster = await registry.cluster()
    if cluster is None:
        raise ClusterAbsent
    if cluster.proof != proof_of(cluster.id, service_key):
        raise ClusterKeyRejected
    return cluster
