"""`POST /auth/program`: a program key for a session token. If need be, the key that it wraps opens the workspace."""

import hmac
import math
from contextlib import suppress
from typing import Final

from carrel.accounts import accounts as account_rows
from carrel.accounts import program_keys
from carrel.accounts.accounts import Account, UserSuspended, UserUnknown
from carrel.accounts.program_keys import ProgramKeyId, ProgramKeyRow
from carrel.auth.programs import secret, tokens
from carrel.auth.programs.keys import ProgramKeyStore, bound
from carrel.auth.programs.schemas import ProgramSessionOut
from carrel.auth.programs.scopes import in_order
from carrel.auth.programs.secret import IssuedKey, ProgramKeyInvalid
from carrel.auth.programs.tokens import ProgramClaims
from carrel.auth.sessions import Sessions
from carrel.auth.sign_out import SignOut
from carrel.auth.tokens import LIFETIME_SECONDS
from carrel.errors import CarrelError, Unauthorized
from carrel.kit.clock import Clock
from carrel.kit.concurrency.attempts import Attempts
from carrel.kit.sqlite.database import Connection, Damaged, KeyRejected
from carrel.vault.keyring import UserUuid, zero

SIGN_INS_PER_MINUTE: Final = 60
"""Of one key. A token lasts an hour, so this is for many jobs at once. A key that the service never issued costs no
more than its stamp, so that nobody can use up the attempts of somebody else."""


class ProgramKeyExpired(Unauthorized):
    """The key's days are over."""

    code = "program-key-expired"
    detail = "The program key has expired; make a new one."


class ProgramKeyRevoked(Unauthorized):
    """The key was revoked, or ended with a new password, the membership, the user, or the restoring of a backup."""

    code = "program-key-revoked"
    detail = "The program key was revoked, or ended with a change of the password or the account; make a new one."


class TooManyProgramSignIns(CarrelError):
    """The key was exchanged as often as allowed."""

    status = 429
    code = "too-many-program-sign-ins"
    detail = "The program key signs in too often; keep its token, and see Retry-After."


class ProgramSignIn:
    """The exchange of a key for a token."""

    def __init__(self, sessions: Sessions, sign_out: SignOut, keys: ProgramKeyStore, clock: Clock) -> None:
        self._sessions = sessions
        self._sign_out = sign_out
        self._keys = keys
        self._clock = clock
        self._attempts = Attempts(SIGN_INS_PER_MINUTE, clock)

    def parse(self, text: str) -> IssuedKey:
        """The parts of a key that this service issued. The caller wipes `text`.

        Raises:
            ProgramKeysDisabled: 403.
            ProgramKeyInvalid: 401. No file was looked at, so the time tells nothing about any user.
        """
        self._keys.require_allowed()
        return secret.parse(text, lambda uuid: self._sessions.service_secret.of(uuid).stamp_key)

    async def exchange(self, presented: IssuedKey) -> ProgramSessionOut:
        """A session token for the program. The secret is wiped. A client that disconnects does not stop it.

        Raises:
            ProgramKeyExpired, ProgramKeyRevoked: 401.
            UserSuspended: 403.
            TooManyProgramSignIns: 429.
            Missing, Damaged, Busy: the database file is not what it was, or cannot be opened now.
        """
        wait_seconds = self._attempts.take(presented.id)
        if wait_seconds:
            presented.secret.wipe()
            raise TooManyProgramSignIns(retry_after_seconds=math.ceil(wait_seconds))
        return await self._sessions.run_to_completion(self._exchange(presented))

    async def _exchange(self, presented: IssuedKey) -> ProgramSessionOut:
        sessions, uuid = self._sessions, presented.uuid
        try:
            async with sessions.locks.of(uuid):
                was_here = uuid in sessions.pool.keyring
                session = await self._sign_in(presented)
        except (UserUnknown, KeyRejected):
            raise ProgramKeyRevoked from None
        finally:
            presented.secret.wipe()
        if not was_here:
            await sessions.pool.announce(uuid)
        return session

    async def _sign_in(self, presented: IssuedKey) -> ProgramSessionOut:
        sessions, uuid = self._sessions, presented.uuid
        account, row = await sessions.accounts.read(uuid, _account_and_key, presented.id)
        row, wrapped = self._require_good(presented, row)
        if account.suspended_at is not None:
            raise UserSuspended
        key = secret.unwrap(presented.secret, wrapped, bound(uuid, row))
        if key is None:
            # The stamp and the hash fit, so somebody has altered the row.
            raise Damaged
        issued_at = await sessions.issuer.issue_second(account)
        expires_at = min(issued_at + LIFETIME_SECONDS, row.expires_at)
        try:
            # The second of issue may be ahead of the clock.
            await self._admit(account, key, math.ceil(expires_at - self._clock.now()))
        finally:
            zero(key)
        self._sign_out.evict_when_free(uuid)
        with suppress(CarrelError):
            # A full disk must not keep a program out that only reads.
            await sessions.accounts.run(uuid, program_keys.note_use, row.id)
        claims = ProgramClaims(uuid, expires_at, issued_at, row.id, frozenset(row.scopes.split(",")))
        scopes = in_order(claims.scopes)
        token = tokens.issue(claims, scopes, sessions.service_secret.of(uuid).token_key)
        sessions.programs.note(uuid, claims)
        return ProgramSessionOut(token, max(0, expires_at - issued_at), uuid, row.id, scopes)

    async def _admit(self, account: Account, key: bytearray, seconds: int) -> None:
        """Keep the key, for programs alone unless the user is signed in. `seconds` is the life of the session.

        Raises:
            KeyRejected: it is not the present key, which, unlike after a login, stays in memory.
        """
        sessions, uuid = self._sessions, UserUuid(account.uuid)
        if uuid not in sessions.pool.keyring:
            await sessions.pool.admit(uuid, key, create=False)
            sessions.signed_out.add(uuid)
        elif not sessions.pool.keyring.matches(uuid, key):
            raise KeyRejected
        sessions.programs.begin(uuid, seconds, account.program_keys)
        sessions.used(uuid)
        sessions.present[uuid] = account

    def _require_good(self, presented: IssuedKey, row: ProgramKeyRow | None) -> tuple[ProgramKeyRow, bytes]:
        if row is None:
            raise ProgramKeyRevoked
        if not hmac.compare_digest(secret.digest(presented), row.hash):
            raise ProgramKeyInvalid
        state = self._keys.state_of(presented.uuid, row)
        if state == "active" and row.wrapped is not None:
            return row, row.wrapped
        # A clock that was set back does not bring an expired key back.
        raise ProgramKeyExpired if state in ("active", "expired") else ProgramKeyRevoked


def _account_and_key(conn: Connection, key_id: ProgramKeyId) -> tuple[Account, ProgramKeyRow | None]:
    return account_rows.get(conn), program_keys.find(conn, key_id)
