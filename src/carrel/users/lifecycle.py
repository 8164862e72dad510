"""Creation, membership and deletion of users: the host's decisions are durable before anybody can see them."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Concatenate, ParamSpec, TypeVar

from carrel.accounts import accounts as account_rows
from carrel.accounts import deletions, program_keys, roster
from carrel.accounts.accounts import Account, Membership, UserExists, UserUnknown
from carrel.accounts.service import ServiceDatabase
from carrel.auth.sessions import Sessions
from carrel.errors import CarrelError
from carrel.kit.sqlite.database import Connection
from carrel.users.schemas import UserOut
from carrel.vault.keyring import UserUuid

T = TypeVar("T")
P = ParamSpec("P")

Deactivated = Callable[[UserUuid], Awaitable[None]]
"""Called when a user may no longer execute, so that running work pauses."""


class Users:
    """The users of this service."""

    def __init__(self, sessions: Sessions, service: ServiceDatabase, deactivated: Deactivated) -> None:
        self._sessions = sessions
        self._accounts = sessions.accounts
        self._service = service
        self._deactivated = deactivated

    async def start(self, slots: Collection[int] | None = None) -> None:
        """Finish the deletions that a crash interrupted, perhaps only in some slots. Nobody may use them yet."""
        for owner in await self._service.run(deletions.unfinished):
            if slots is None or int(owner.partition("/")[0]) in slots:
                await self._finish_deletion(owner)

    async def write_new(
        self, uuid: UserUuid, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `fn` as the first transaction of a new account, or as a further transaction of an existing account.

        The sessions of a new user begin after those of an earlier user with the same uuid.
        """
        return await self._sessions.run_to_completion(self._write_new(uuid, lambda conn: fn(conn, *args, **kwargs)))

    async def _write_new(self, uuid: UserUuid, fn: Callable[[Connection], T]) -> T:
        owner = self._accounts.owner(uuid)
        async with self._sessions.locks.of(uuid):
            previous = await self._service.run(deletions.valid_from, owner)
            valid_from = self._sessions.issuer.next_valid_from(uuid, previous)

            def first(conn: Connection) -> T:
                made = fn(conn)
                account_rows.raise_valid_from(conn, valid_from)
                return made

            try:
                return await self._accounts.run(uuid, fn)
            except UserUnknown:
                await self._finish_deletion(owner)
                await self._service.run(roster.add, owner, uuid)
                return await self._accounts.create(uuid, first)

    async def _finish_deletion(self, owner: str) -> bool:
        """Finish an earlier deletion that failed in the middle; otherwise the next start would delete the new user."""
        if not await self._service.run(deletions.is_unfinished, owner):
            return False
        await asyncio.to_thread(self._accounts.remove, owner)
        await self._service.run(deletions.finish, owner)
        return True

    async def activate(self, uuid: UserUuid) -> UserOut:
        """Paid membership.

        Raises:
            UserUnknown: nobody was created under this uuid.
        """
        return await self._set_membership(uuid, "paid")

    async def deactivate(self, uuid: UserUuid) -> UserOut:
        """Free membership; the user's runs pause.

        Raises:
            UserUnknown: nobody was created under this uuid.
        """
        return await self._set_membership(uuid, "free")

    async def _set_membership(self, uuid: UserUuid, membership: Membership) -> UserOut:
        return await self._sessions.run_to_completion(self._change_membership(uuid, membership))

    async def _change_membership(self, uuid: UserUuid, membership: Membership) -> UserOut:
        async with self._sessions.locks.of(uuid):
            account = await self._accounts.run(uuid, change_membership, membership)
            self._sessions.account_changed(account)
            if membership == "free":
                await self._deactivated(uuid)
        return shown(account)

    async def delete(self, uuid: UserUuid) -> None:
        """Remove the user with everything. After a crash in the middle the next start finishes it.

        Raises:
            UserUnknown: nobody was created under this uuid.
        """
        await self._sessions.run_to_completion(self._delete(uuid))

    async def _delete(self, uuid: UserUuid) -> None:
        owner = self._accounts.owner(uuid)
        async with self._sessions.locks.of(uuid):
            try:
                account = await self._accounts.read(uuid, account_rows.get)
            except UserUnknown:
                if await self._finish_deletion(owner):
                    return
                raise
            valid_from = self._sessions.issuer.next_valid_from(uuid, account.valid_from)
            await self._service.run(deletions.begin, owner, valid_from)
            try:
                await self._sessions.pool.destroy(uuid, lambda: self._accounts.remove(owner))
            except CarrelError:
                if self._accounts.folder(uuid).exists():
                    # The deletion changed nothing, so the next start must not repeat it.
                    await self._service.run(deletions.take_back, owner)
                raise
            self._sessions.forget(uuid)
            await self._service.run(deletions.finish, owner)


def insert(conn: Connection, uuid: UserUuid, membership: Membership) -> UserOut:
    """The row of a new user.

    Raises:
        UserExists: there is one already.
    """
    if conn.one("SELECT 1 FROM account") is not None:
        raise UserExists
    return shown(account_rows.insert(conn, uuid, membership))


def change_membership(conn: Connection, membership: Membership) -> Account:
    """Change what the user may do. Whoever may do less keeps no program that signs in."""
    if membership == "free":
        program_keys.end_all(conn, "membership")
    return account_rows.set_membership(conn, membership)


def shown(account: Account) -> UserOut:
    """The account as the host sees it."""
    return UserOut(account.uuid, account.membership, account.created_at)
