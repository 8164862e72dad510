"""Which token opens what, after any history: several users, two clocks, restarts, and every token ever issued.

The model knows no valid-from: a token is ended by the rekey or the deletion that comes after it.
"""

import asyncio
import atexit
import random
import shutil
import sys
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from carrel.accounts.accounts import UserExists, UserUnknown
from carrel.auth import tokens
from carrel.auth.sign_in import NotProvisioned, OldKeyRequired, WorkspaceAbsent
from carrel.auth.tokens import TokenExpired, TokenInvalid, TokenRevoked
from carrel.kit.sqlite.database import KeyRejected
from carrel.vault import migrations
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import KeyNotCached
from tests.support import soak
from tests.support.auth_stack import SECRETS, AuthStack
from tests.support.clock import FakeClock
from tests.support.soak import Figure

T = TypeVar("T")

UUIDS = ("ada", "bob", "eve")
PASSWORDS = ("first", "second", "third")
EVENTS = (
    *("login_with_the_right_password", "login_with_the_right_password", "refresh", "refresh", "refresh"),
    *("login", "rekey", "rekey_with_the_right_password", "create", "delete", "delete_and_make_again", "set_membership"),
)
"""What a host asks for; what is named more often happens more often."""
WHAT_COMES_FIRST = (
    "refresh",
    "login_with_the_right_password",
    "rekey_with_the_right_password",
    "delete_and_make_again",
)
"""After a restart, or after the clock went back: what was known before is needed now."""
uuids = st.sampled_from(UUIDS)
passwords = st.sampled_from(PASSWORDS)


@dataclass
class Token:
    """A token as the model sees it: its end by the wall clock, and whether its sessions were ended."""

    uuid: str
    raw: bytes
    expires_at: int
    ended: bool = False


@dataclass
class User:
    """A user as the model sees one."""

    membership: str
    password: str | None = None
    """`None` before the first login."""
    cached: bool = False
    tokens: list[Token] = field(default_factory=list)


def folder_to_the_end() -> Path:
    """A new folder that is there until this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="carrel-stateful-"))
    atexit.register(shutil.rmtree, folder)
    return folder


@cache
def few_migrations() -> str:
    """A package with the first migration only, so that a workspace is made in no time."""
    folder = folder_to_the_end()
    package = folder / "user_meta_only"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(Path(migrations.__path__[0]) / "0001_user_meta.sql", package)
    sys.path.append(str(folder))
    return package.name


@cache
def started_once() -> Path:
    """A data folder after its first start, copied for each history: the decoy takes a while to make."""
    folder = folder_to_the_end()

    async def start_and_stop() -> None:
        stack = AuthStack(folder, FakeClock(), few_migrations())
        await stack.start()
        await stack.stop()

    asyncio.run(start_and_stop())
    return folder


class Histories(RuleBasedStateMachine):
    """Every step asks the front stack and the model the same."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.clock = FakeClock()
        self.data = Path(tempfile.mkdtemp())
        shutil.copytree(started_once(), self.data, dirs_exist_ok=True)
        self.stack = self.started()
        self.users: dict[str, User] = {}
        self.tokens: list[Token] = []

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def started(self) -> AuthStack:
        stack = AuthStack(self.data, self.clock, few_migrations())
        self.run(stack.start())
        return stack

    def teardown(self) -> None:
        self.run(self.stack.stop())
        self.loop.close()
        shutil.rmtree(self.data)

    def issued(self, uuid: str, raw: bytes) -> None:
        claims = tokens.verify(raw, SECRETS, now=0)
        assert claims.uuid == uuid
        assert claims.issued_at >= int(self.clock.now())
        token = Token(uuid, raw, claims.expires_at)
        # Two tokens of one second are one; what ended it would end the new one too.
        assert not any(known.ended for known in self.tokens if known.raw == raw)
        self.users[uuid].tokens.append(token)
        self.tokens.append(token)

    def end_sessions(self, uuid: str) -> None:
        for token in self.tokens:
            if token.uuid == uuid:
                token.ended = True

    # What the host asks ---------------------------------------------------------------------------------------------

    @initialize()
    def everybody_signs_up_and_in(self) -> None:
        for uuid in UUIDS:
            self.create(uuid, "paid")
            self.login(uuid, "first")

    @rule(event=st.sampled_from(EVENTS), uuid=uuids, one=passwords, other=st.none() | passwords, active=st.booleans())
    def the_host_asks(self, event: str, uuid: str, one: str, other: str | None, active: bool) -> None:
        match event:
            case "create":
                self.create(uuid, "paid" if active else "free")
            case "login":
                self.login(uuid, one)
            case "rekey":
                self.rekey(uuid, one, other)
            case "set_membership":
                self.set_membership(uuid, active)
            case _:
                getattr(self, event)(uuid)

    def refused(self, error: type[Exception], work: Coroutine[Any, Any, object]) -> None:
        with pytest.raises(error):
            self.run(work)

    def create(self, uuid: str, membership: Any) -> None:
        if uuid in self.users:
            self.refused(UserExists, self.stack.create(uuid, membership))
        else:
            self.run(self.stack.create(uuid, membership))
            self.users[uuid] = User(membership)

    def login(self, uuid: str, password: str) -> None:
        if uuid not in self.users:
            self.create(uuid, "free")
        user = self.users[uuid]
        if user.password not in (None, password):
            self.refused(KeyRejected, self.stack.login(uuid, password))
            user.cached = False
        else:
            self.issued(uuid, self.run(self.stack.login(uuid, password)))
            user.password, user.cached = password, True

    def login_with_the_right_password(self, uuid: str) -> None:
        user = self.users.get(uuid)
        self.login(uuid, user.password if user and user.password else "first")

    def refresh(self, uuid: str) -> None:
        user = self.users.get(uuid)
        if user is None or not user.cached:
            self.refused(KeyNotCached, self.stack.refresh(uuid))
        else:
            self.issued(uuid, self.run(self.stack.refresh(uuid)))

    def rekey(self, uuid: str, new: str, old: str | None) -> None:
        if uuid not in self.users:
            self.refused(NotProvisioned, self.stack.rekey(uuid, new, old))
            return
        user = self.users[uuid]
        if user.password is None:
            self.refused(WorkspaceAbsent, self.stack.rekey(uuid, new, old))
        elif old is None and not user.cached:
            self.refused(OldKeyRequired, self.stack.rekey(uuid, new, old))
        elif old not in (None, user.password):
            self.refused(KeyRejected, self.stack.rekey(uuid, new, old))
        else:
            raw = self.run(self.stack.rekey(uuid, new, old))
            self.end_sessions(uuid)
            user.password, user.cached = new, True
            self.issued(uuid, raw)

    def rekey_with_the_right_password(self, uuid: str) -> None:
        user = self.users.get(uuid)
        self.rekey(uuid, "second", user.password if user else "first")

    def delete(self, uuid: str) -> None:
        if uuid not in self.users:
            self.refused(UserUnknown, self.stack.delete(uuid))
            self.refused(NotProvisioned, self.stack.login(uuid, "first"))
            return
        self.run(self.stack.delete(uuid))
        self.end_sessions(uuid)
        del self.users[uuid]

    def delete_and_make_again(self, uuid: str) -> None:
        self.delete(uuid)
        self.create(uuid, "paid")
        self.login(uuid, "first")

    def set_membership(self, uuid: str, active: bool) -> None:
        change = self.stack.users.activate if active else self.stack.users.deactivate
        if uuid not in self.users:
            self.refused(UserUnknown, change(UserUuid(uuid)))
        else:
            self.run(change(UserUuid(uuid)))
            self.users[uuid].membership = "paid" if active else "free"

    # What users ask -------------------------------------------------------------------------------------------------

    def verdict(self, token: Token) -> type[Exception] | str:
        user = self.users.get(token.uuid)
        if token.expires_at <= self.clock.now():
            return TokenExpired
        if user is None or not user.cached:
            return KeyNotCached
        return TokenRevoked if token.ended else user.membership

    def ask(self, token: Token) -> None:
        expected = self.verdict(token)
        if isinstance(expected, str):
            user = self.run(self.stack.ask(token.raw))
            assert (user.uuid, user.membership) == (token.uuid, expected)
        else:
            with pytest.raises(expected):
                self.run(self.stack.ask(token.raw))

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def ask_with_any_token(self, data: st.DataObject) -> None:
        self.ask(data.draw(st.sampled_from(self.tokens)))

    @precondition(lambda self: self.tokens)
    @rule()
    def ask_with_every_token(self) -> None:
        for token in self.tokens:
            self.ask(token)

    @precondition(lambda self: self.tokens)
    @rule(data=st.data(), position=st.integers(0, 200), bit=st.integers(0, 7))
    def ask_with_a_forged_token(self, data: st.DataObject, position: int, bit: int) -> None:
        raw = bytearray(data.draw(st.sampled_from(self.tokens)).raw)
        raw[position % len(raw)] ^= 1 << bit
        with pytest.raises(TokenInvalid):
            self.run(self.stack.ask(bytes(raw)))

    # What nobody asks for ---------------------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0.4, 1, 59, 61, 299, 300, 301, 1800, 3599, 3600, 90_000]), uuid=uuids)
    def time_passes(self, seconds: float, uuid: str) -> None:
        self.clock.advance(seconds)
        self.refresh(uuid)

    @rule(seconds=st.sampled_from([0.4, 1, 60, 600, 3600, 86_400]), uuid=uuids, event=st.sampled_from(WHAT_COMES_FIRST))
    def the_wall_clock_goes_back(self, seconds: float, uuid: str, event: str) -> None:
        self.clock.set_back(seconds)
        getattr(self, event)(uuid)

    @rule(
        uuid=uuids, crash=st.booleans(), back=st.sampled_from([0, 0, 0.4, 600]), event=st.sampled_from(WHAT_COMES_FIRST)
    )
    def restart(self, uuid: str, crash: bool, back: float, event: str) -> None:
        if crash:
            # Nothing of an orderly stop is done; what was on the disk stays.
            self.run(self.stack.pool.close())
            self.stack.accounts.close()
            self.stack.service.close()
        else:
            self.run(self.stack.stop())
        self.clock.set_back(back)
        self.stack = self.started()
        for user in self.users.values():
            user.cached = False
        getattr(self, event)(uuid)

    @rule(seconds=st.sampled_from([0.0, 300.0]))
    def evict_idle(self, seconds: float) -> None:
        self.run(self.stack.sign_out.evict_idle(seconds))
        for uuid, user in self.users.items():
            user.cached = UserUuid(uuid) in self.stack.pool.keyring and user.cached

    @invariant()
    def the_newest_tokens_and_the_last_ended_ones_open_what_they_should(self) -> None:
        for uuid in UUIDS:
            for ended in (False, True):
                token = next((t for t in reversed(self.tokens) if t.uuid == uuid and t.ended is ended), None)
                if token is not None:
                    self.ask(token)

    @invariant()
    def keys_are_in_memory_for_those_who_signed_in(self) -> None:
        assert len(self.stack.pool.keyring) == sum(user.cached for user in self.users.values())
        assert len(self.stack.sessions.locks) == 0


class Counted(Histories):
    """Counts the steps and the questions of all histories."""

    steps = 0
    questions = 0

    def ask(self, token: Token) -> None:
        type(self).questions += 1
        super().ask(token)

    @invariant()
    def a_step_was_made(self) -> None:
        type(self).steps += 1


def histories(machine: type[Histories], count: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=count,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_no_history_lets_an_ended_token_in() -> None:
    histories(Histories, 15, 100)


@pytest.mark.soak(campaign="tokens")
@pytest.mark.parametrize("part", range(4))
def test_no_long_history_lets_an_ended_token_in(part: int, figure: Figure) -> None:
    Counted.steps = Counted.questions = 0
    chance = random.Random(part)
    while Counted.steps < soak.size(25_000):
        histories(seed(chance.getrandbits(64))(Counted), 10, 250)
    figure(
        "steps of sign-in, rekey, deletion, eviction, restart and set-back clocks",
        steps=Counted.steps,
        questions_with_a_token=Counted.questions,
        wrong_answers=0,
    )
