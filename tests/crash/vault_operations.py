"""What `test_vault_kills.py` kills: first login, rekey and deletion, as the service itself does them."""

import asyncio
import hashlib
import os
import shutil
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

from carrel.accounts import accounts as account_rows
from carrel.accounts.accounts import Accounts
from carrel.accounts.service import ServiceDatabase
from carrel.auth.credentials import Credentials
from carrel.auth.sessions import Sessions
from carrel.auth.sign_in import SignIn
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.users.lifecycle import Users
from carrel.vault import files
from carrel.vault.files import Format
from carrel.vault.keyring import Keyring, UserUuid
from carrel.vault.pool import WorkspacePool
from tests.support.disk import Disk, failing
from tests.support.kills import Mark, marking

ALICE = UserUuid("alice")
SERVICE_KEY = bytes(range(32))
STEPS = (
    (Accounts, "run_here", "account"),
    (database, "create", "new file"),
    (files, "_copy", "copy"),
    (database, "sync_file", "sync"),
    (Path, "rename", "rename"),
    (shutil, "rmtree", "remove"),
)


def key_of(name: str) -> bytearray:
    return bytearray(hashlib.sha256(name.encode()).digest())


class Stack:
    """The part of the service that knows users, without its web side."""

    def __init__(self, data: Path, service_key: bytes = SERVICE_KEY) -> None:
        clock = SystemClock()
        new_id = uuid7_factory(clock)
        self.form = Format(clock, new_id)
        self.accounts = Accounts(data, service_key, clock=clock, new_id=new_id)
        self.service = ServiceDatabase(data, service_key, clock=clock, new_id=new_id)
        self.pool = WorkspacePool(Keyring(), self.accounts.workspace_path, form=self.form)
        self.sessions = Sessions(self.pool, self.accounts, self.service, Credentials((b"s" * 32,)), clock)
        self.sign_in = SignIn(self.sessions, self.service)
        self.users = Users(self.sessions, self.service, _nobody_works)

    async def __aenter__(self) -> "Stack":
        self.service.open()
        await self.users.start()
        await self.sessions.start()
        await self.sign_in.start()
        return self

    async def make_user(self) -> None:
        await self.users.write_new(ALICE, lambda conn: account_rows.insert(conn, ALICE, "free"))

    async def __aexit__(self, *_: object) -> None:
        await self.sessions.stop()
        await self.pool.close()
        self.accounts.close()
        self.service.close()


async def _nobody_works(_: UserUuid) -> None:
    return None


def first_login(mark: Mark, data: str) -> None:
    _run(mark, data, lambda stack: stack.sign_in.login(ALICE, key_of("old")))


def rekey(mark: Mark, data: str) -> None:
    _run(mark, data, lambda stack: stack.sign_in.rekey(ALICE, key_of("new"), key_of("old")))


def delete(mark: Mark, data: str) -> None:
    _run(mark, data, lambda stack: stack.users.delete(ALICE))


def _run(mark: Mark, data: str, operation: Callable[[Stack], Awaitable[object]]) -> None:
    async def work() -> None:
        async with Stack(Path(data)) as stack:
            with marking(mark, *STEPS):
                mark("begin")
                await operation(stack)
            mark("end")

    asyncio.run(work())


# Killed by itself, before each single change of the disk ------------------------------------------------------------


class DeadlyDisk(Disk):
    """A disk whose process is killed in the middle of the `fail_at`-th change."""

    def fails(self) -> bool:
        if super().fails():
            os.kill(os.getpid(), signal.SIGKILL)
        return False


def at_change(mark: Mark, operation: str, data: str, number: int | None) -> None:
    """Run `operation` and die right before its `number`-th change of the disk; marks the changes when it is `None`."""
    disk = DeadlyDisk("broken", number)

    async def work() -> None:
        async with Stack(Path(data)) as stack:
            operations: dict[str, Callable[[], Awaitable[object]]] = {
                "first_login": lambda: stack.sign_in.login(ALICE, key_of("old")),
                "rekey": lambda: stack.sign_in.rekey(ALICE, key_of("new"), key_of("old")),
                "delete": lambda: stack.users.delete(ALICE),
            }
            mark("begin")
            with failing(disk, "unlink", "rmdir", "mkdir"):
                await operations[operation]()
                mark(str(disk.changes))

    asyncio.run(work())
