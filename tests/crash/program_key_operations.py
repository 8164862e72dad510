"""What `test_program_key_kills.py` kills: the making and the revocation of a program key, as the service does them."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

from carrel.accounts.program_keys import ProgramKeyId
from carrel.auth.programs.keys import ProgramKeyStore
from carrel.auth.programs.schemas import ProgramKeyIn
from carrel.auth.sessions import Session
from carrel.kit.clock import SystemClock
from tests.crash.vault_operations import ALICE, DeadlyDisk, Stack, key_of
from tests.support.disk import failing
from tests.support.kills import Mark

DATA = ProgramKeyIn(name="nightly", scopes=["read"])


async def signed_in(stack: Stack) -> tuple[ProgramKeyStore, Session]:
    """Alice's keys, and a session of hers."""
    token = await stack.sign_in.login(ALICE, key_of("old"))
    session, workspace = await stack.sessions.authenticate(token.encode())
    stack.pool.release(workspace)
    return ProgramKeyStore(stack.sessions, SystemClock(), allowed=True), session


def make(mark: Mark, data: str, number: int) -> None:
    """Make a key; the last mark is the key, once it has been answered."""

    async def operation(keys: ProgramKeyStore, session: Session) -> str:
        return (await keys.create(session, DATA)).program_key

    _run(mark, data, number, operation)


def revoke(mark: Mark, data: str, key_id: str, number: int) -> None:
    """Revoke a key; the last mark is `revoked`, once that has been answered."""

    async def operation(keys: ProgramKeyStore, session: Session) -> str:
        await keys.revoke(session, ProgramKeyId(key_id))
        return "revoked"

    _run(mark, data, number, operation)


def _run(mark: Mark, data: str, number: int, operation: Callable[[ProgramKeyStore, Session], Awaitable[str]]) -> None:
    """Run `operation` and die right before its `number`-th change of the disk, or else right after its answer."""

    async def work() -> None:
        async with Stack(Path(data)) as stack:
            keys, session = await signed_in(stack)
            mark("begin")
            with failing(DeadlyDisk("broken", number), "unlink", "rmdir", "mkdir"):
                mark(await operation(keys, session))
                os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(work())
