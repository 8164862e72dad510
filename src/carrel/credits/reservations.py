"""Paying for calls with credits, across two databases that never commit together.

The order of the steps keeps it exact if the process is killed at any moment: the call's row with a random id is
committed in the workspace; then credits are held back under that id; then the call is made; its outcome is committed in
the workspace; then the reservation ends with the charge in the row. When a workspace is opened, every open reservation
ends with what its row says.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from carrel.accounts.accounts import Accounts, UserUnknown
from carrel.accounts.service import ServiceDatabase
from carrel.credits import holders, reservation_store, write_offs
from carrel.credits.reservation_store import Want
from carrel.errors import CarrelError
from carrel.kit import logs
from carrel.kit.logs import tail
from carrel.kit.sqlite.database import Connection
from carrel.vault.keyring import UserUuid
from carrel.vault.workspace import Workspace


class Books(NamedTuple):
    """What the rows of a user's calls tell about their charges."""

    charged: Callable[[Connection, Sequence[str]], Mapping[str, int | None]]
    """The charge of each call with one of these reservations: `None` while it runs or its charge is not decided, left
    out if there is no call."""
    any_undecided: Callable[[Connection], bool]
    """Whether a call has ended whose charge is not decided."""
    decide: Callable[[Workspace, Collection[str], bool], Awaitable[None]]
    """Decide these charges, and pause runs if the host bears no more today. It gets reservations of the account, and
    whether these are all. Without a reservation a call was never made."""
    borne: Callable[[Connection], Sequence[tuple[str, int, int]]]
    """What the host bore of the user's calls: days with the number of calls and millionths of credits."""


_RETRY_SECONDS = 15.0


class CreditReservations:
    """Owned by the event loop. Reservations are made and settled in batches: one transaction for all that wait."""

    def __init__(
        self,
        accounts: Accounts,
        service: ServiceDatabase,
        books: Books,
        on_settled: Callable[[UserUuid], Awaitable[None]],
    ) -> None:
        self._accounts = accounts
        self._service = service
        self._books = books
        self._on_settled = on_settled
        self._live: dict[UserUuid, set[str]] = {}
        """Reservations of calls that this process is making."""
        self._holders: set[UserUuid] = set()
        """Users who are recorded as holders, by this process."""
        self._ended: dict[UserUuid, dict[str, int]] = {}
        self._undecided: dict[UserUuid, tuple[Workspace, set[str]]] = {}
        """Reservations of calls that ended and whose charge may have to be decided."""
        self._left: set[UserUuid] = set()
        """Users with reservations that could not be settled before the workspace was closed."""
        self._settling: dict[UserUuid, asyncio.Task[None]] = {}
        self._listeners: dict[UserUuid, set[Callable[[], None]]] = {}

    async def reserve(self, uuid: UserUuid, wants: Sequence[Want]) -> frozenset[str]:
        """Hold credits back, in order, as far as the balance goes. Returns the ids that are held."""
        live = self._live.setdefault(uuid, set())
        ids = {want.id for want in wants}
        live |= ids
        granted: frozenset[str] = frozenset()
        try:
            if uuid not in self._holders:
                await self._service.run(holders.add, self._accounts.owner(uuid), uuid)
                self._holders.add(uuid)
            granted = await self._accounts.run(uuid, reservation_store.reserve, wants)
        finally:
            # If the wait is cancelled, it is unknown whether the reservation was made: `reconcile` finds out.
            self._forget(uuid, ids - granted)
        return granted

    def is_busy(self, uuid: UserUuid) -> bool:
        """Whether this user has open reservations, of which a part may become free."""
        return bool(self._live.get(uuid))

    def in_use(self, uuid: UserUuid) -> frozenset[str]:
        """The user's reservations of calls that this process is making."""
        return frozenset(self._live.get(uuid, ()))

    def let_go(self, uuid: UserUuid) -> bool:
        """Whether the user may be taken from the recorded holders. The next reservation records the user again."""
        if uuid in self._live or uuid in self._left:
            return False
        self._holders.discard(uuid)
        return True

    def forget(self, uuid: UserUuid) -> None:
        """Forget a user who has left this node. What is still held is settled where the workspace is opened next."""
        self._holders.discard(uuid)
        self._left.discard(uuid)

    def watch(self, uuid: UserUuid, listener: Callable[[], None]) -> None:
        """Call `listener` whenever something was settled, until `unwatch`."""
        self._listeners.setdefault(uuid, set()).add(listener)

    def unwatch(self, uuid: UserUuid, listener: Callable[[], None]) -> None:
        """Stop calling the listener."""
        watching = self._listeners.get(uuid, set())
        watching.discard(listener)
        if not watching:
            self._listeners.pop(uuid, None)

    def done(self, workspace: Workspace, reservation: str) -> None:
        """Settle a call that nobody attends to any more, by its row. Does not wait for the end."""
        uuid = workspace.uuid
        try:
            # Without a row, the call was cancelled before it was made.
            charged = workspace.read(self._books.charged, [reservation]).get(reservation, 0)
        except CarrelError:
            self._leave(uuid, {reservation})
            return
        if charged is None:
            self._undecided.setdefault(uuid, (workspace, set()))[1].add(reservation)
            self._settle_soon(uuid, {})
        else:
            self._settle_soon(uuid, {reservation: charged})

    def has_left(self, uuid: UserUuid) -> bool:
        """Whether something was left to the next opening of the user's workspace."""
        return uuid in self._left

    async def settled(self, uuid: UserUuid) -> None:
        """Wait until everything that ended so far is settled, or cannot be settled now."""
        task = self._settling.get(uuid)
        if task is not None:
            await asyncio.wait([task])

    async def reconcile(self, workspace: Workspace) -> None:
        """End every open reservation that no call of this process uses, as the rows say.

        Raises:
            CarrelError: one of the two databases cannot be read now.
        """
        uuid = workspace.uuid
        # What is being decided needs the workspace, which may be about to be closed.
        await self.settled(uuid)
        found = await self._accounts.read(uuid, reservation_store.still_open)
        attended = self._live.get(uuid, set())
        left = [reservation for reservation in found if reservation not in attended]
        ended = await self._decided(workspace, left, found) if left else {}
        self._left.discard(uuid)
        if left:
            self._settle_soon(uuid, ended)
            await self.settled(uuid)

    async def _decided(
        self, workspace: Workspace, reservations: Collection[str], every: Collection[str] | None = None
    ) -> dict[str, int]:
        """Return the charges of those calls that have ended, decided if they have to be.

        `every` reservation of the account is named, if the caller knows them.

        What the host bears is recorded before anything is settled, so a crash in between loses none of it.

        Raises:
            CarrelError: one of the databases cannot be read or written now.
        """
        if await workspace.scan(self._books.any_undecided):
            await self._books.decide(workspace, every or reservations, every is not None)
        borne = await workspace.scan(self._books.borne)
        if borne:
            await self._service.run(write_offs.record, self._accounts.owner(workspace.uuid), borne)
        charged = await workspace.scan(self._books.charged, list(reservations))
        # Without a row, no call was ever made for it.
        found = {one: charged.get(one, 0) for one in reservations}
        return {one: micros for one, micros in found.items() if micros is not None}

    def _settle_soon(self, uuid: UserUuid, ended: Mapping[str, int]) -> None:
        self._ended.setdefault(uuid, {}).update(ended)
        if uuid not in self._settling:
            self._settling[uuid] = asyncio.create_task(self._settle(uuid))

    async def _settle(self, uuid: UserUuid) -> None:
        try:
            while uuid in self._ended or uuid in self._undecided:
                ended = self._ended.pop(uuid, {}) | await self._decide(uuid)
                try:
                    await self._accounts.run(uuid, reservation_store.settle, ended)
                except UserUnknown:
                    pass
                except CarrelError as error:
                    logs.warning("credits-not-settled", user=tail(uuid), code=error.code)
                    self._ended.setdefault(uuid, {}).update(ended)
                    asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._settle_soon, uuid, {})
                    return
                self._forget(uuid, ended)
                await self._on_settled(uuid)
        finally:
            del self._settling[uuid]

    async def _decide(self, uuid: UserUuid) -> dict[str, int]:
        if uuid not in self._undecided:
            return {}
        workspace, undecided = self._undecided.pop(uuid)
        try:
            found = await self._decided(workspace, undecided)
        except CarrelError as error:
            logs.warning("credits-not-settled", user=tail(uuid), code=error.code)
            found = {}
        # A row that still says that its call runs is corrected by somebody, who reconciles afterwards.
        self._leave(uuid, undecided - found.keys())
        return found

    def _leave(self, uuid: UserUuid, reservations: set[str]) -> None:
        """Leave these reservations to whoever reconciles next."""
        if reservations:
            self._left.add(uuid)
            self._forget(uuid, reservations)

    def _forget(self, uuid: UserUuid, ids: "Mapping[str, int] | set[str]") -> None:
        live = self._live.get(uuid, set())
        live.difference_update(ids)
        if not live:
            self._live.pop(uuid, None)
        for listener in tuple(self._listeners.get(uuid, ())):
            listener()

    async def close(self) -> None:
        """Wait until the current settlements have ended."""
        if self._settling:
            await asyncio.wait(list(self._settling.values()))
