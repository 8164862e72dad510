"""Sign-in and its end: login, refresh, rekey, and the five checks of a session token (specification, 4.1 and 5.4)."""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec

from carrel.accounts import accounts as account_rows
from carrel.accounts.accounts import Account, Accounts, Membership, UserExists, UserUnknown
from carrel.auth import tokens
from carrel.errors import CarrelError, Conflict, Unauthorized
from carrel.kit.clock import Clock
from carrel.kit.database import Connection, Damaged, KeyRejected
from carrel.vault.keyring import UserUuid, zero
from carrel.vault.pool import KeyNotCached, WorkspacePool
from carrel.vault.workspace import Workspace

T = TypeVar("T")

CACHE_SECONDS = 300
"""How long a checked token is believed (specification, section 8)."""
_CACHE_ENTRIES = 20_000
_DECOY = UserUuid("*")
"""Not a possible uuid: the account on which a login for an unknown user does the same work as for a known one."""


class TokenRevoked(Unauthorized):
    """Signed by us and not expired, but a rekey or a deletion ended it."""

    code = "session-token-revoked"
    detail = "The session was ended; log in again on the host site."


class NotProvisioned(Unauthorized):
    """Nobody was created under this uuid. Only the host's server sees this code."""

    code = "user-not-provisioned"
    detail = "There is no user with this uuid; create the user first."


class OldKeyRequired(Conflict):
    """A rekey needs the old key: none was sent and none is in memory."""

    code = "old-key-required"
    detail = "No key is in memory; send old_db_key_hex."


class WorkspaceAbsent(Conflict):
    """A rekey before the first login: there is no database yet."""

    code = "workspace-absent"
    detail = "The user has never logged in; there is no database to re-encrypt."


class User(msgspec.Struct, frozen=True):
    """Who a request comes from (specification, section 5.4)."""

    uuid: UserUuid
    membership: Membership


class Session(msgspec.Struct, frozen=True):
    """A checked token: its user, the epoch it was checked in, and its end on the wall and on the monotonic clock."""

    user: User
    epoch: int
    expires_at: int
    believed_until: float


class Sessions:
    """Who is signed in. Owned by the event loop; `secrets` are the plugin secrets, the first of which signs."""

    def __init__(
        self, pool: WorkspacePool, accounts: Accounts, plugin_secrets: tuple[bytes, ...], clock: Clock
    ) -> None:
        self.pool = pool
        self.accounts = accounts
        self._secrets = plugin_secrets
        self._clock = clock
        self._cache: OrderedDict[bytes, Session] = OrderedDict()
        self._accounts: dict[UserUuid, Account] = {}
        self._last_issued: dict[UserUuid, int] = {}
        self._last_used: dict[UserUuid, float] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Make the decoy account if this data folder has none yet."""
        try:
            await self.accounts.create(_DECOY, account_rows.insert, _DECOY, "free", 0)
        except UserExists:
            return
        await self.pool.admit(_DECOY, bytearray(secrets.token_bytes(32)), create=True)
        await self.pool.evict(_DECOY)

    # Sign-in --------------------------------------------------------------------------------------------------------

    async def login(self, uuid: UserUuid, key: bytearray) -> str:
        """Open the user's database with `key` (made at the first login) and keep the key; a new session token.

        `key` is zeroed. A client that disconnects does not stop it.

        Raises:
            NotProvisioned, KeyRejected: 401; after a rejected key no key is in memory.
            Missing, Damaged: the database file is not what it was.
        """
        return await self.see_through(self._login(uuid, key))

    async def _login(self, uuid: UserUuid, key: bytearray) -> str:
        try:
            try:
                account = await self.accounts.read(uuid, account_rows.get)
            except UserUnknown:
                await self._login_nobody(key)
                raise NotProvisioned from None
            await self.pool.admit(uuid, key, create=not account.has_workspace)
            if not account.has_workspace:
                await self.accounts.run(uuid, account_rows.set_has_workspace)
        finally:
            zero(key)
        self._accounts[uuid] = account
        token = self._issue(uuid)
        await self.pool.announce(uuid)
        return token

    async def _login_nobody(self, key: bytearray) -> None:
        try:
            await self.accounts.read(_DECOY, account_rows.get)
            await self.pool.admit(_DECOY, key, create=False)
        except (KeyRejected, Damaged, UserUnknown):
            return

    def refresh(self, uuid: UserUuid) -> str:
        """A new token without opening the database.

        Raises:
            KeyNotCached: the user has to log in again.
        """
        if uuid not in self.pool.keyring or uuid not in self._accounts:
            raise KeyNotCached
        return self._issue(uuid)

    async def rekey(self, uuid: UserUuid, new_key: bytearray, old_key: bytearray | None) -> str:
        """Re-encrypt the database, end every session, and keep the new key; a new session token.

        Both keys are zeroed. A client that disconnects does not stop it.

        Raises:
            NotProvisioned, KeyRejected: 401, nothing has changed.
            OldKeyRequired, WorkspaceAbsent: 409.
        """
        return await self.see_through(self._rekey(uuid, new_key, old_key))

    async def _rekey(self, uuid: UserUuid, new_key: bytearray, old_key: bytearray | None) -> str:
        presented = old_key or self.pool.keyring.copy(uuid)
        try:
            try:
                account = await self.accounts.read(uuid, account_rows.get)
            except UserUnknown:
                raise NotProvisioned from None
            if not account.has_workspace:
                raise WorkspaceAbsent
            if presented is None:
                raise OldKeyRequired
            self._accounts[uuid] = account
            await self.pool.rekey(uuid, presented, new_key, lambda: self._end_sessions_here(uuid))
        finally:
            zero(new_key)
            if presented is not None:
                zero(presented)
        return self._issue(uuid)

    def _end_sessions_here(self, uuid: UserUuid) -> None:
        # Runs in a thread while the workspace is locked: whoever waits for it must find the new rule in force.
        valid_from = self.next_valid_from(uuid)
        self._accounts[uuid] = self.accounts.run_here(
            uuid, lambda conn: account_rows.raise_valid_from(conn, valid_from)
        )

    def next_valid_from(self, uuid: UserUuid, previous: int = 0) -> int:
        """The epoch second that revokes every session issued so far, also when the clock has gone back."""
        held = self._accounts.get(uuid)
        known = max(previous, held.valid_from if held else 0, self._last_issued.get(uuid, 0))
        return max(int(self._clock.now()), known) + 1

    def _issue(self, uuid: UserUuid) -> str:
        issued_at = max(int(self._clock.now()), self._accounts[uuid].valid_from)
        self._last_issued[uuid] = max(issued_at, self._last_issued.get(uuid, 0))
        self._last_used[uuid] = self._clock.monotonic()
        return tokens.issue(uuid, issued_at, self._secrets[0])

    async def see_through(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work`, which goes on to its end when the client that asked for it goes away."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    # Requests -------------------------------------------------------------------------------------------------------

    async def authenticate(self, token: bytes) -> tuple[Session, Workspace]:
        """The five checks of section 5.4, in their order; the workspace is leased to the caller.

        Raises:
            TokenInvalid, TokenExpired, TokenRevoked, KeyNotCached: 401.
            Busy: 503.
        """
        session = self._cache.get(token)
        if session is None:
            return await self._verify(token)
        uuid = session.user.uuid
        now = self._clock.monotonic()
        if session.believed_until > now and session.epoch == self.pool.keyring.epoch(uuid):
            self._last_used[uuid] = now
            workspace = self.pool.try_lease(uuid)
            if workspace is not None:
                return session, workspace
            workspace = await self.pool.lease(uuid)
            # A rekey may have ended this session while the lease was waited for.
            if session.epoch == self.pool.keyring.epoch(uuid):
                return session, workspace
            self.pool.give_back(workspace)
        self._cache.pop(token, None)
        return await self._verify(token)

    async def _verify(self, token: bytes) -> tuple[Session, Workspace]:
        claims = tokens.verify(token, self._secrets, self._clock.now())
        uuid = UserUuid(claims.uuid)
        if uuid not in self.pool.keyring:
            raise KeyNotCached
        workspace = await self.pool.lease(uuid)
        try:
            # Nothing is awaited from here on, so what is read below belongs together.
            account = self._accounts.get(uuid)
            if account is None:
                raise KeyNotCached
            if claims.issued_at < account.valid_from:
                raise TokenRevoked
            if workspace.read(_read_uuid) != uuid:
                raise Damaged
        except CarrelError:
            self.pool.give_back(workspace)
            raise
        now = self._clock.monotonic()
        lifetime = min(CACHE_SECONDS, claims.expires_at - self._clock.now())
        session = Session(
            User(uuid, account.membership), self.pool.keyring.epoch(uuid), claims.expires_at, now + lifetime
        )
        self._cache[token] = session
        if len(self._cache) > _CACHE_ENTRIES:
            self._cache.popitem(last=False)
        self._last_used[uuid] = now
        return session, workspace

    # Membership and the end -----------------------------------------------------------------------------------------

    def account_changed(self, account: Account) -> None:
        """Take over a change of membership and end every cached check of this user."""
        uuid = UserUuid(account.uuid)
        if uuid in self._accounts:
            self._accounts[uuid] = account
        self.pool.keyring.raise_epoch(uuid)

    def forget(self, uuid: UserUuid) -> None:
        """The user was deleted. `last issued` stays, for whoever is created under the same uuid."""
        self._accounts.pop(uuid, None)
        self._last_used.pop(uuid, None)

    async def evict_idle(self, idle_seconds: float) -> None:
        """Evict the keys of users without requests and refreshes for `idle_seconds` and without active runs."""
        now = self._clock.monotonic()
        for uuid, used in list(self._last_used.items()):
            if now - used >= idle_seconds and not self.pool.is_leased(uuid):
                del self._last_used[uuid]
                await self.pool.evict(uuid)


def _read_uuid(conn: Connection) -> str | None:
    row = conn.one("SELECT uuid FROM user_meta")
    return row[0] if row else None
