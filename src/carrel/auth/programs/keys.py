"""A user's program keys: made, listed and revoked by the user. Durable before anybody is told."""

from typing import Final

from msgspec import structs

from carrel.accounts import accounts as account_rows
from carrel.accounts import program_keys
from carrel.accounts.accounts import Account
from carrel.accounts.program_keys import ProgramKeyId, ProgramKeyRow
from carrel.auth.programs import secret
from carrel.auth.programs.schemas import KeyState, NewProgramKey, ProgramKey, ProgramKeyIn
from carrel.auth.programs.schemas import ProgramKeys as Listed
from carrel.auth.programs.scopes import in_order
from carrel.auth.programs.secret import IssuedKey, KeyBinding, ProgramSecret
from carrel.auth.sessions import Session, Sessions
from carrel.auth.tokens import TokenRevoked
from carrel.errors import Forbidden
from carrel.kit.clock import Clock, rfc3339
from carrel.kit.sqlite.database import Connection
from carrel.vault.keyring import UserUuid, zero
from carrel.vault.pool import KeyNotCached

_DAY_SECONDS: Final = 86_400
_USED_SECONDS: Final = 60
"""The time of the last use is told to the minute."""
_ENDED: Final[dict[str, KeyState]] = {
    "user": "revoked",
    "password": "password-changed",
    "membership": "deactivated",
}


class ProgramKeysDisabled(Forbidden):
    """The operator forbids program keys."""

    code = "program-keys-disabled"
    detail = "This service allows no program keys."


def bound(uuid: UserUuid, row: ProgramKeyRow) -> KeyBinding:
    """What the key of this row is bound to."""
    return KeyBinding(uuid, row.id, row.epoch, row.scopes, row.expires_at)


class ProgramKeyStore:
    """`allowed` is the operator's setting."""

    def __init__(self, sessions: Sessions, clock: Clock, *, allowed: bool) -> None:
        self._sessions = sessions
        self._clock = clock
        self.allowed = allowed

    def require_allowed(self) -> None:
        """Refuse if the operator forbids program keys.

        Raises:
            ProgramKeysDisabled: 403.
        """
        if not self.allowed:
            raise ProgramKeysDisabled

    async def create(self, session: Session, data: ProgramKeyIn) -> NewProgramKey:
        """Make a key for the user of this session, who is shown it once. The answer has to be wiped after it was sent.

        Raises:
            ProgramKeysDisabled, TooManyProgramKeys: nothing was made.
            TokenRevoked: the session has ended meanwhile, perhaps by a rekey, so nothing was made.
        """
        self.require_allowed()
        return await self._sessions.run_to_completion(self._create(session, data))

    async def _create(self, session: Session, data: ProgramKeyIn) -> NewProgramKey:
        sessions, uuid = self._sessions, session.user.uuid
        async with sessions.locks.of(uuid):
            # A rekey, a sign-out or a deactivation may have come before this. Nothing that it ended may make a key.
            if session.epoch != sessions.pool.keyring.epoch(uuid):
                raise TokenRevoked
            key = sessions.pool.keyring.copy(uuid)
            if key is None:
                raise KeyNotCached
            fresh = ProgramSecret.fresh()
            try:
                row = await sessions.accounts.run(uuid, self._insert, uuid, data, key, fresh)
                text = secret.compose(uuid, row.id, fresh, sessions.service_secret.of(uuid).stamp_key)
            finally:
                zero(key)
                fresh.wipe()
        shown = self._shown(uuid, row, data.name)
        return NewProgramKey(**structs.asdict(shown), program_key=text)

    def _insert(
        self, conn: Connection, uuid: UserUuid, data: ProgramKeyIn, key: bytearray, fresh: ProgramSecret
    ) -> ProgramKeyRow:
        now = int(conn.clock.now())
        key_id = ProgramKeyId(conn.new_id())
        scopes = ",".join(in_order(frozenset(data.scopes)))
        made = KeyBinding(uuid, key_id, program_keys.epoch(conn), scopes, now + data.days * _DAY_SECONDS)
        row = ProgramKeyRow(
            id=key_id,
            name=secret.seal_name(key, data.name, uuid, key_id),
            scopes=scopes,
            created_at=now,
            expires_at=made.expires_at,
            series=self._sessions.service_secret.of(uuid).series,
            epoch=made.epoch,
            hash=secret.digest(IssuedKey(uuid, key_id, fresh)),
            wrapped=secret.wrap(fresh, key, made),
        )
        program_keys.insert(conn, row)
        return row

    async def list(self, uuid: UserUuid) -> Listed:
        """The user's keys."""
        rows = await self._sessions.accounts.read(uuid, program_keys.every)
        key = self._sessions.pool.keyring.copy(uuid)
        if key is None:
            raise KeyNotCached
        try:
            items = [self._shown(uuid, row, secret.open_name(key, row.name, uuid, row.id)) for row in rows]
        finally:
            zero(key)
        return Listed(items, self.allowed, program_keys.MAX_KEYS)

    def _shown(self, uuid: UserUuid, row: ProgramKeyRow, name: str) -> ProgramKey:
        return ProgramKey(
            id=row.id,
            name=name,
            scopes=in_order(frozenset(row.scopes.split(","))),
            state=self.state_of(uuid, row),
            created_at=rfc3339(row.created_at),
            expires_at=rfc3339(row.expires_at),
            last_used_at=self._used_at(uuid, row),
            ended_at=None if row.ended_at is None else rfc3339(row.ended_at),
        )

    def state_of(self, uuid: UserUuid, row: ProgramKeyRow) -> KeyState:
        """Whether the key is good, or why not."""
        if row.ended_by is not None:
            return _ENDED[row.ended_by]
        if row.series != self._sessions.service_secret.of(uuid).series:
            return "restored"
        return "active" if row.expires_at > self._clock.now() else "expired"

    def _used_at(self, uuid: UserUuid, row: ProgramKeyRow) -> str | None:
        used_at = self._sessions.programs.last(uuid, row.id) or row.last_used_at
        return None if used_at is None else rfc3339(used_at // _USED_SECONDS * _USED_SECONDS)

    async def revoke(self, session: Session, key_id: ProgramKeyId) -> None:
        """End one key and the sessions of its program, durably.

        Raises:
            ProgramKeyNotFound: the user has no such key, or it has ended.
        """
        await self._sessions.run_to_completion(self._revoke(session.user.uuid, key_id))

    async def _revoke(self, uuid: UserUuid, key_id: ProgramKeyId) -> None:
        sessions = self._sessions
        async with sessions.locks.of(uuid):
            sessions.account_changed(await sessions.accounts.run(uuid, _end, key_id))


def _end(conn: Connection, key_id: ProgramKeyId) -> Account:
    program_keys.end(conn, key_id)
    return account_rows.get(conn)
