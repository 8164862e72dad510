"""Slots that come to this node: the target's side of moves. It goes through all of a move, one slot after the other.

What is done stands in the map and in the marks. After a crash of either node the target begins where these say.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

from carrel.cluster import files, moves
from carrel.cluster.copying import Stamp
from carrel.cluster.etcd import EtcdUnreachable
from carrel.cluster.node import Node
from carrel.cluster.ownership import Entry, SlotMark
from carrel.cluster.peers import PeerFailed, Peers, Schemas, UserKey
from carrel.cluster.registry import ClusterRegistry, MoveProgress
from carrel.errors import CarrelError
from carrel.kit import logs

_WARM_COPIES: Final = 4
"""Copies while the slot is served, at most."""
_LITTLE_BYTES: Final = 4 * 1024 * 1024
"""When a copy brought no more than this, the next one is the last."""
LARGE_BYTES: Final = 64 * 1024 * 1024
"""Of more than this, the last copy may not read everything: the source is asked to let the large files stay."""
_RETRY_SECONDS: Final = 1.0
_KEYS_SECONDS: Final = 2.0
"""How long the slot waits for the keys of its users."""


class ArrivingUsers(Protocol):
    """What a service does with the users of a slot that comes."""

    def schemas(self) -> Schemas:
        """What this program can read."""
        ...

    async def take_rows(self, slot: int) -> None:
        """Take the slot's rows from its folder into `service.db`."""
        ...

    def adopt(self, slot: int, keys: list[UserKey]) -> None:
        """Go on with the sessions of these users when the slot is served."""
        ...


class Arrivals:
    """Owned by the event loop."""

    def __init__(
        self, node: Node, registry: ClusterRegistry, peers: Peers, users: ArrivingUsers, *, takes_keys: bool
    ) -> None:
        self._node = node
        self._registry = registry
        self._peers = peers
        self._users = users
        self._takes_keys = takes_keys
        self._sources: dict[str, str] = {}
        """Where the keys are, by the id of the move."""
        self._changed = asyncio.Event()
        self._told: dict[int, MoveProgress] = {}

    def changed(self) -> None:
        """The map or a mark has changed."""
        self._changed.set()

    async def run(self) -> None:
        """Bring the slots that the map moves here, until the process ends."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            name = self._node.identity.name
            for slot, mark in list(self._node.marks.items()):
                entry = self._node.entries.get(slot)
                if entry is not None and moves.may_discard(entry, mark):
                    await self._tried(slot, entry, self._discard(slot))
            for slot, entry in sorted(self._node.entries.items()):
                if entry.to == name and entry.move:
                    await self._tried(slot, entry, self._bring(slot))

    async def _tried(self, slot: int, entry: Entry, work: Coroutine[Any, Any, None]) -> None:
        refusal = ""
        try:
            await work
        except PeerFailed as failed:
            refusal = str(failed.args[0])
        except EtcdUnreachable:
            refusal = "etcd does not answer"
        except CarrelError as error:
            refusal = f"the disk of {self._node.identity.name}: {error.code}"
        except OSError as error:
            refusal = f"the disk of {self._node.identity.name}: {error.strerror}"
        if refusal:
            logs.warning("slot-not-moved", slot=slot, reason=refusal)
            await self._tell(slot, MoveProgress(entry.move, "waiting", refusal=refusal))
            asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._changed.set)

    async def _discard(self, slot: int) -> None:
        entry = await self._registry.entry(slot)
        if entry is not None and moves.may_discard(entry, self._node.marks.get(slot)):
            await self._node.remove_copy(slot)

    async def _bring(self, slot: int) -> None:
        """All of a move that is left to do.

        Raises:
            PeerFailed, EtcdUnreachable, CarrelError: it is tried again.
        """
        name = self._node.identity.name
        entry = await self._registry.entry(slot)
        if entry is None or entry.to != name or not self._node.fence.is_open:
            return
        if not moves.is_arrived(self._node.marks.get(slot), entry.move):
            await self._receive(slot, entry)
        committed = moves.commit(entry, entry.move)
        if committed is None:
            return
        # Only the process that has marked the copy on its disk may say so.
        if await self._registry.replace_while(name, self._node.term, slot, (entry, committed)):
            await self._node.refresh()
            await self._tell(slot, MoveProgress(entry.move, "done"))
            logs.info("slot-arrived", slot=slot)

    async def _receive(self, slot: int, entry: Entry) -> None:
        node, move, name = self._node, entry.move, self._node.identity.name
        if not moves.may_receive(entry, node.marks.get(slot), move, name):
            raise PeerFailed("the disk of the target holds a copy of another move")
        source = (await self._registry.peers()).get(entry.node)
        if source is None:
            raise PeerFailed(f"{entry.node} does not run")
        theirs, ours = await self._peers.prepare(source, slot, move), self._users.schemas()
        if any(their > our for their, our in zip(_numbers(theirs), _numbers(ours), strict=True)):
            raise PeerFailed(f"{name} runs an older version than {entry.node}")
        await node.set_mark(slot, moves.incoming(move))
        await asyncio.to_thread(files.empty, node.identity.data, slot)
        have, count = await self._warm_copies(source, slot, move, {}, 0)
        if count > LARGE_BYTES:
            # An earlier version does not know how: then the last copy takes longer.
            with suppress(PeerFailed):
                await self._peers.hold(source, slot, move)
            have, count = await self._warm_copies(source, slot, move, have, count)
        await self._tell(slot, MoveProgress(move, "closing", count))
        await self._peers.release(source, slot, move)
        await self._copy(source, slot, move, have, is_last=True)
        if not node.fence.is_open:
            raise PeerFailed(f"the lease of {name} has ended")
        await node.set_mark(slot, moves.arrived(move))
        self._sources[move] = source

    async def _warm_copies(
        self, source: str, slot: int, move: str, have: dict[str, Stamp], count: int
    ) -> tuple[dict[str, Stamp], int]:
        for _ in range(_WARM_COPIES):
            await self._tell(slot, MoveProgress(move, "copying", count))
            have, came = await self._copy(source, slot, move, have, is_last=False)
            count += came
            if came <= _LITTLE_BYTES:
                break
        return have, count

    async def _copy(
        self, source: str, slot: int, move: str, have: Mapping[str, Stamp], *, is_last: bool
    ) -> tuple[dict[str, Stamp], int]:
        data = self._node.identity.data
        copied = await self._peers.copy(source, slot, move, files.slot_folder(data, slot), have, is_last=is_last)
        await asyncio.to_thread(files.sync, data)
        return copied.files, copied.bytes

    async def taking(self, marks: Mapping[int, SlotMark]) -> frozenset[int]:
        """Take rows and keys of slots that are about to be served; those of which that could be done."""
        ready: set[int] = set()
        for slot, mark in marks.items():
            try:
                if mark.state == "arrived":
                    await self._users.take_rows(slot)
                    await self._take_keys(slot, mark.copy)
            except CarrelError as error:
                logs.error("slot-not-taken", slot=slot, code=error.code)
            else:
                ready.add(slot)
        return frozenset(ready)

    async def _take_keys(self, slot: int, move: str) -> None:
        source = self._sources.pop(move, None)
        if source is None or not self._takes_keys:
            return
        try:
            async with asyncio.timeout(_KEYS_SECONDS):
                self._users.adopt(slot, await self._peers.keys(source, slot, move))
        except (PeerFailed, TimeoutError):
            logs.warning("slot-without-keys", slot=slot, reason="the users of the slot have to sign in again")

    async def _tell(self, slot: int, progress: MoveProgress) -> None:
        """Nothing depends on it, so it may fail."""
        if self._told.get(slot) == progress:
            return
        try:
            await self._registry.tell(slot, progress)
            self._told[slot] = progress
        except EtcdUnreachable:
            return


def _numbers(schemas: Schemas) -> tuple[int, int, int]:
    return schemas.workspace, schemas.account, schemas.service
