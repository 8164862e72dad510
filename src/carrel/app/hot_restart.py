"""What a process leaves to the one that takes its place, and what that one makes of it. See decision 43."""

import asyncio
import hmac
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

import msgspec

from carrel.accounts import accounts, service
from carrel.accounts.accounts import Accounts
from carrel.auth import handed_over
from carrel.auth.handed_over import HandedUser
from carrel.auth.sessions import Sessions
from carrel.auth.sign_out import SignOut
from carrel.config import Settings
from carrel.errors import CarrelError
from carrel.kit import logs
from carrel.kit.clock import Clock
from carrel.kit.sqlite import migrate
from carrel.one_off.caller import Caller
from carrel.runs.engine.engine import Engine
from carrel.vault import files
from carrel.vault.key_memory import KeyMemory
from carrel.vault.keyring import Keyring

FORMAT: Final = 1
"""Of all that one process hands to the next. It changes with `HandedUser` and with what the processes say."""
CALL_SECONDS: Final = 60.0
"""How long single calls that are under way may take, while everything goes on as before."""
_SPARE_KEYS: Final = 16_384
"""Room for users who sign in between the reservation of the memory and the end: half a megabyte."""


def schemas() -> tuple[int, ...]:
    """The numbers of the last migrations that this program knows: of a workspace, an account and `service.db`."""
    return tuple(map(migrate.latest, (files.MIGRATIONS, accounts.MIGRATIONS, service.MIGRATIONS)))


class Terms(msgspec.Struct, frozen=True):
    """What has to be the same in both processes, so that either of them can go on with the keys and the data."""

    format: int
    schemas: tuple[int, ...]
    """As `schemas` tells them."""
    service_key: str
    """A keyed hash, which proves that the key is the same and tells nothing else."""
    data: tuple[int, int]
    """Device and inode of the data folder."""
    cipher: str
    node: tuple[str | None, str]

    @classmethod
    def of(cls, settings: Settings) -> "Terms":
        """Those of this program with these settings. Raises `OSError` if there is no data folder."""
        folder = settings.data_dir.stat()
        return cls(
            FORMAT,
            schemas(),
            hmac.digest(settings.service_key.reveal(), b"carrel:hot-restart", "sha256").hex(),
            (folder.st_dev, folder.st_ino),
            settings.cipher,
            (settings.node_name, settings.cluster),
        )

    def differences(self, other: "Terms") -> Iterator[str]:
        """Why the process with the `other` terms cannot take this one's place; nothing if it can."""
        if self.format != other.format:
            yield "the versions hand keys over differently"
        if self.schemas != other.schemas:
            yield "the versions have different schemas"
        if self.service_key != other.service_key:
            yield "CARREL_SERVICE_KEY differs"
        if self.data != other.data:
            yield "CARREL_DATA_DIR is another folder"
        if self.cipher != other.cipher:
            yield "CARREL_CIPHER differs"
        if self.node != other.node:
            yield "CARREL_NODE_NAME or CARREL_CLUSTER differs"


class HandOver(NamedTuple):
    """Keys, and the users they belong to, in the same order."""

    keys: KeyMemory
    users: list[HandedUser]


class Users(Protocol):
    """The services whose users it is about."""

    accounts: Accounts
    caller: Caller
    clock: Clock
    engine: Engine
    keyring: Keyring
    sessions: Sessions
    sign_out: SignOut


class HotRestart:
    """The part of the application. `taken` is what another process handed to this one, or what this one takes back."""

    def __init__(self, taken: HandOver | None = None) -> None:
        self.taken = taken
        self.left: HandOver | None = None
        """What the next process gets, when everything here is closed."""
        self.streams_end = asyncio.Event()
        """Set when event streams have to end; their readers come back to the next process."""
        self._services: Users | None = None
        self._reserved: KeyMemory | None = None
        self._settling: asyncio.Task[None] | None = None

    def serve(self, services: Users) -> None:
        """The services whose users it is about."""
        self._services = services

    # The process that comes -----------------------------------------------------------------------------------------

    def arrive(self) -> None:
        """Take the keys, before any request. Whoever handed them over wipes the memory that they came in."""
        if self.taken is not None and self._services is not None:
            services, users = self._services, self.taken.users
            self.taken.keys.take(services.keyring, [user.uuid for user in users])
            handed_over.arrive(services.sessions, services.clock, users)
            _forget_strangers(services, users)
            logs.info("keys-taken-over", count=len(users))
            self._settling = asyncio.create_task(self._settle(services, users))
            self.taken = None

    async def _settle(self, services: Users, users: list[HandedUser]) -> None:
        """Let runs and deliveries go on, those of users with a run at work first."""
        for user in users:
            if user.at_work:
                try:
                    await services.sessions.settle(user.uuid)
                except CarrelError as error:
                    # The user's next request tries again.
                    logs.warning("run-recovery-failed", user=logs.tail(user.uuid), code=error.code)
            if user.is_signed_out:
                services.sign_out.evict_when_free(user.uuid)

    # The process that goes ------------------------------------------------------------------------------------------

    def reserve(self) -> None:
        """Make sure that the keys can be handed over, while everything can go on as it is.

        Raises:
            KeyMemoryRefused: the limit of locked memory does not allow it.
        """
        if self._services is not None:
            self._reserved = KeyMemory.reserve(len(self._services.keyring) + _SPARE_KEYS)

    async def finish_work(self) -> None:
        """Wait for single calls of models, then pause every run, durably.

        Requests go on meanwhile; a run that somebody starts now begins in the next process.
        """
        if self._services is not None:
            await self._services.caller.finish(CALL_SECONDS)
            await self._services.engine.stop(is_replaced=True)

    def leave(self) -> None:
        """Write the keys into the reserved memory. Nothing works any more, but every database is still open."""
        if self._services is not None and self._reserved is not None:
            services = self._services
            users = handed_over.leave(
                services.sessions, services.clock, services.keyring.uuids, services.engine.stopped_users
            )
            del users[self._reserved.room :]
            self._reserved.fill(services.keyring, [user.uuid for user in users])
            self.left = HandOver(self._reserved, users)
            self._reserved = None

    def abandon(self) -> None:
        """Nothing is handed over: give the reserved memory back."""
        if self._reserved is not None:
            self._reserved.close()
            self._reserved = None

    def stop(self) -> None:
        """Let nobody's work go on any more, because the process ends."""
        if self._settling is not None:
            self._settling.cancel()


def _forget_strangers(services: Users, users: list[HandedUser]) -> None:
    """Of a node of several: slots may have gone to others between the two processes."""
    for user in users:
        try:
            services.accounts.require_served(user.uuid)
        except CarrelError:
            services.sessions.forget(user.uuid)
            services.keyring.evict(user.uuid)
