"""Paying for calls with credits, across two databases that never commit together.

The order of the steps keeps it exact if the process is killed at any moment: the call's row with a random id is
committed in the workspace; then credits are held back under that id; then the call is made; its outcome is committed in
the workspace; then the reservation ends with the charge in the row. When a workspace is opened, every open reservation
ends with what its row says.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from carrel.accounts.accounts import Accounts, UserUnknown
from carrel.credits import reservation_store
from carrel.credits.reservation_store import Want
from carrel.errors import CarrelError
from carrel.kit import logs
from carrel.kit.logs import tail
from carrel.kit.sqlite.database import Connection
from carrel.vault.keyring import UserUuid
from carrel.vault.workspace import Workspace

Charged = Callable[[Connection, Sequence[str]], Mapping[str, int | None]]
"""The charge of each call with one of these reservations: `None` while it runs, left out if there is no call."""

_RETRY_SECONDS = 15.0


class CreditReservations:
    """Owned by the event loop. Reservations are made and settled in batches: one transaction for all that wait."""

    def __init__(self, accounts: Accounts, charged: Charged) -> None:
        self._accounts = accounts
        self._charged = charged
        self._live: dict[UserUuid, set[str]] = {}
        """Reservations of calls that this process is making."""
        self._ended: dict[UserUuid, dict[str, int]] = {}
        self._settling: dict[UserUuid, asyncio.Task[None]] = {}
        self._listeners: dict[UserUuid, set[Callable[[], None]]] = {}

    async def reserve(self, uuid: UserUuid, wants: Sequence[Want]) -> frozenset[str]:
        """Hold credits back, in order, as far as the balance goes. Returns the ids that are held."""
        live = self._live.setdefault(uuid, set())
        ids = {want.id for want in wants}
        live |= ids
        granted: frozenset[str] = frozenset()
        try:
            granted = await self._accounts.run(uuid, reservation_store.reserve, wants)
        finally:
            # If the wait is cancelled, it is unknown whether the reservation was made: `reconcile` finds out.
            self._forget(uuid, ids - granted)
        return granted

    def is_busy(self, uuid: UserUuid) -> bool:
        """Whether this user has open reservations, of which a part may become free."""
        return bool(self._live.get(uuid))

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
        charged = None
        with suppress(CarrelError):
            # Without a row, the call was cancelled before it was made.
            charged = workspace.read(self._charged, [reservation]).get(reservation, 0)
        if charged is None:
            # The row says that the call still runs. Whoever corrects the row reconciles afterwards.
            self._forget(uuid, {reservation})
        else:
            self._settle_soon(uuid, {reservation: charged})

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
        found = await self._accounts.read(uuid, reservation_store.still_open)
        attended = self._live.get(uuid, set())
        left = [reservation for reservation in found if reservation not in attended]
        if left:
            charged = await workspace.scan(self._charged, left)
            # Without a row, no call was ever made for it.
            ended = {one: charged.get(one, 0) for one in left}
            self._settle_soon(uuid, {one: micros for one, micros in ended.items() if micros is not None})
            await self.settled(uuid)

    def _settle_soon(self, uuid: UserUuid, ended: Mapping[str, int]) -> None:
        self._ended.setdefault(uuid, {}).update(ended)
        if uuid not in self._settling:
            self._settling[uuid] = asyncio.create_task(self._settle(uuid))

    async def _settle(self, uuid: UserUuid) -> None:
        try:
            while ended := self._ended.pop(uuid, None):
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
        finally:
            del self._settling[uuid]

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
