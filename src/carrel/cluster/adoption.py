"""A disk that was restored from a copy: the operator says that the node may use it as it is.

What the copy holds of the node's slots gets new ids, on the disk and in the map. If the lost disk comes back after all,
its marks name copies that are in force no more, and no node serves them.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from carrel.cluster import files
from carrel.cluster.files import Record
from carrel.cluster.ownership import Entry, SlotMark, may_serve
from carrel.cluster.refusals import NodeDiskForeign, NodeTaken, NodeUnknown
from carrel.cluster.registry import ClusterRegistry


class SlotsChanged(Exception):
    """The map changed meanwhile; nothing is served wrongly, and the same command goes on."""


class Adoption(NamedTuple):
    """What is going to be done. `changes` are the entries of the map, `marks` those of the disk."""

    record: Record
    changes: Mapping[int, tuple[Entry, Entry]]
    marks: Mapping[int, SlotMark]
    own: int
    """How many slots the node has."""
    held: frozenset[int]
    """Those of which the disk has users."""
    moving: frozenset[int]
    """The slots that move from the node or to it: they have to stop first."""
    half: frozenset[int]
    """The slots of the node that a move had not filled yet when the copy was made: they stay as they are."""


async def plan(
    registry: ClusterRegistry, node: str, data: Path, service_key: bytes, new_id: Callable[[], str]
) -> Adoption:
    """What it takes to let `node` use the folder `data`, which is locked. Nothing is changed.

    Raises:
        ClusterAbsent, ClusterKeyRejected, NodeUnknown
        NodeTaken: the node runs.
        NodeDiskForeign: the folder is another node's, or cannot be read.
    """
    cluster = await registry.cluster()
    if node not in await registry.members():
        raise NodeUnknown
    term = await registry.term(node)
    if node in await registry.present():
        raise NodeTaken
    record = await asyncio.to_thread(files.read_record, data) or Record(cluster=cluster, node=node)
    if (record.cluster, record.node) != (cluster, node):
        raise NodeDiskForeign
    entries = {slot: entry for slot, entry in (await registry.slots()).entries.items() if entry is not None}
    marks = await asyncio.to_thread(files.read_marks, data)
    own = {slot: entry for slot, entry in entries.items() if entry.node == node}
    half = frozenset(slot for slot in own if slot in marks and marks[slot].state == "incoming")
    changes = {
        slot: (entry, msgspec.structs.replace(entry, copy=new_id()))
        for slot, entry in own.items()
        if slot not in half and not may_serve(entry, marks.get(slot), node)
    }
    held = await asyncio.to_thread(files.slots_with_users, data, service_key)
    return Adoption(
        Record(cluster=cluster, node=node, term=term),
        changes,
        {slot: SlotMark(state="owned", copy=after.copy) for slot, (_, after) in changes.items()},
        len(own),
        frozenset(held & own.keys()),
        frozenset(slot for slot, entry in entries.items() if entry.move and node in (entry.node, entry.to)),
        half,
    )


async def carry_out(registry: ClusterRegistry, data: Path, adoption: Adoption) -> None:
    """Do it. The record comes last: until then the node does not start, and the command can be given again.

    Raises:
        SlotsChanged
    """
    if adoption.marks:
        await asyncio.to_thread(files.write_marks, data, adoption.marks)
    done = await registry.replace(adoption.changes)
    if done != adoption.changes.keys():
        raise SlotsChanged
    await asyncio.to_thread(files.write_record, data, adoption.record)
