"""Slots that leave this node: the source's side of moves."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Final, Protocol

from carrel.cluster import copying, files, moves
from carrel.cluster.etcd import EtcdUnreachable
from carrel.cluster.node import Node
from carrel.cluster.ownership import Entry
from carrel.cluster.peers import PeerFailed, Schemas, UserKey
from carrel.cluster.registry import ClusterRegistry
from carrel.errors import CarrelError
from carrel.kit import logs

RELEASE_SECONDS: Final = 10.0
"""A release that takes longer is given up, and the slot is served again."""
RETURN_SECONDS: Final = 30.0
"""A move that is not committed so long after the release is aborted: nobody serves the slot meanwhile."""
KEYS_SECONDS: Final = 5.0
"""So long after the commit the keys wait for the target."""
_LOOK_SECONDS: Final = 0.5


class DepartingUsers(Protocol):
    """What a service does with the users of a slot that leaves or comes."""

    def schemas(self) -> Schemas:
        """What this program can read."""
        ...

    async def rest(self, slot: int) -> None:
        """Close the workspaces that nobody is using; the next request opens them again."""
        ...

    async def hold(self, slot: int) -> None:
        """For a while, let the files of the slot stay as they are: commits go into the logs beside them."""
        ...

    def calls_ended(self, slot: int) -> AbstractAsyncContextManager[None]:
        """For the length of a block, no run of the slot's users calls a model; calls under way are let end first."""
        ...

    async def close(self, slot: int) -> None:
        """End all work of the slot's users, and leave their rows in the folder of the slot. Their keys stay."""
        ...

    def keys(self, slot: int) -> list[UserKey]:
        """Copies of the keys of the slot's users."""
        ...

    async def go_on(self, slots: frozenset[int]) -> None:
        """The slots are served from now on: work that a move has interrupted goes on."""
        ...

    async def forget(self, slots: frozenset[int]) -> None:
        """Zero the keys of the slots' users, and forget them."""
        ...

    async def remove_rows(self, slot: int) -> None:
        """Remove the slot's rows from `service.db`: another node has them."""
        ...


class Departures:
    """Owned by the event loop. It implements `Giving`. `gives_keys`: over a connection on which both sides are proven.

    `look` does what the map asks for with slots that were released.
    """

    def __init__(
        self,
        node: Node,
        registry: ClusterRegistry,
        users: DepartingUsers,
        *,
        gives_keys: bool,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node = node
        self._registry = registry
        self._users = users
        self._gives_keys = gives_keys
        self._now = now
        self._since: dict[int, float] = {}
        """When this process first saw a released slot as it is: under way, or committed."""
        self._given: set[int] = set()
        self._changed = asyncio.Event()

    # What targets ask for ---------------------------------------------------------------------------------------------

    async def prepare(self, slot: int, move: str) -> Schemas:
        """Close what is idle, so that less is left to do in the end."""
        await self._current(slot, move)
        await self._users.rest(slot)
        return self._users.schemas()

    async def hold(self, slot: int, move: str) -> None:
        """Let what changes from now on go into small files, and return when the large ones can be copied for good."""
        await self._current(slot, move)
        await self._users.hold(slot)
        await asyncio.sleep(copying.LATELY_SECONDS)

    async def release(self, slot: int, move: str) -> None:
        """End the work of the slot's users and mark the slot released; again and again, if asked."""
        if moves.is_released(self._node.marks.get(slot), move):
            return
        await self._require_release(slot, move)
        # The slot is served meanwhile: what its users do goes on.
        async with self._users.calls_ended(slot):
            await self._release(slot, move)

    async def _release(self, slot: int, move: str) -> None:
        fence = self._node.fence
        if slot in fence.leaving:
            raise PeerFailed("the slot is being released already")
        fence.leaving |= {slot}
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                await self._users.close(slot)
            # The operator may have aborted the move meanwhile.
            entry = await self._require_release(slot, move)
            if not fence.is_open:
                raise PeerFailed("the lease of the node has ended")
            await self._node.set_mark(slot, moves.released(entry, move))
        except TimeoutError:
            raise PeerFailed("the work of the slot's users does not end") from None
        finally:
            fence.leaving -= {slot}
            if slot in fence.serving:
                await self._users.go_on(frozenset({slot}))
        logs.info("slot-released", slot=slot)

    def folder(self, slot: int, move: str, *, is_last: bool) -> Path:
        """The folder of the slot. For the last copy it was released for this move."""
        entry = self._node.entries.get(slot)
        is_released = moves.is_released(self._node.marks.get(slot), move)
        if is_last and not is_released:
            raise PeerFailed("the slot is not released")
        if not is_released and (entry is None or entry.move != move or slot not in self._node.fence.serving):
            raise PeerFailed("the move is not under way")
        return files.slot_folder(self._node.identity.data, slot)

    async def keys(self, slot: int, move: str) -> list[UserKey]:
        """The keys of the slot's users, once, when the commit has made the target their node."""
        if not self._gives_keys:
            return []
        entry = await self._read(slot)
        if not moves.is_released(self._node.marks.get(slot), move) or entry.copy != move or slot in self._given:
            raise PeerFailed("the move is not committed")
        self._given.add(slot)
        self._changed.set()
        return self._users.keys(slot)

    async def _require_release(self, slot: int, move: str) -> Entry:
        entry = await self._current(slot, move)
        if not moves.may_release(entry, self._node.marks.get(slot), move, self._node.identity.name):
            raise PeerFailed("the disk of the node does not hold the slot")
        return entry

    async def _current(self, slot: int, move: str) -> Entry:
        entry = await self._read(slot)
        if entry.move != move or entry.node != self._node.identity.name:
            raise PeerFailed("the move is not under way")
        return entry

    async def _read(self, slot: int) -> Entry:
        try:
            entry = await self._registry.entry(slot)
        except EtcdUnreachable:
            raise PeerFailed("etcd does not answer") from None
        if entry is None:
            raise PeerFailed("the map does not have the slot")
        return entry

    # What follows a release -------------------------------------------------------------------------------------------

    def changed(self) -> None:
        """The map or a mark has changed."""
        self._changed.set()

    async def run(self) -> None:
        """Look after slots that were released, until the process ends."""
        while True:
            is_pending = True
            try:
                is_pending = await self.look()
            except EtcdUnreachable:
                logs.warning("slot-not-removed", reason="etcd does not answer")
            except CarrelError as error:
                logs.error("slot-not-removed", code=error.code)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS if is_pending else None):
                    await self._changed.wait()
            self._changed.clear()

    async def look(self) -> bool:
        """Do what is due for slots that were released; whether some are left.

        Raises:
            EtcdUnreachable
            CarrelError: the disk does not do it now.
        """
        name, now = self._node.identity.name, self._now()
        released = {slot: mark for slot, mark in self._node.marks.items() if mark.state == "released"}
        self._since = {slot: since for slot, since in self._since.items() if slot in released}
        self._given &= released.keys()
        for slot in released:
            entry = self._node.entries.get(slot)
            if entry is None:
                continue
            since = self._since.setdefault(slot, now)
            if entry.node == name:
                if entry.move and now - since >= RETURN_SECONDS:
                    await self._take_back(slot, entry)
            elif not self._gives_keys or slot in self._given or now - since >= KEYS_SECONDS:
                await self._remove(slot)
        return bool(released)

    async def _take_back(self, slot: int, entry: Entry) -> None:
        aborted = moves.abort(entry, entry.move)
        if aborted is not None and await self._registry.replace({slot: (entry, aborted)}):
            logs.warning("slot-move-aborted", slot=slot, reason="it was not committed in time")

    async def _remove(self, slot: int) -> None:
        entry = await self._registry.entry(slot)
        if entry is None or not moves.may_remove(entry, self._node.marks.get(slot), self._node.identity.name):
            return
        await self._users.forget(frozenset({slot}))
        await self._users.remove_rows(slot)
        await self._node.remove_copy(slot)
        logs.info("slot-left", slot=slot)
