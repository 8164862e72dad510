"""Who is signed in, and the five checks of a session token (specification, section 5.4)."""

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec

from carrel.accounts import accounts as account_rows
from carrel.accounts.accounts import Account, Accounts, Membership, UserUnknown
from carrel.accounts.service import ServiceDatabase
from carrel.auth import tokens
from carrel.auth.credentials import Credentials
from carrel.auth.issuer import Issuer
from carrel.auth.known_sessions import KnownSession, KnownSessions
from carrel.auth.programs import scopes
from carrel.auth.programs import tokens as program_tokens
from carrel.auth.programs.scopes import Scope
from carrel.auth.programs.service_secret import ServiceSecret
from carrel.auth.programs.tokens import ProgramClaims
from carrel.auth.programs.use import ProgramUse
from carrel.auth.tokens import TokenRevoked
from carrel.kit.clock import Clock
from carrel.kit.concurrency.cancellation import shielded_task
from carrel.kit.concurrency.keyed_lock import KeyedLock
from carrel.kit.sqlite.database import Connection, Damaged
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import KeyNotCached, WorkspacePool
from carrel.vault.workspace import Workspace

T = TypeVar("T")

CACHE_SECONDS = 300
"""How long a checked token stays valid without another check (specification, section 8)."""
CACHE_ENTRIES = 20_000


class User(msgspec.Struct, frozen=True):
    """The user who sent a request (specification, section 5.4)."""

    uuid: UserUuid
    membership: Membership


class Session(msgspec.Struct, frozen=True):
    """A checked token: its user, the epoch it was checked in, and its end on the wall and on the monotonic clock.

    `scopes` are those of a program, and `None` for the user, who may do everything.
    """

    user: User
    epoch: int
    expires_at: int
    believed_until: float
    known: KnownSession
    scopes: frozenset[str] | None = None

    def require(self, scope: Scope) -> None:
        """Refuse a program that has not been granted `scope`, where the body of a request needs more than its route.

        Raises:
            ScopeMissing: 403.
        """
        if self.scopes is not None:
            scopes.require(self.scopes, scope)


class Sessions:
    """Who is signed in. Owned by the event loop."""

    def __init__(
        self,
        pool: WorkspacePool,
        accounts: Accounts,
        service: ServiceDatabase,
        credentials: Credentials,
        clock: Clock,
    ) -> None:
        self.pool = pool
        self.accounts = accounts
        self.locks: KeyedLock[UserUuid] = KeyedLock()
        """Serialises sign-in, re-encryption, creation, deletion and membership of one user, because each reads the
        user's account and acts on it over many awaits. Requests do not take this lock."""
        self.issuer = Issuer(credentials, service, clock)
        self.known = KnownSessions(clock)
        self.signed_out: set[UserUuid] = set()
        """Users who are away while their key is here: until the next login it serves only their work, and programs."""
        self.programs = ProgramUse(clock)
        self.service_secret = ServiceSecret()
        self._service = service
        self._credentials = credentials
        credentials.on_removal(self._check_again)
        self._clock = clock
        self._cache: OrderedDict[bytes, Session] = OrderedDict()
        self.present: dict[UserUuid, Account] = {}
        """The account of every user who signed in. Only code that holds the user's lock changes an entry."""
        self.last_used: dict[UserUuid, float] = {}
        """When each user who signed in was here last, on the monotonic clock."""
        self.handed_over: set[UserUuid] = set()
        """Users whose keys came from another node, until this one has read their accounts (`settle`)."""
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Read the records of earlier processes."""
        await self.issuer.start()
        await self.service_secret.start(self._service)

    async def stop(self) -> None:
        """Wait for work that goes on although its client has left."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.issuer.stop()

    async def settle(self, uuid: UserUuid) -> None:
        """Let a user go on whose key came from another node: read the account, and announce the user."""
        if uuid in self.handed_over:
            async with self.locks.of(uuid):
                if uuid in self.handed_over:
                    self.present[uuid] = await self.accounts.read(uuid, account_rows.get)
                    self.handed_over.discard(uuid)
            await self.pool.announce(uuid)

    def used(self, uuid: UserUuid) -> None:
        """The user is here now."""
        self.last_used[uuid] = self._clock.monotonic()

    def end_absence(self, uuid: UserUuid) -> None:
        """The user has come back, so the key serves no longer programs and work under way alone."""
        self.signed_out.discard(uuid)
        self.programs.end(uuid)

    async def run_to_completion(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work`, which goes on to its end when the client that asked for it goes away."""
        task = shielded_task(work)
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
            self.last_used[uuid] = session.known.used_at = now
            workspace = self.pool.try_lease(uuid)
            if workspace is not None:
                return session, workspace
            workspace = await self.pool.lease(uuid)
            # A rekey may have ended this session while this code waited for the lease.
            if session.epoch == self.pool.keyring.epoch(uuid):
                return session, workspace
            self.pool.release(workspace)
        self._cache.pop(token, None)
        return await self._verify(token)

    async def _verify(self, token: bytes) -> tuple[Session, Workspace]:
        claims = self.claims_of(token)
        uuid = UserUuid(claims.uuid)
        if uuid not in self.pool.keyring:
            raise KeyNotCached
        await self.settle(uuid)
        workspace = await self.pool.lease(uuid)
        try:
            # There is no await from here on, so the values read below belong together.
            account = self.present.get(uuid)
            if account is None:
                raise KeyNotCached
            self._require_in_force(claims, account)
            program = claims if isinstance(claims, ProgramClaims) else None
            if program is None and uuid in self.signed_out:
                raise KeyNotCached
            if workspace.read(_read_uuid) != uuid:
                raise Damaged
        except BaseException:
            self.pool.release(workspace)
            raise
        now = self._clock.monotonic()
        session = Session(
            User(uuid, account.membership),
            self.pool.keyring.epoch(uuid),
            claims.expires_at,
            now + min(CACHE_SECONDS, claims.expires_at - self._clock.now()),
            self.programs.note(uuid, program) if program else self.known.note(uuid, claims.issued_at),
            program.scopes if program else None,
        )
        self._cache[token] = session
        if len(self._cache) > CACHE_ENTRIES:
            self._cache.popitem(last=False)
        self.last_used[uuid] = now
        return session, workspace

    def claims_of(self, token: bytes) -> tokens.Claims | ProgramClaims:
        """What the token says, if a plugin secret signed it, or this service for a program, and its time is not over.

        Raises:
            TokenInvalid, TokenExpired: 401.
        """
        keys = self.service_secret.token_keys
        claims = program_tokens.verify_either(token, self._credentials.plugin, keys, self._clock.now())
        self.accounts.require_served(claims.uuid)
        return claims

    async def require_in_force(self, claims: tokens.Claims | ProgramClaims) -> None:
        """Refuse an ended session. No key is needed: a user can sign out also while none is in memory.

        Raises:
            TokenInvalid, TokenRevoked: 401.
        """
        uuid = UserUuid(claims.uuid)
        account = self.present.get(uuid)
        if account is None:
            try:
                account = await self.accounts.read(uuid, account_rows.get)
            except UserUnknown:
                raise TokenRevoked from None
        self._require_in_force(claims, account)

    def _require_in_force(self, claims: tokens.Claims | ProgramClaims, account: Account) -> None:
        if isinstance(claims, ProgramClaims):
            is_ended = claims.issued_at < max(account.valid_from, self.issuer.ended(account.uuid))
            if is_ended or claims.program not in account.program_keys:
                raise TokenRevoked
            return
        # Only the account tells how far ahead of the clock sign-outs have moved the user's tokens.
        tokens.require_issued(claims, self.issuer.latest(account))
        issued_at = claims.issued_at
        if issued_at < max(account.valid_from, self.issuer.ended(account.uuid)) or issued_at in account.ended_sessions:
            raise TokenRevoked

    def _check_again(self) -> None:
        """Check every token anew, because some may be signed with a secret that is no longer accepted."""
        for uuid in self.present:
            self.pool.keyring.raise_epoch(uuid)

    # Membership and the end -----------------------------------------------------------------------------------------

    def account_changed(self, account: Account) -> None:
        """Apply a change of the account and end every cached check of this user. The caller holds the user's lock."""
        uuid = UserUuid(account.uuid)
        if uuid in self.present:
            self.present[uuid] = account
        self.programs.forget(uuid, account.program_keys)
        self.pool.keyring.raise_epoch(uuid)

    def holds_credits(self, uuid: UserUuid) -> bool:
        """Whether the account had credits on hold when it was last read; True for a user who never signed in."""
        account = self.present.get(uuid)
        return account is None or account.holds_credits

    def megabytes_of(self, uuid: UserUuid) -> int | None:
        """How large the workspace of a user who signed in may become, if that is not as everybody's."""
        account = self.present.get(uuid)
        return None if account is None else account.workspace_megabytes

    def calls_per_day_of(self, uuid: UserUuid) -> int | None:
        """How many calls of models a user who signed in may make on one day, if the operator limits them."""
        account = self.present.get(uuid)
        return None if account is None else account.calls_per_day

    def is_paid(self, uuid: UserUuid) -> bool:
        """Whether a user who signed in has paid membership now; False for every other user."""
        account = self.present.get(uuid)
        return account is not None and account.membership == "paid"

    def forget(self, uuid: UserUuid) -> None:
        """Forget a user who was deleted, or who has left this node. The caller holds the user's lock."""
        self.present.pop(uuid, None)
        self.last_used.pop(uuid, None)
        self.known.forget(uuid)
        self.end_absence(uuid)
        self.handed_over.discard(uuid)
        self.programs.forget(uuid)

    @property
    def sizes(self) -> dict[str, int]:
        """How many entries each table has that requests can make grow, here and in what sessions stand on."""
        return {
            "checked_tokens": len(self._cache),
            "accounts": len(self.present),
            "last_used": len(self.last_used),
            "locks": len(self.locks),
            "tasks": len(self._tasks),
            "issued": self.issuer.remembered,
            "known_sessions": len(self.known),
            "signed_out": len(self.signed_out),
            **self.programs.sizes,
            "keys": len(self.pool.keyring),
            "epochs": self.pool.keyring.epochs,
            "workspaces": self.pool.known,
        }


def _read_uuid(conn: Connection) -> str | None:
    uuid: str | None = conn.value("SELECT uuid FROM user_meta")
    return uuid
