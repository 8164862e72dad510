"""SIGKILL before each change of the disk while a program key is made or revoked, and right after the answer.

What was answered is so after the next start; what was not answered is done wholly or not at all.
"""

import asyncio
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from carrel.auth.programs.keys import ProgramKeyStore
from carrel.auth.programs.schemas import KeyState
from carrel.auth.programs.sign_in import ProgramKeyRevoked, ProgramSignIn
from carrel.auth.sign_out import SignOut
from carrel.kit.clock import SystemClock
from tests.crash.program_key_operations import DATA, signed_in
from tests.crash.vault_operations import ALICE, Stack, key_of
from tests.support.disk import Disk, failing
from tests.support.kills import ForkServer


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer("tests.crash.program_key_operations") as fork_server:
        yield fork_server


async def prepare(data: Path) -> tuple[str, str]:
    """A user with one program key; its id, and the key."""
    async with Stack(data) as stack:
        await stack.make_user()
        await stack.sign_in.login(ALICE, key_of("old"))
        keys, session = await signed_in(stack)
        made = await keys.create(session, DATA)
        return made.id, made.program_key


async def states(data: Path) -> list[KeyState]:
    """Of the keys that are listed, the newest first."""
    async with Stack(data) as stack:
        keys, _ = await signed_in(stack)
        return [key.state for key in (await keys.list(ALICE)).items]


async def is_good(data: Path, program_key: str) -> bool:
    """Whether a program gets in with the key, while the user is away."""
    async with Stack(data) as stack:
        clock = SystemClock()
        sign_out = SignOut(stack.sessions, clock)
        keys = ProgramKeyStore(stack.sessions, clock, allowed=True)
        sign_in = ProgramSignIn(stack.sessions, sign_out, keys, clock)
        try:
            await sign_in.exchange(sign_in.parse(program_key))
        except ProgramKeyRevoked:
            return False
        finally:
            await sign_out.stop()
        return True


def test_a_key_is_made_or_not_and_revoked_or_not_whatever_moment_the_process_dies(
    fork_server: ForkServer, tmp_path: Path
) -> None:
    before, data = tmp_path / "before", tmp_path / "data"
    before.mkdir()
    with failing(Disk()):
        key_id, program_key = asyncio.run(prepare(before))
    for operation, arguments in (("make", ()), ("revoke", (key_id,))):
        outcomes = set()
        for number in count(1):
            shutil.rmtree(data, ignore_errors=True)
            shutil.copytree(before, data)
            run = fork_server.run(operation, str(data), *arguments, number)
            answer = run.marks[-1]
            with failing(Disk()):
                found = asyncio.run(states(data))
                outcomes.add(tuple(found))
                if operation == "make":
                    assert found in (["active"], ["active", "active"])
                    assert asyncio.run(is_good(data, program_key))
                else:
                    assert asyncio.run(is_good(data, program_key)) == (found == ["active"])
                if answer != "begin":
                    # It was answered, so it is so.
                    assert found == (["active", "active"] if operation == "make" else ["revoked"])
                    assert operation == "revoke" or asyncio.run(is_good(data, answer))
                    break
        assert number > 3, "no change of the disk was met"
        assert len(outcomes) == 2
