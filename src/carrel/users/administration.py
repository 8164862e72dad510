"""What the operator sees of users, and does to them. No key and no text of a user is needed for any of it."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from carrel.accounts import accounts as account_rows
from carrel.accounts import roster
from carrel.accounts.accounts import Account, Membership, UserUnknown
from carrel.accounts.service import ServiceDatabase
from carrel.auth.sessions import Sessions
from carrel.auth.sign_out import SignOut
from carrel.credits import ledger
from carrel.http.requests.schema import In
from carrel.kit.clock import Time
from carrel.kit.money import text_of
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging
from carrel.users.lifecycle import Deactivated
from carrel.vault.keyring import UserUuid
from carrel.webhooks.outbox import Event
from carrel.webhooks.sender import Webhooks


class UserUsage(msgspec.Struct, frozen=True):
    """A user as the operator sees one. Amounts are decimal strings, in credits.

    `signed_in`: the key is in the memory of this process. `workspace_megabytes` and `calls_per_day` are null where the
    user has no limit of their own.
    """

    uuid: str
    membership: Membership
    created_at: Time
    suspended_at: Time | None
    signed_in: bool
    active_runs: int
    disk_bytes: int
    workspace_megabytes: int | None
    calls_per_day: int | None
    credits: str
    credits_spent: str


class QuotaIn(In, frozen=True):
    """How large a user's workspace may become, and the calls of models on one UTC day; null: as everybody."""

    workspace_megabytes: Annotated[int, Meta(ge=1, le=1_000_000)] | None
    calls_per_day: Annotated[int, Meta(ge=0, le=100_000)] | None = None


class Administration:
    """The operator's side of users. `halted` pauses a user's runs, `active_runs` counts them."""

    def __init__(
        self,
        sessions: Sessions,
        sign_out: SignOut,
        service: ServiceDatabase,
        webhooks: Webhooks,
        halted: Deactivated,
        active_runs: Callable[[UserUuid], int],
    ) -> None:
        self._sessions = sessions
        self._sign_out = sign_out
        self._service = service
        self._webhooks = webhooks
        self._halted = halted
        self._active_runs = active_runs

    async def listed(self, paging: Paging) -> Page[UserUsage]:
        """The users of this process, in a fixed order."""
        page = await self._service.run(roster.listed, paging)
        found = []
        for uuid in page.items:
            try:
                found.append(await self.get(UserUuid(uuid)))
            except UserUnknown:
                # Deleted meanwhile.
                continue
        return Page(found, page.next_cursor)

    async def get(self, uuid: UserUuid) -> UserUsage:
        """One user.

        Raises:
            UserUnknown
        """
        accounts = self._sessions.accounts
        account, spent, balance = await accounts.recall(uuid, _account_and_credits)
        return UserUsage(
            uuid,
            account.membership,
            account.created_at,
            account.suspended_at,
            uuid in self._sessions.pool.keyring,
            self._active_runs(uuid),
            _size_of(accounts.folder(uuid)),
            account.workspace_megabytes,
            account.calls_per_day,
            balance,
            text_of(spent),
        )

    async def suspend(self, uuid: UserUuid) -> UserUsage:
        """End every session, pause the runs, and let nobody sign in as this user until `reinstate`.

        Raises:
            UserUnknown
        """
        sessions = self._sessions
        async with sessions.locks.of(uuid):
            account = await sessions.accounts.run(uuid, account_rows.suspend)
            sessions.account_changed(account)
            await self._halted(uuid)
        await self._sign_out.end_all(uuid)
        await self._webhooks.tell(uuid, Event("user.suspended", account.suspended_at or "", {}))
        return await self.get(uuid)

    async def reinstate(self, uuid: UserUuid) -> UserUsage:
        """End a suspension: the user signs in again, and goes on.

        Raises:
            UserUnknown
        """
        return await self._change(uuid, account_rows.reinstate)

    async def set_quota(self, uuid: UserUuid, quota: QuotaIn) -> UserUsage:
        """Limit the calls from now on, and the room from the next opening on. What is larger stays, and does not grow.

        Raises:
            UserUnknown
        """
        room, calls = quota.workspace_megabytes, quota.calls_per_day
        return await self._change(uuid, lambda conn: account_rows.set_quota(conn, room, calls))

    async def _change(self, uuid: UserUuid, change: Callable[[Connection], Account]) -> UserUsage:
        sessions = self._sessions
        async with sessions.locks.of(uuid):
            sessions.account_changed(await sessions.accounts.run(uuid, change))
        return await self.get(uuid)


def _account_and_credits(conn: Connection) -> tuple[Account, int, str]:
    return account_rows.get(conn), ledger.spent_micros(conn), ledger.balance(conn).balance


def _size_of(folder: Path) -> int:
    size = 0
    for path in folder.glob("*"):
        # A database that closes takes its log along.
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size
