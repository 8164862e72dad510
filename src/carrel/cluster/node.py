"""This process as a node: it takes a lease and a term, keeps the lease, follows the map, and takes its slots.

If the lease ends and nobody else was this node meanwhile, the process goes on with its keys. If another process was,
its disk is the one that counts, and this process ends.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from carrel.cluster import files, lease, moves, ownership
from carrel.cluster.etcd import EtcdUnreachable, UserRejected
from carrel.cluster.fence import Fence
from carrel.cluster.files import Record
from carrel.cluster.ownership import Entry, SlotMark
from carrel.cluster.refusals import (
    EtcdSilent,
    EtcdUserRejected,
    NodeDiskForeign,
    NodeHoldsOthers,
    NodeTaken,
    NodeUnknown,
)
from carrel.cluster.registry import ClusterRegistry
from carrel.kit import logs

_RETRY_SECONDS: Final = 0.2
_SILENT_SECONDS: Final = 5.0
"""After so long without a change the map is read anew: a server that lost the others tells of no changes."""
SPARE_SECONDS: Final = 2
"""A process waits for the end of a lease, and so much longer, before it says that another process is this node."""


@dataclass(frozen=True)
class Identity:
    """Which node this process is, and where."""

    name: str
    data: Path
    service_key: bytes
    lease_seconds: int
    peer: str = ""
    """Where other nodes reach it; empty if it neither gives nor takes slots."""


class Node:
    """Owned by the event loop. `entries` is the map as far as it is known, `marks` are those of this disk.

    `on_superseded` ends the process; `on_lost` closes what is open of users of slots. `on_resumed` is called when the
    fence opens, `on_map` when the map or a mark has changed. `on_taking` is given slots with their marks before the
    node takes them, and returns those that it can take; `on_taken` hears which it serves from then on. `on_running`
    hears how many nodes run, whenever it is another number.
    """

    def __init__(
        self,
        identity: Identity,
        registry: ClusterRegistry,
        fence: Fence,
        *,
        on_superseded: Callable[[], None],
        on_lost: Callable[[frozenset[int]], Awaitable[None]],
        on_resumed: Callable[[], None] = lambda: None,
        on_map: Callable[[], None] = lambda: None,
        on_taking: Callable[[Mapping[int, SlotMark]], Awaitable[frozenset[int]]] | None = None,
        on_taken: Callable[[frozenset[int]], Awaitable[None]] | None = None,
        on_running: Callable[[int], None] = lambda _: None,
        now: Callable[[], float] = lease.boottime,
        new_id: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self.identity = identity
        self.fence = fence
        self.term = ""
        self._registry = registry
        self._on_superseded = on_superseded
        self._on_lost = on_lost
        self._on_resumed = on_resumed
        self._on_map = on_map
        self._on_taking = on_taking
        self._on_taken = on_taken
        self._on_running = on_running
        self._running = 1
        self._now = now
        self._new_id = new_id
        self._lease = ""
        self.cluster = ""
        self.entries: dict[int, Entry] = {}
        self._revision = 0
        self.marks: dict[int, SlotMark] = {}
        self._is_suspended = False
        self._slots_change = asyncio.Lock()
        """Nothing else changes a slot while one of its marks is being written."""
        self._tasks: list[asyncio.Task[None]] = []

    # The lease ------------------------------------------------------------------------------------------------------

    async def join(self, *, timeout_seconds: float | None = None) -> None:
        """Become the node. The data folder is locked. Then `start` keeps the lease, and `take_slots` opens the slots.

        Raises:
            EtcdSilent, EtcdUserRejected, ClusterAbsent, ClusterKeyRejected, NodeUnknown, NodeTaken, NodeDiskForeign,
                NodeHoldsOthers
        """
        if timeout_seconds is None:
            timeout_seconds = self.identity.lease_seconds + SPARE_SECONDS
        until = self._now() + timeout_seconds
        refusal: type[EtcdSilent | EtcdUserRejected | NodeTaken] = EtcdSilent
        while True:
            try:
                if await self._occupy():
                    return
                refusal = NodeTaken
            except UserRejected:
                refusal = EtcdUserRejected
            except EtcdUnreachable:
                pass
            if self._now() >= until:
                raise refusal
            await asyncio.sleep(_RETRY_SECONDS)

    async def _occupy(self) -> bool:
        """Take the lease with a new term; False if another process has it."""
        record, term_now = await self._checked_record()
        place = files.place_of(self.identity.data)
        if record.lease and place and record.place == place:
            # Whoever has the lock on this very folder, on the same start of the machine, knows that its holder is dead.
            await self._registry.etcd.revoke(record.lease)
        sent = self._now()
        new = await self._registry.etcd.grant(self.identity.lease_seconds)
        term = f"{int(term_now.partition('.')[0] or 0) + 1}.{self._new_id()}"
        about_to = Record(
            cluster=record.cluster, node=record.node, term=term_now, next_term=term, lease=new, place=place
        )
        await asyncio.to_thread(files.write_record, self.identity.data, about_to)
        if not await self._registry.occupy(
            self.identity.name, new, term_now=term_now, term=term, peer=self.identity.peer
        ):
            await self._registry.etcd.revoke(new)
            return False
        self.term, self._lease = term, new
        done = msgspec.structs.replace(about_to, term=term, next_term="")
        await asyncio.to_thread(files.write_record, self.identity.data, done)
        self._extend(sent, self.identity.lease_seconds)
        return True

    async def _checked_record(self) -> tuple[Record, str]:
        """The record of this folder, and the term that etcd has; the two fit."""
        cluster = await self._registry.cluster()
        if self.identity.name not in await self._registry.members():
            raise NodeUnknown
        self.cluster = cluster
        term = await self._registry.term(self.identity.name)
        record = await asyncio.to_thread(files.read_record, self.identity.data)
        if record is None:
            if term:
                raise NodeDiskForeign
            await self._require_own_users()
            return Record(cluster=cluster, node=self.identity.name), term
        if (record.cluster, record.node) != (cluster, self.identity.name):
            raise NodeDiskForeign
        if term not in (record.term, record.next_term):
            raise NodeDiskForeign
        return record, term

    async def _require_own_users(self) -> None:
        """Refuse a folder from before the cluster if the map gives some of its users to other nodes."""
        data, key = self.identity.data, self.identity.service_key
        held = await asyncio.to_thread(files.slots_with_users, data, key)
        entries = (await self._registry.slots()).entries
        nodes = {entry.node for slot in held if (entry := entries.get(slot)) is not None}
        if nodes - {self.identity.name}:
            raise NodeHoldsOthers

    def _extend(self, sent: float, seconds: float) -> None:
        was_open = self.fence.is_open
        self.fence.deadline = max(self.fence.deadline, lease.deadline(sent, seconds))
        if not was_open and self.fence.is_open:
            self._on_resumed()
        if self._is_suspended and self.fence.is_open:
            self._is_suspended = False
            logs.info("node-resumed")

    def _suspend(self, reason: str) -> None:
        if not self._is_suspended:
            self._is_suspended = True
            logs.warning("node-suspended", reason=reason)

    async def renew(self) -> None:
        """Renew the lease once. If it has ended, take another one, or end the process.

        Raises:
            EtcdUnreachable: the lease goes on as long as it did.
        """
        sent = self._now()
        seconds = await self._registry.etcd.renew(self._lease)
        if seconds:
            self._extend(sent, seconds)
            return
        self.fence.deadline = 0.0
        self._suspend("the lease has ended")
        await self._resume()

    async def count_nodes(self) -> None:
        """See how many nodes run now.

        Raises:
            EtcdUnreachable
        """
        running = max(1, len(await self._registry.present()))
        if running != self._running:
            self._running = running
            self._on_running(running)

    async def _resume(self) -> None:
        name = self.identity.name
        if lease.after_loss(self.term, await self._registry.term(name)) == "end":
            self._end()
            return
        sent = self._now()
        new = await self._registry.etcd.grant(self.identity.lease_seconds)
        place = files.place_of(self.identity.data)
        record = Record(cluster=self.cluster, node=name, term=self.term, lease=new, place=place)
        await asyncio.to_thread(files.write_record, self.identity.data, record)
        if await self._registry.occupy(name, new, term_now=self.term, term=self.term, peer=self.identity.peer):
            self._lease = new
            self._extend(sent, self.identity.lease_seconds)
            await self.refresh()
        else:
            # Another process was faster, or the answer to an earlier attempt was lost. The next attempt tells which.
            await self._registry.etcd.revoke(new)

    def _end(self) -> None:
        logs.error("node-superseded", reason="another process has become this node")
        self._on_superseded()

    # The map --------------------------------------------------------------------------------------------------------

    async def take_slots(self) -> None:
        """Take the slots of this node for the first time, and follow the map from then on.

        Raises:
            EtcdSilent
        """
        until = self._now() + self.identity.lease_seconds
        while True:
            with suppress(EtcdUnreachable):
                await self.refresh()
                logs.info("node-joined", count=len(self.fence.serving))
                self._go_on(self._watch())
                return
            if self._now() >= until:
                raise EtcdSilent
            await asyncio.sleep(_RETRY_SECONDS)

    async def refresh(self) -> None:
        """Read the whole map, and take the slots that are this node's to take.

        Raises:
            EtcdUnreachable
        """
        async with self._slots_change:
            found = await self._registry.slots()
            self.entries, self._revision = {slot: one for slot, one in found.entries.items() if one}, found.revision
            self.marks = await asyncio.to_thread(files.read_marks, self.identity.data)
            await self._take()
        await self._serve()

    async def _take(self) -> None:
        """Mark what may be taken, then tell etcd the names of the copies that nobody had before."""
        name = self.identity.name
        ready = {slot for slot, entry in self.entries.items() if ownership.may_take(entry, self.marks.get(slot), name)}
        moved = {slot: mark for slot in ready if (mark := self.marks.get(slot)) is not None}
        if moved and self._on_taking is not None:
            ready -= moved.keys() - await self._on_taking(moved)
        fresh = {slot: ownership.taken(self.entries[slot], self._new_id()) for slot in ready}
        if fresh:
            await asyncio.to_thread(files.write_marks, self.identity.data, fresh)
            self.marks |= fresh
        claims: dict[int, tuple[Entry, Entry]] = {}
        for slot, entry in self.entries.items():
            claimed = ownership.claimed(entry, self.marks.get(slot), name)
            if claimed is not None:
                claims[slot] = (entry, claimed)
        for slot in await self._registry.replace(claims):
            self.entries[slot] = claims[slot][1]

    async def _serve(self) -> None:
        name, before, lacking = self.identity.name, self.fence.serving, self.fence.lacking
        own = {slot for slot, entry in self.entries.items() if entry.node == name}
        serving = frozenset(slot for slot in own if ownership.may_serve(self.entries[slot], self.marks.get(slot), name))
        moving = frozenset(slot for slot in own - serving if self._is_moving(slot))
        self.fence.serving, self.fence.moving, self.fence.lacking = serving, moving, frozenset(own - serving - moving)
        if self.fence.lacking - lacking:
            logs.error("slots-without-data", count=len(self.fence.lacking), slot=min(self.fence.lacking))
        # What was released for a move is closed already.
        lost = frozenset(slot for slot in before - serving if not self._is_released(slot))
        if lost:
            await self._on_lost(lost)
        if serving - before and self._on_taken is not None:
            await self._on_taken(serving - before)
        self._on_map()

    def _is_moving(self, slot: int) -> bool:
        entry, mark = self.entries[slot], self.marks.get(slot)
        return ownership.may_take(entry, mark, self.identity.name) or moves.is_released(mark, entry.move)

    def _is_released(self, slot: int) -> bool:
        mark = self.marks.get(slot)
        return mark is not None and mark.state == "released"

    async def set_mark(self, slot: int, mark: SlotMark) -> None:
        """Write the mark of a slot, durably, and serve what it says from then on."""
        async with self._slots_change:
            await asyncio.to_thread(files.write_mark, self.identity.data, slot, mark)
            self.marks[slot] = mark
        await self._serve()

    async def remove_copy(self, slot: int) -> None:
        """Remove what the disk holds of a slot, and its mark."""
        async with self._slots_change:
            await asyncio.to_thread(files.remove_copy, self.identity.data, slot)
            self.marks.pop(slot, None)

    async def _follow(self) -> None:
        """Hear of changes until there are none for a while; then read what has changed."""
        with suppress(EtcdUnreachable):
            async for changed in self._registry.changes(self._revision, _SILENT_SECONDS):
                if await self._apply(changed.entries, changed.revision):
                    await self.refresh()
        with suppress(EtcdUnreachable):
            found = await self._registry.slots(changed_after=self._revision)
            if await self._apply(found.entries, found.revision):
                await self.refresh()

    async def _apply(self, entries: dict[int, Entry | None], revision: int) -> bool:
        """Believe these entries; whether one of them is to be taken, which needs a fresh look."""
        self._revision = revision
        for slot, entry in entries.items():
            if entry is None:
                self.entries.pop(slot, None)
            else:
                self.entries[slot] = entry
        if entries:
            await self._serve()
        name = self.identity.name
        return any(ownership.may_take(entry, self.marks.get(slot), name) for slot, entry in self.entries.items())

    # The life of the process ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Keep the lease from now on."""
        self._go_on(self._keep())

    def _go_on(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        task.add_done_callback(_report)
        self._tasks.append(task)

    async def _keep(self) -> None:
        pause = (self.identity.lease_seconds - lease.MARGIN_SECONDS) / 4
        while True:
            try:
                await self.renew()
                await self.count_nodes()
                await asyncio.sleep(pause if self.fence.is_open else _RETRY_SECONDS)
            except EtcdUnreachable:
                if not self.fence.is_open:
                    self._suspend("etcd does not answer")
                await asyncio.sleep(_RETRY_SECONDS)

    async def _watch(self) -> None:
        while True:
            await self._follow()
            await asyncio.sleep(_RETRY_SECONDS)

    async def leave(self) -> None:
        """Serve nothing any more, and give the lease back. Everything else is closed."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self.fence.deadline, self.fence.serving = 0.0, frozenset()
        if self._lease:
            with suppress(EtcdUnreachable):
                await self._registry.etcd.revoke(self._lease)


def _report(task: asyncio.Task[None]) -> None:
    """Tell of a failure that nobody expected. The fence closes by itself, because the lease is not renewed."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        logs.error("node-failed", kind=type(error).__name__, at=logs.places(error.__traceback__))
