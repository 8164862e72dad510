"""Random crowds: hosts and users who do everything at once on the same accounts, and what must hold of every answer.

Every moment is a number that only rises. A call that ended before another began came before it; of two that overlap,
nothing is known, and nothing is asked.
"""

import asyncio
import random
import shutil
import tempfile
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from carrel.accounts.accounts import UserExists, UserUnknown
from carrel.auth.sign_in import NotProvisioned, OldKeyRequired, WorkspaceAbsent
from carrel.auth.tokens import TokenRevoked
from carrel.errors import CarrelError
from carrel.kit.sqlite.database import KeyRejected
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import KeyNotCached, WorkspaceBusy
from carrel.vault.workspace import WorkspaceClosed
from tests.support import soak
from tests.support.auth_stack import AuthStack, key_of
from tests.support.clock import FakeClock
from tests.support.soak import Figure

WRONG = "never a password"
CROWDS_AT_ONCE = 4
PARTS = 16
REFUSALS: dict[str, tuple[type[CarrelError], ...]] = {
    "login": (KeyRejected, NotProvisioned),
    "refresh": (KeyNotCached,),
    "rekey": (KeyRejected, NotProvisioned, OldKeyRequired, WorkspaceAbsent),
    "ask": (TokenRevoked, KeyNotCached, WorkspaceClosed),
    "delete": (UserUnknown,),
    "create": (UserExists,),
    "write": (TokenRevoked, KeyNotCached, WorkspaceClosed),
}


@dataclass
class Span:
    """From the moment a call began to the moment it ended."""

    begun: int
    ended: int


@dataclass
class History:
    """What happened to one user: when passwords came into force, and when sessions ended."""

    passwords: dict[str, Span] = field(default_factory=dict)
    endings: list[Span] = field(default_factory=list)
    tokens: list[tuple[bytes, Span]] = field(default_factory=list)
    written: set[int] = field(default_factory=set)


class Crowd:
    """Actors over one front stack, all decisions from one seed."""

    def __init__(self, stack: AuthStack, seed: int, *, deletions: bool) -> None:
        self.stack = stack
        self.chance = random.Random(seed)
        self.deletions = deletions
        self.moments = count(1)
        self.numbers = count(1)
        self.histories = {"ada": History(), "bob": History()}
        self.calls = 0

    async def start(self) -> None:
        for uuid, history in self.histories.items():
            await self.stack.create(uuid)
            begun = next(self.moments)
            token = await self.stack.login(uuid, "first")
            history.passwords["first"] = Span(begun, next(self.moments))
            history.tokens.append((token, history.passwords["first"]))
            async with self.stack.pool.leased(UserUuid(uuid)) as workspace:
                await workspace.write(lambda conn: conn.run("CREATE TABLE notes (a INTEGER PRIMARY KEY) STRICT"))

    async def actor(self, steps: int) -> None:
        kinds = ["ask"] * 6 + ["refresh"] * 2 + ["write"] * 2 + ["login"] * 2 + ["wrong login", "rekey", "wrong rekey"]
        kinds += ["membership"]
        if self.deletions:
            kinds += ["delete", "create"]
        for _ in range(steps):
            uuid = self.chance.choice(["ada", "ada", "ada", "bob"])
            kind = self.chance.choice(kinds)
            self.calls += 1
            begun = next(self.moments)
            try:
                await self.act(kind, uuid, self.histories[uuid], begun)
            except WorkspaceBusy:
                pass
            except REFUSALS.get(kind.split(" ")[-1], (UserUnknown,)):
                pass
            for _ in range(self.chance.randrange(4)):
                await asyncio.sleep(0)

    async def act(self, kind: str, uuid: str, history: History, begun: int) -> None:
        match kind:
            case "ask":
                token, issued = self.chance.choice(history.tokens[-12:])
                await self.stack.ask(token)
                self.must_not_be_ended(history, issued, begun)
            case "write":
                await self.write(history, begun)
            case "refresh":
                self.issued(history, await self.stack.refresh(uuid), begun)
            case "login":
                password = self.chance.choice(list(history.passwords)[-3:])
                self.issued(history, await self.stack.login(uuid, password), begun)
                self.must_have_been_in_force(history, password, begun)
            case "wrong login":
                await self.stack.login(uuid, WRONG)
                assert self.deletions, "a wrong key was accepted"
            case "rekey":
                await self.rekey(uuid, history, begun, self.chance.choice([None, *list(history.passwords)[-2:]]))
            case "wrong rekey":
                await self.stack.rekey(uuid, "never reached", WRONG)
                assert self.deletions, "a wrong key was accepted"
            case "membership":
                await self.chance.choice([self.stack.users.activate, self.stack.users.deactivate])(UserUuid(uuid))
            case "delete":
                await self.stack.delete(uuid)
                history.endings.append(Span(begun, next(self.moments)))
            case "create":
                await self.stack.create(uuid)

    async def rekey(self, uuid: str, history: History, begun: int, old: str | None) -> None:
        new = f"password {next(self.numbers)}"
        # Known before it is in force, so that logins try it early.
        history.passwords[new] = Span(begun, 0)
        try:
            token = await self.stack.rekey(uuid, new, old)
        except BaseException:
            del history.passwords[new]
            raise
        span = history.passwords[new] = Span(begun, next(self.moments))
        history.endings.append(span)
        history.tokens.append((token, Span(span.ended, span.ended)))

    async def write(self, history: History, begun: int) -> None:
        token, issued = self.chance.choice(history.tokens[-12:])
        session, workspace = await self.stack.sessions.authenticate(token)
        number = next(self.numbers)
        try:
            self.must_not_be_ended(history, issued, begun)
            if not self.deletions:
                await workspace.write(lambda conn: conn.run("INSERT INTO notes VALUES (?)", number))
                self.histories[session.user.uuid].written.add(number)
        finally:
            self.stack.pool.release(workspace)

    def issued(self, history: History, token: bytes, begun: int) -> None:
        history.tokens.append((token, Span(begun, next(self.moments))))

    def must_not_be_ended(self, history: History, issued: Span, begun: int) -> None:
        for ending in history.endings:
            assert not (issued.ended < ending.begun and ending.ended < begun), "an ended session was let in"

    def must_have_been_in_force(self, history: History, password: str, begun: int) -> None:
        if self.deletions:
            return
        since = history.passwords[password]
        for ending in history.endings:
            assert not (0 < since.ended < ending.begun and ending.ended < begun), "an earlier key was accepted"

    async def check_the_end(self) -> None:
        assert len(self.stack.sessions.locks) == 0
        assert not any(self.stack.pool.is_leased(UserUuid(uuid)) for uuid in self.histories)
        if self.deletions:
            return
        for uuid, history in self.histories.items():
            right = [password for password in history.passwords if await self.opens(uuid, password)]
            assert len(right) == 1
            await self.stack.login(uuid, right[0])
            async with self.stack.pool.leased(UserUuid(uuid)) as workspace:
                kept = {number for (number,) in workspace.read(lambda conn: conn.all("SELECT a FROM notes"))}
            assert history.written <= kept

    async def opens(self, uuid: str, password: str) -> bool:
        try:
            await self.stack.pool.admit(UserUuid(uuid), key_of(uuid, password), create=False)
        except KeyRejected:
            return False
        return True


async def let_loose(seed: int, *, deletions: bool, actors: int, steps: int) -> int:
    folder = Path(tempfile.mkdtemp())
    stack = AuthStack(folder, FakeClock())
    await stack.start()
    try:
        crowd = Crowd(stack, seed, deletions=deletions)
        await crowd.start()
        async with asyncio.timeout(3_600), asyncio.TaskGroup() as group:
            for _ in range(actors):
                group.create_task(crowd.actor(steps))
        await crowd.check_the_end()
        return crowd.calls
    finally:
        await stack.stop()
        shutil.rmtree(folder)


@pytest.mark.parametrize("deletions", [False, True])
@pytest.mark.parametrize("seed", range(4))
async def test_no_crowd_gets_in_with_an_ended_session_or_a_wrong_key(seed: int, deletions: bool) -> None:
    await let_loose(seed, deletions=deletions, actors=8, steps=60)


@pytest.mark.soak(campaign="races")
@pytest.mark.parametrize("deletions", [False, True])
@pytest.mark.parametrize("part", range(PARTS))
async def test_no_large_crowd_gets_in_with_an_ended_session_or_a_wrong_key(
    part: int, deletions: bool, figure: Figure
) -> None:
    calls, seeds = 0, count(1_000 * (part + 1))
    while calls < soak.size(1_000_000 // (2 * PARTS)):
        # Several at once, each with its own service: one waits for its threads while another goes on.
        crowds = (let_loose(next(seeds), deletions=deletions, actors=16, steps=200) for _ in range(CROWDS_AT_ONCE))
        calls += sum(await asyncio.gather(*crowds))
    figure(
        "sign-ins, rekeys, deletions and requests at the same time",
        operations=calls,
        wrong_keys_accepted=0,
        rows_of_somebody_else=0,
    )
