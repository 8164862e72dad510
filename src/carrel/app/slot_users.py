"""What this service does with the users of a slot that leaves for another node, or comes from one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Final, Protocol

from carrel.accounts import accounts, service, slot_rows
from carrel.accounts.service import ServiceDatabase
from carrel.accounts.slots import slot_of
from carrel.auth import handed_over
from carrel.auth.sessions import Sessions
from carrel.auth.sign_out import SignOut
from carrel.cluster import files
from carrel.cluster.peers import Schemas, UserKey
from carrel.config import Settings
from carrel.credits.reservations import CreditReservations
from carrel.errors import CarrelError
from carrel.kit.clock import Clock
from carrel.kit.sqlite import migrate
from carrel.runs.engine.engine import Engine
from carrel.users.lifecycle import Users
from carrel.vault.files import MIGRATIONS
from carrel.vault.keyring import UserUuid, zero

AT_ONCE: Final = 4
"""Workspaces that are closed side by side: more would keep the other users waiting for the disk."""
CALL_SECONDS: Final = 10.0
"""How long calls of models may take to end before a slot leaves. What takes longer is made again, and paid twice."""
HOLD_SECONDS: Final = 60.0
"""For the last copies before a release. After a longer time, files are copied that may have changed all over."""
TIMEOUT_SECONDS: Final = 1.0
"""How long the requests of a user may take to end. Whoever takes longer is told to come again, and nothing was done."""


def schemas() -> tuple[int, ...]:
    """The numbers of the last migrations that this program knows: of a workspace, an account and `service.db`."""
    return tuple(map(migrate.latest, (MIGRATIONS, accounts.MIGRATIONS, service.MIGRATIONS)))


class SlotServices(Protocol):
    """The services that know the users of slots."""

    clock: Clock
    engine: Engine
    reservations: CreditReservations
    service: ServiceDatabase
    sessions: Sessions
    settings: Settings
    sign_out: SignOut
    users: Users


class SlotUsers:
    """Owned by the event loop."""

    def __init__(self, services: SlotServices) -> None:
        self._data = services.settings.data_dir
        self._service_key = services.settings.service_key.reveal()
        self._clock = services.clock
        self._sessions = services.sessions
        self._sign_out = services.sign_out
        self._users = services.users
        self._engine = services.engine
        self._service = services.service
        self._reservations = services.reservations
        self._working: set[UserUuid] = set()
        """Users whose work a move has interrupted."""

    def schemas(self) -> Schemas:
        """What this program can read."""
        return Schemas(*schemas())

    async def rest(self, slot: int) -> None:
        """Close the workspaces that nobody is using; the next request opens them again."""
        pool = self._sessions.pool
        await _few(
            (uuid for uuid in pool.opened if slot_of(uuid) == slot and not pool.is_leased(uuid)),
            lambda uuid: pool.rest(uuid, if_idle=True),
        )

    async def hold(self, slot: int) -> None:
        """For a minute, commits of the slot's users leave their files as they are, and go into their logs."""
        await self._sessions.pool.hold(lambda uuid: slot_of(uuid) == slot, HOLD_SECONDS)

    @asynccontextmanager
    async def calls_ended(self, slot: int) -> AsyncIterator[None]:
        """For the length of a block, no run of the slot's users calls a model; calls under way are let end first."""
        async with self._engine.calls_ended(self._of(slot), CALL_SECONDS):
            yield

    async def close(self, slot: int) -> None:
        """End all work of the slot's users, and leave their rows in the folder of the slot. Their keys stay."""
        sessions = self._sessions
        # Those with keys, and those whose accounts are being made, changed or removed.
        await _few({*self._of(slot), *(uuid for uuid in sessions.locks.held if slot_of(uuid) == slot)}, self._close)
        await asyncio.to_thread(self._wait_for_accounts)
        issued, folder = sessions.issuer.issued(slot), files.slot_folder(self._data, slot)
        await self._service.run(slot_rows.leave, self._service_key, folder, slot, issued)

    async def _close(self, uuid: UserUuid) -> None:
        pool = self._sessions.pool
        async with self._sessions.locks.of(uuid):
            if uuid not in pool.keyring:
                return
            if pool.is_leased(uuid):
                self._working.add(uuid)
            with suppress(CarrelError):
                await pool.withdraw(uuid, TIMEOUT_SECONDS)

    def _wait_for_accounts(self) -> None:
        with self._sessions.accounts.still():
            return

    def keys(self, slot: int) -> list[UserKey]:
        """Copies of the keys of the slot's users."""
        found = []
        for user in handed_over.leave(self._sessions, self._clock, self._of(slot), self._working):
            key = self._sessions.pool.keyring.copy(user.uuid)
            if key is not None:
                found.append(UserKey(user, bytes(key)))
                zero(key)
        return found

    async def take_rows(self, slot: int) -> None:
        """Take the slot's rows from its folder into `service.db`."""
        folder = files.slot_folder(self._data, slot)
        await self._service.run(slot_rows.take, self._service_key, folder, slot)
        await self._read_slots()
        await self._users.start({slot})

    def adopt(self, slot: int, keys: list[UserKey]) -> None:
        """Go on with the sessions of these users when the slot is served."""
        users = [one for one in keys if slot_of(one.user.uuid) == slot]
        for one in users:
            self._sessions.pool.keyring.put(one.user.uuid, one.key)
        handed_over.arrive(self._sessions, self._clock, [one.user for one in users])
        self._working |= {one.user.uuid for one in users if one.user.at_work}

    async def go_on(self, slots: frozenset[int]) -> None:
        """The slots are served from now on: work that a move has interrupted goes on."""
        sessions = self._sessions
        for uuid in [uuid for uuid in self._working if slot_of(uuid) in slots]:
            self._working.discard(uuid)
            with suppress(CarrelError):
                # Also where the move was aborted, and nobody came from elsewhere.
                await (sessions.settle(uuid) if uuid in sessions.handed_over else sessions.pool.announce(uuid))
        for uuid in [uuid for uuid in sessions.signed_out if slot_of(uuid) in slots]:
            self._sign_out.evict_when_free(uuid)

    async def forget(self, slots: frozenset[int]) -> None:
        """Zero the keys of the slots' users, and forget them."""
        for slot in slots:
            for uuid in self._of(slot):
                self._working.discard(uuid)
                self._reservations.forget(uuid)
                await handed_over.forget(self._sessions, uuid)

    async def remove_rows(self, slot: int) -> None:
        """Remove the slot's rows from `service.db`: another node has them."""
        await self._service.run(slot_rows.remove, slot)
        await self._read_slots()

    async def _read_slots(self) -> None:
        await self._sessions.issuer.read_slots()
        await self._sessions.service_secret.read_slots(self._service)

    def _of(self, slot: int) -> list[UserUuid]:
        return [uuid for uuid in self._sessions.pool.keyring.uuids if slot_of(uuid) == slot]


async def _few(users: Iterable[UserUuid], do: Callable[[UserUuid], Awaitable[None]]) -> None:
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(uuid: UserUuid) -> None:
        async with turns:
            await do(uuid)

    await asyncio.gather(*map(one, users))
