"""Sign-in by the host's server: login, refresh and rekey (specification, section 4.1)."""

import secrets
from contextlib import suppress

from carrel.accounts import accounts as account_rows
from carrel.accounts import program_keys, roster
from carrel.accounts.accounts import Account, Accounts, UserExists, UserSuspended, UserUnknown
from carrel.accounts.service import ServiceDatabase
from carrel.accounts.slots import NOBODY
from carrel.auth.programs import secret
from carrel.auth.sessions import Sessions
from carrel.errors import CarrelError, Conflict, Unauthorized
from carrel.kit.sqlite.database import Connection
from carrel.vault.keyring import UserUuid, zero
from carrel.vault.pool import KeyNotCached, WorkspaceBusy, WorkspacePool

TIMEOUT_SECONDS = 5.0
"""How long a refresh waits for a rekey before it asks the host to try again."""
_NOBODY = UserUuid(NOBODY)


class NotProvisioned(Unauthorized):
    """There is no user with this uuid. Only the host's server sees this code."""

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


class SignIn:
    """Begins sessions. Owned by the event loop."""

    def __init__(self, sessions: Sessions, service: ServiceDatabase) -> None:
        self._sessions = sessions
        self._pool = sessions.pool
        self._accounts = sessions.accounts
        self._service = service
        self._decoy = _Decoy(sessions.pool, sessions.accounts)

    async def start(self) -> None:
        """Make what a login for an unknown user needs."""
        await self._decoy.start()

    async def login(self, uuid: UserUuid, key: bytearray) -> str:
        """Open the user's database with `key` (made at the first login) and keep the key; a new session token.

        `key` is zeroed. A client that disconnects does not stop it.

        Raises:
            NotProvisioned, KeyRejected: 401; after a rejected key no key is in memory.
            UserSuspended: 403.
            Missing, Damaged: the database file is not what it was.
        """
        return await self._sessions.run_to_completion(self._login(uuid, key))

    async def _login(self, uuid: UserUuid, key: bytearray) -> str:
        try:
            async with self._sessions.locks.of(uuid):
                token = await self._open(uuid, key)
        except UserUnknown:
            await self._decoy.try_key(key)
            raise NotProvisioned from None
        finally:
            zero(key)
        await self._pool.announce(uuid)
        return token

    async def _open(self, uuid: UserUuid, key: bytearray) -> str:
        account = await self._accounts.recall(uuid, account_rows.get)
        if account.suspended_at is not None:
            raise UserSuspended
        await self._pool.admit(uuid, key, create=not account.has_workspace)
        if not account.has_workspace:
            await self._record_workspace(uuid)
        self._sessions.end_absence(uuid)
        if uuid not in self._sessions.present:
            await self._enroll(uuid)
        self._sessions.present[uuid] = account
        self._sessions.handed_over.discard(uuid)
        return await self._issue(uuid)

    async def _enroll(self, uuid: UserUuid) -> None:
        # A version without the roster may have created the user. The sign-in must not fail because of a full disk.
        with suppress(CarrelError):
            await self._service.run(roster.add, self._accounts.owner(uuid), uuid)

    async def _record_workspace(self, uuid: UserUuid) -> None:
        try:
            await self._accounts.run(uuid, account_rows.set_has_workspace)
        except CarrelError:
            # If the answer says that the login failed, the user must not be signed in.
            await self._pool.evict(uuid)
            raise

    async def refresh(self, uuid: UserUuid) -> str:
        """A new token without opening the database.

        Raises:
            KeyNotCached: the user has to log in again, also if a run of a user who signed out still needs the key.
            WorkspaceBusy: a rekey takes longer than five seconds.
        """
        self._accounts.require_served(uuid)
        await self._sessions.settle(uuid)
        async with self._sessions.locks.of(uuid, TIMEOUT_SECONDS, WorkspaceBusy):
            is_away = uuid in self._sessions.signed_out
            if is_away or uuid not in self._pool.keyring or uuid not in self._sessions.present:
                raise KeyNotCached
            return await self._issue(uuid)

    async def rekey(self, uuid: UserUuid, new_key: bytearray, old_key: bytearray | None) -> str:
        """Re-encrypt the database, end every session, and keep the new key; a new session token.

        Both keys are zeroed. Without an `old_key` the one in memory is taken. A client that disconnects does not stop
        it.

        Raises:
            NotProvisioned, KeyRejected: 401, nothing has changed.
            UserSuspended: 403.
            OldKeyRequired, WorkspaceAbsent: 409.
        """
        return await self._sessions.run_to_completion(self._rekey(uuid, new_key, old_key))

    async def _rekey(self, uuid: UserUuid, new_key: bytearray, old_key: bytearray | None) -> str:
        try:
            async with self._sessions.locks.of(uuid):
                if old_key is None and uuid not in self._sessions.signed_out:
                    old_key = self._pool.keyring.copy(uuid)
                return await self._reencrypt(uuid, new_key, old_key)
        except UserUnknown:
            raise NotProvisioned from None
        finally:
            zero(new_key)
            if old_key is not None:
                zero(old_key)

    async def _reencrypt(self, uuid: UserUuid, new_key: bytearray, old_key: bytearray | None) -> str:
        account = await self._accounts.read(uuid, account_rows.get)
        if account.suspended_at is not None:
            raise UserSuspended
        if not account.has_workspace:
            raise WorkspaceAbsent
        if old_key is None:
            raise OldKeyRequired
        valid_from = self._sessions.issuer.next_valid_from(uuid, account.valid_from)
        proven = old_key

        def end_sessions() -> None:
            # This runs in a thread while nobody can open the workspace, so every waiting request finds the new rule in
            # force.
            self._sessions.present[uuid] = self._accounts.run_here(
                uuid, lambda conn: _end_with_password(conn, uuid, valid_from, proven, new_key)
            )

        await self._pool.rekey(uuid, old_key, new_key, end_sessions)
        self._sessions.known.forget(uuid)
        self._sessions.end_absence(uuid)
        return await self._issue(uuid)

    async def _issue(self, uuid: UserUuid) -> str:
        self._sessions.used(uuid)
        token, issued_at = await self._sessions.issuer.issue(self._sessions.present[uuid])
        self._sessions.known.note(uuid, issued_at)
        return token


class _Decoy:
    """The decoy account: a login for an unknown uuid does the same work on it as a wrong key does for a known uuid.

    The key of its workspace was thrown away right after creation.
    """

    def __init__(self, pool: WorkspacePool, accounts: Accounts) -> None:
        self._pool = pool
        self._accounts = accounts

    async def start(self) -> None:
        """Make the parts of the decoy account that are missing."""
        self._accounts.remove_former_decoy()
        try:
            await self._accounts.create(_NOBODY, account_rows.insert, _NOBODY, "free")
        except UserExists:
            if self._accounts.workspace_path(_NOBODY).exists():
                return
        await self._pool.admit(_NOBODY, bytearray(secrets.token_bytes(32)), create=True)
        await self._pool.evict(_NOBODY)

    async def try_key(self, key: bytearray) -> None:
        """Try `key` in the same way as for a user who exists; it never fits."""
        try:
            await self._accounts.read(_NOBODY, account_rows.get)
            await self._pool.admit(_NOBODY, key, create=False)
        except CarrelError:
            return


def _end_with_password(conn: Connection, uuid: str, valid_from: int, old_key: bytearray, new_key: bytearray) -> Account:
    """End every session and every program key. The keys stay in the user's list, with their names."""
    for row in program_keys.every(conn):
        name = secret.open_name(old_key, row.name, uuid, row.id)
        program_keys.rename(conn, row.id, secret.seal_name(new_key, name, uuid, row.id))
    program_keys.end_all(conn, "password")
    return account_rows.raise_valid_from(conn, valid_from)
