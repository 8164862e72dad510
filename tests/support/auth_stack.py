"""Accounts, keys, sessions and users over real encrypted files, without the wire, restarted at will."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from carrel.accounts.accounts import Accounts, Membership
from carrel.accounts.service import ServiceDatabase
from carrel.auth.credentials import Credentials
from carrel.auth.programs.keys import ProgramKeyStore
from carrel.auth.programs.schemas import NewProgramKey, ProgramKeyIn
from carrel.auth.programs.scopes import Scope
from carrel.auth.programs.sign_in import ProgramSignIn
from carrel.auth.sessions import Session, Sessions, User
from carrel.auth.sign_in import SignIn
from carrel.auth.sign_out import SignOut
from carrel.kit.ids import uuid7_factory
from carrel.users import lifecycle
from carrel.users.lifecycle import Users
from carrel.vault.files import Format
from carrel.vault.keyring import Keyring, UserUuid
from carrel.vault.pool import WorkspacePool
from tests.support.clock import FakeClock

SERVICE_KEY = bytes(range(32))
SECRETS = (b"plugin-secret-for-tests-0123456789abcdef",)


def key_of(uuid: str, password: str = "first") -> bytearray:
    """A fresh copy each time, since keys are wiped after use."""
    return bytearray(hashlib.sha256(f"{uuid}:{password}".encode()).digest())


class AuthStack:
    """One process's life: what `carrel.app.services` wires, without the features behind it."""

    def __init__(
        self,
        data: Path,
        clock: FakeClock,
        migrations: str = "carrel.vault.migrations",
        service_key: bytes = SERVICE_KEY,
    ) -> None:
        new_id = uuid7_factory(clock)
        self.clock = clock
        self.deactivated: list[UserUuid] = []
        self.accounts = Accounts(data, service_key, clock=clock, new_id=new_id)
        self.service = ServiceDatabase(data, service_key, clock=clock, new_id=new_id)
        form = Format(clock, new_id, migrations=migrations)
        self.pool = WorkspacePool(Keyring(), self.accounts.workspace_path, form=form)
        self.sessions = Sessions(self.pool, self.accounts, self.service, Credentials(SECRETS), clock)
        self.sign_in = SignIn(self.sessions, self.service)
        self.sign_out = SignOut(self.sessions, clock)
        self.program_keys = ProgramKeyStore(self.sessions, clock, allowed=True)
        self.program_sign_in = ProgramSignIn(self.sessions, self.sign_out, self.program_keys, clock)
        self.users = Users(self.sessions, self.service, self._deactivated)

    async def _deactivated(self, uuid: UserUuid) -> None:
        self.deactivated.append(uuid)

    async def start(self) -> None:
        self.service.open()
        await self.users.start()
        await self.sessions.start()
        await self.sign_in.start()

    async def stop(self) -> None:
        await self.sign_out.stop()
        await self.sessions.stop()
        await self.pool.close()
        self.accounts.close()
        self.service.close()

    async def create(self, uuid: str, membership: Membership = "paid") -> None:
        await self.users.write_new(UserUuid(uuid), lifecycle.insert, UserUuid(uuid), membership)

    async def login(self, uuid: str, password: str = "first") -> bytes:
        return (await self.sign_in.login(UserUuid(uuid), key_of(uuid, password))).encode()

    async def refresh(self, uuid: str) -> bytes:
        return (await self.sign_in.refresh(UserUuid(uuid))).encode()

    async def rekey(self, uuid: str, new: str, old: str | None = None) -> bytes:
        old_key = None if old is None else key_of(uuid, old)
        return (await self.sign_in.rekey(UserUuid(uuid), key_of(uuid, new), old_key)).encode()

    async def delete(self, uuid: str) -> None:
        await self.users.delete(UserUuid(uuid))

    async def session_of(self, token: bytes) -> Session:
        """The checked session, as a route gets it."""
        session, workspace = await self.sessions.authenticate(token)
        self.pool.release(workspace)
        return session

    async def make_key(self, session: Session, *scopes: Scope) -> NewProgramKey:
        return await self.program_keys.create(session, ProgramKeyIn(name="nightly", scopes=list(scopes or ("read",))))

    async def exchange(self, program_key: str) -> bytes:
        return (await self.program_sign_in.exchange(self.program_sign_in.parse(program_key))).session_token.encode()

    async def ask(self, token: bytes) -> User:
        """One request: the five checks, a read of the user's own database, and the lease given back."""
        session, workspace = await self.sessions.authenticate(token)
        try:
            owner = workspace.read(lambda conn: conn.one("SELECT uuid FROM user_meta"))
            assert owner == (session.user.uuid,)
            return session.user
        finally:
            self.pool.release(workspace)


@asynccontextmanager
async def auth_stack(
    data: Path,
    clock: FakeClock,
    migrations: str = "carrel.vault.migrations",
    service_key: bytes = SERVICE_KEY,
) -> AsyncIterator[AuthStack]:
    """The front stack from start to stop."""
    data.mkdir(exist_ok=True)
    stack = AuthStack(data, clock, migrations, service_key)
    await stack.start()
    try:
        yield stack
    finally:
        await stack.stop()
