"""Exchanges of program keys that meet rekeys, revocations, deactivations and sign-outs: nothing is accepted after.

Every moment is a number that only rises. What began after an ending had been answered must be refused; of what overlaps
the ending, nothing is asked until it is over, and then everything that came out of it.
"""

import asyncio
import random
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from itertools import count
from pathlib import Path

import pytest

from carrel.accounts import rotation
from carrel.accounts.program_keys import ProgramKeyId
from carrel.auth.programs.secret import ProgramKeyInvalid
from carrel.auth.programs.sign_in import ProgramKeyRevoked
from carrel.auth.sessions import Session
from carrel.auth.tokens import TokenRevoked
from carrel.kit.ids import uuid7_factory
from carrel.vault import files
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import KeyNotCached
from carrel.vault.workspace import WorkspaceClosed
from tests.auth.test_races import held, waiting
from tests.support import soak
from tests.support.auth_stack import SERVICE_KEY, AuthStack, auth_stack
from tests.support.clock import FakeClock
from tests.support.soak import Figure

ADA = UserUuid("ada")
ENDED = (TokenRevoked, KeyNotCached, WorkspaceClosed)
EXCHANGERS, EACH, FURTHER = 5, 4, 2


class Race:
    """Rounds in which programs exchange two keys of one user while something ends the first of them, or both."""

    def __init__(self, stack: AuthStack, seed: int) -> None:
        self.stack = stack
        self.chance = random.Random(seed)
        self.moments = count(1)
        self.passwords = count(1)
        self.password = "0"
        self.exchanges = self.accepted = self.late = 0

    async def start(self) -> None:
        await self.stack.create(ADA)

    async def round(self) -> None:
        # The last session may have ended in the second of a sign-out.
        session = await self.stack.session_of(await self.stack.login(ADA, self.password))
        doomed = await self.stack.make_key(session)
        other = await self.stack.make_key(session)
        keys = {ProgramKeyId(key.id): key.program_key for key in (doomed, other)}
        if self.chance.random() < 0.5:
            # The programs have to open the workspace.
            await self.stack.pool.evict(ADA)
        endings: dict[str, Callable[[Session, ProgramKeyId], Awaitable[bool]]] = {
            "revoke": self.revoke,
            "rekey": self.rekey,
            "deactivate": self.deactivate,
            "sign out": self.sign_out,
        }
        kind = self.chance.choice(["revoke", "rekey", "revoke", "rekey", "deactivate", "sign out"])
        self.ended_at: dict[ProgramKeyId, int] = {}
        self.sessions_ended_at = 0
        self.tokens: list[tuple[bytes, ProgramKeyId]] = []
        racing = [asyncio.create_task(self.exchanger(keys)) for _ in range(EXCHANGERS)]
        creation = asyncio.create_task(self.late_key(session))
        for _ in range(self.chance.randrange(60)):
            await asyncio.sleep(0)
        ends_all = await endings[kind](session, ProgramKeyId(doomed.id))
        moment = next(self.moments)
        before = [*self.tokens]
        if kind == "sign out":
            self.sessions_ended_at = moment
        else:
            self.ended_at = dict.fromkeys(keys if ends_all else [ProgramKeyId(doomed.id)], moment)
        await asyncio.gather(*racing)
        made = await creation
        # Whatever came out of the race, asked again now that it is over.
        for token, key_id in [*self.tokens] if kind != "sign out" else before:
            if key_id in self.ended_at or kind == "sign out":
                self.late += await self.is_accepted(self.stack.ask(token))
        for key_id in self.ended_at:
            for _ in range(FURTHER):
                self.exchanges += 1
                self.late += await self.is_accepted(self.stack.exchange(keys[key_id]))
        if ends_all and made is not None:
            # It was made by a session that had ended, or before the ending, which ended it.
            self.late += await self.is_accepted(self.stack.exchange(made))
        if not ends_all:
            assert (await self.stack.ask(await self.stack.exchange(other.program_key))).uuid == ADA
        await self.tidy()

    async def exchanger(self, keys: dict[ProgramKeyId, str]) -> None:
        for _ in range(EACH):
            key_id = self.chance.choice(list(keys))
            begun = next(self.moments)
            self.exchanges += 1
            try:
                token = await self.stack.exchange(keys[key_id])
            except ProgramKeyRevoked:
                continue
            self.accepted += 1
            self.tokens.append((token, key_id))
            self.late += self.ended_at.get(key_id, begun) < begun
            token, key_id = self.chance.choice(self.tokens)
            begun = next(self.moments)
            if await self.is_accepted(self.stack.ask(token)):
                self.late += self.ended_at.get(key_id, begun) < begun
            for _ in range(self.chance.randrange(3)):
                await asyncio.sleep(0)

    async def late_key(self, session: Session) -> str | None:
        for _ in range(self.chance.randrange(60)):
            await asyncio.sleep(0)
        try:
            return (await self.stack.make_key(session)).program_key
        except ENDED:
            return None

    async def is_accepted(self, call: Awaitable[object]) -> bool:
        try:
            await call
        except (*ENDED, ProgramKeyRevoked, ProgramKeyInvalid):
            return False
        return True

    async def revoke(self, session: Session, doomed: ProgramKeyId) -> bool:
        await self.stack.program_keys.revoke(session, doomed)
        return False

    async def rekey(self, _session: Session, _doomed: ProgramKeyId) -> bool:
        new = str(next(self.passwords))
        await self.stack.rekey(ADA, new, old=self.password)
        self.password = new
        return True

    async def deactivate(self, _session: Session, _doomed: ProgramKeyId) -> bool:
        await self.stack.users.deactivate(ADA)
        return True

    async def sign_out(self, _session: Session, _doomed: ProgramKeyId) -> bool:
        await self.stack.sign_out.end_all(ADA)
        return False

    async def tidy(self) -> None:
        """End the keys that are left, so that there is always room for two more."""
        await self.stack.users.deactivate(ADA)
        await self.stack.users.activate(ADA)
        self.stack.clock.advance(self.chance.choice([0, 1, 400]))


async def race(exchanges: int, seed: int) -> Race:
    folder = Path(tempfile.mkdtemp())
    try:
        async with auth_stack(folder / "data", FakeClock()) as stack:
            race = Race(stack, seed)
            await race.start()
            while race.exchanges < exchanges:
                await race.round()
            return race
    finally:
        shutil.rmtree(folder)


async def test_nothing_is_accepted_after_the_end_of_a_key_in_a_seeded_race() -> None:
    found = await race(200, seed=28)
    assert found.late == 0
    # Some were accepted, and some met the ending: else nothing would have been proven.
    assert 0 < found.accepted < found.exchanges


@pytest.mark.soak(campaign="programs")
async def test_nothing_is_accepted_after_the_end_of_a_key_in_many_races(figure: Figure) -> None:
    found = await race(soak.size(10_000), seed=2_028)
    figure(
        "exchanges racing with rekeys, revocations, deactivations and sign-outs",
        exchanges=found.exchanges,
        accepted=found.accepted,
        accepted_after=found.late,
    )
    assert found.late == 0


@pytest.mark.parametrize("kind", ["revoke", "deactivate", "rekey", "delete"])
async def test_an_end_that_comes_during_an_exchange_ends_what_comes_of_it(stack: AuthStack, kind: str) -> None:
    session = await stack.session_of(await stack.login(ADA))
    key = await stack.make_key(session)
    await stack.pool.evict(ADA)
    ends: dict[str, Callable[[], Coroutine[None, None, object]]] = {
        "revoke": lambda: stack.program_keys.revoke(session, ProgramKeyId(key.id)),
        "deactivate": lambda: stack.users.deactivate(ADA),
        "rekey": lambda: stack.rekey(ADA, "second", old="first"),
        "delete": lambda: stack.delete(ADA),
    }
    with held(files, "open_workspace") as gate:
        exchange = asyncio.create_task(stack.exchange(key.program_key))
        await gate.is_reached()
        end = asyncio.create_task(ends[kind]())
        await waiting(stack)
    token = await exchange
    await end
    with pytest.raises(ENDED):
        await stack.ask(token)
    with pytest.raises(ProgramKeyRevoked):
        await stack.exchange(key.program_key)


async def test_a_session_that_a_rekey_has_ended_makes_no_key(stack: AuthStack) -> None:
    session = await stack.session_of(await stack.login(ADA))
    with held(files, "rekey") as gate:
        rekey = asyncio.create_task(stack.rekey(ADA, "second"))
        await gate.is_reached()
        creation = asyncio.create_task(stack.make_key(session))
        await waiting(stack)
        assert not creation.done()
    await rekey
    with pytest.raises(TokenRevoked):
        await creation
    assert (await stack.program_keys.list(ADA)).items == []


async def test_a_row_that_wraps_an_older_key_evicts_no_good_key(stack: AuthStack) -> None:
    """As an older account does that somebody put back: unlike a wrong login, it costs the user nothing."""
    session = await stack.session_of(await stack.login(ADA))
    key = await stack.make_key(session)
    account = stack.accounts.workspace_path(ADA).with_name("account.db")
    kept = account.read_bytes()
    await stack.rekey(ADA, "second")
    account.write_bytes(kept)
    with pytest.raises(ProgramKeyRevoked):
        await stack.exchange(key.program_key)
    assert ADA in stack.pool.keyring


async def test_a_rotation_of_the_service_key_ends_no_program_key(tmp_path: Path, clock: FakeClock) -> None:
    data, fresh = tmp_path / "data", bytes(range(100, 132))
    async with auth_stack(data, clock) as stack:
        await stack.create(ADA)
        key = await stack.make_key(await stack.session_of(await stack.login(ADA)))
    done = await asyncio.to_thread(
        lambda: rotation.Rotation(data, SERVICE_KEY, fresh, clock=clock, new_id=uuid7_factory(clock)).run()
    )
    assert done == 1
    async with auth_stack(data, clock, service_key=fresh) as stack:
        assert (await stack.ask(await stack.exchange(key.program_key))).uuid == ADA
