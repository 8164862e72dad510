"""Logins, re-encryptions, deletions and requests of one user that meet in time."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest

from carrel.accounts.accounts import Accounts, UserExists, UserUnknown
from carrel.auth.sign_in import NotProvisioned
from carrel.auth.tokens import TokenRevoked
from carrel.config import Settings
from carrel.errors import DiskFull
from carrel.kit.sqlite.database import KeyRejected
from carrel.vault import files
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import KeyNotCached
from tests.support.auth_stack import AuthStack
from tests.support.clock import FakeClock
from tests.support.host import Host, code_of, service

ADA = UserUuid("ada")


class Gate:
    """A call in a thread that waits until it is let through."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def wait(self) -> None:
        self.reached.set()
        assert self.open.wait(60)

    async def is_reached(self) -> None:
        assert await asyncio.to_thread(self.reached.wait, 60)


@contextmanager
def held(module: object, name: str) -> Iterator[Gate]:
    """Whoever calls `module.name` in the block waits at the gate before it goes on."""
    gate = Gate()
    original: Callable[..., object] = getattr(module, name)

    def waiting(*args: object, **kwargs: object) -> object:
        gate.wait()
        return original(*args, **kwargs)

    with patch.object(module, name, waiting):
        try:
            yield gate
        finally:
            gate.open.set()


async def waiting(stack: AuthStack, count: int = 1) -> None:
    """Return when so many tasks wait for the lock of the user, which another one holds."""
    async with asyncio.timeout(60):
        while stack.sessions.locks.wanted(ADA) <= count:
            await asyncio.sleep(0)


async def test_who_is_told_that_the_first_login_failed_is_not_signed_in(
    stack: AuthStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull

    with monkeypatch.context() as patched:
        patched.setattr("carrel.accounts.accounts.set_has_workspace", full)
        with pytest.raises(DiskFull):
            await stack.login(ADA)
    assert ADA not in stack.pool.keyring
    assert stack.pool.opened == []
    assert (await stack.ask(await stack.login(ADA))).uuid == ADA


async def test_a_login_that_waited_for_a_rekey_brings_no_old_session_back(stack: AuthStack) -> None:
    old = await stack.login(ADA)
    await stack.ask(old)
    with held(files, "rekey") as gate:
        rekey = asyncio.create_task(stack.rekey(ADA, "second"))
        await gate.is_reached()
        login = asyncio.create_task(stack.login(ADA, "second"))
        await waiting(stack)
    await rekey
    new = await login
    assert (await stack.ask(new)).uuid == ADA
    with pytest.raises(TokenRevoked):
        await stack.ask(old)


async def test_a_login_that_waited_for_a_rekey_is_checked_against_the_new_key(stack: AuthStack) -> None:
    await stack.login(ADA)
    with held(files, "rekey") as gate:
        rekey = asyncio.create_task(stack.rekey(ADA, "second"))
        await gate.is_reached()
        login = asyncio.create_task(stack.login(ADA, "first"))
        await waiting(stack)
    await rekey
    with pytest.raises(KeyRejected):
        await login


async def test_a_rekey_that_waited_for_another_takes_the_key_that_is_cached_then(stack: AuthStack) -> None:
    await stack.login(ADA)
    with held(files, "rekey") as gate:
        first = asyncio.create_task(stack.rekey(ADA, "second"))
        await gate.is_reached()
        second = asyncio.create_task(stack.rekey(ADA, "third"))
        await waiting(stack)
    await first
    await second
    await stack.login(ADA, "third")


async def test_a_rekey_with_a_wrong_key_that_waited_for_another_brings_no_old_session_back(stack: AuthStack) -> None:
    old = await stack.login(ADA)
    with held(files, "rekey") as gate:
        first = asyncio.create_task(stack.rekey(ADA, "second"))
        await gate.is_reached()
        second = asyncio.create_task(stack.rekey(ADA, "third", old="wrong"))
        await waiting(stack)
    await first
    with pytest.raises(KeyRejected):
        await second
    with pytest.raises(TokenRevoked):
        await stack.ask(old)


async def test_a_deactivation_during_a_login_is_not_forgotten(stack: AuthStack) -> None:
    with held(files, "create") as gate:
        login = asyncio.create_task(stack.login(ADA))
        await gate.is_reached()
        change = asyncio.create_task(stack.users.deactivate(ADA))
        await waiting(stack)
    await change
    assert (await stack.ask(await login)).membership == "free"


async def test_a_membership_change_counts_also_when_the_host_goes_away(stack: AuthStack) -> None:
    token = await stack.login(ADA)
    change = asyncio.create_task(stack.users.deactivate(ADA))
    await asyncio.sleep(0)
    change.cancel()
    with pytest.raises(asyncio.CancelledError):
        await change
    while not stack.deactivated:
        await asyncio.sleep(0.001)
    assert (await stack.ask(token)).membership == "free"


async def test_a_login_that_waited_for_a_deletion_finds_nobody(stack: AuthStack) -> None:
    await stack.login(ADA)
    with held(Accounts, "remove") as gate:
        deletion = asyncio.create_task(stack.delete(ADA))
        await gate.is_reached()
        login = asyncio.create_task(stack.login(ADA))
        refresh = asyncio.create_task(stack.refresh(ADA))
        await waiting(stack, 2)
    await deletion
    with pytest.raises(NotProvisioned):
        await login
    with pytest.raises(KeyNotCached):
        await refresh


async def test_a_creation_that_waited_for_a_deletion_makes_a_new_user(stack: AuthStack) -> None:
    old = await stack.login(ADA)
    with held(Accounts, "remove") as gate:
        deletion = asyncio.create_task(stack.delete(ADA))
        await gate.is_reached()
        creation = asyncio.create_task(stack.create(ADA))
        await waiting(stack)
    await deletion
    await creation
    new = await stack.login(ADA, "other")
    await stack.ask(new)
    with pytest.raises(TokenRevoked):
        await stack.ask(old)


async def test_two_deletions_at_once_delete_once(stack: AuthStack) -> None:
    await stack.login(ADA)
    answers = await asyncio.gather(stack.delete(ADA), stack.delete(ADA), return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["NoneType", "UserUnknown"]


async def test_of_many_creations_at_once_one_makes_the_user(stack: AuthStack) -> None:
    answers = await asyncio.gather(*(stack.create("bob") for _ in range(20)), return_exceptions=True)
    assert sum(answer is None for answer in answers) == 1
    assert sum(isinstance(answer, UserExists) for answer in answers) == 19


async def test_a_request_that_waited_for_a_rekey_is_refused_after_it(stack: AuthStack) -> None:
    checked, fresh = await stack.login(ADA), None
    await stack.ask(checked)
    stack.clock.advance(1)
    fresh = await stack.refresh(ADA)
    with held(files, "rekey") as gate:
        rekey = asyncio.create_task(stack.rekey(ADA, "second"))
        await gate.is_reached()
        asked = [asyncio.create_task(stack.ask(token)) for token in (checked, fresh)]
        for _ in range(20):
            await asyncio.sleep(0)
        assert not any(task.done() for task in asked)
    await rekey
    for task in asked:
        with pytest.raises(TokenRevoked):
            await task


async def test_who_waits_too_long_for_a_rekey_is_told_to_come_again(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.vault.pool.WAIT_SECONDS", 0.02)
    monkeypatch.setattr("carrel.auth.sign_in.TIMEOUT_SECONDS", 0.02)
    async with service(settings, clock) as client:
        host = Host(client)
        session = await host.signed_in(ADA)
        with held(files, "rekey") as gate:
            rekey = asyncio.create_task(host.rekey(ADA, "second"))
            await gate.is_reached()
            for answer in (await client.get("/api/users/me", headers=session), await host.refresh(ADA)):
                assert (answer.status_code, code_of(answer)) == (503, "workspace-busy")
                assert answer.headers["retry-after"] == "1"
        assert (await rekey).status_code == 200


async def test_a_refresh_during_a_rekey_gives_a_token_of_the_time_after_it(stack: AuthStack) -> None:
    await stack.login(ADA)
    with held(files, "rekey") as gate:
        rekey = asyncio.create_task(stack.rekey(ADA, "second"))
        await gate.is_reached()
        refresh = asyncio.create_task(stack.refresh(ADA))
        await waiting(stack)
        assert not refresh.done()
    await rekey
    await stack.ask(await refresh)


async def test_a_refresh_during_a_wrong_login_gives_no_token(stack: AuthStack) -> None:
    await stack.login(ADA)
    await stack.pool.evict(ADA)
    with held(files, "open_workspace") as gate:
        login = asyncio.create_task(stack.login(ADA, "wrong"))
        await gate.is_reached()
        refresh = asyncio.create_task(stack.refresh(ADA))
        await waiting(stack)
    with pytest.raises(KeyRejected):
        await login
    with pytest.raises(KeyNotCached):
        await refresh


async def test_a_host_that_goes_away_stops_neither_login_nor_rekey_nor_deletion(stack: AuthStack) -> None:
    with held(files, "create") as gate:
        login = asyncio.create_task(stack.login(ADA))
        await gate.is_reached()
        login.cancel()
        with pytest.raises(asyncio.CancelledError):
            await login
    token = await stack.login(ADA)
    with held(files, "rekey") as gate:
        rekey = asyncio.create_task(stack.rekey(ADA, "second"))
        await gate.is_reached()
        rekey.cancel()
        with pytest.raises(asyncio.CancelledError):
            await rekey
    with pytest.raises(TokenRevoked):
        await stack.ask(token)
    await stack.login(ADA, "second")
    with held(Accounts, "remove") as gate:
        deletion = asyncio.create_task(stack.delete(ADA))
        await gate.is_reached()
        deletion.cancel()
        with pytest.raises(asyncio.CancelledError):
            await deletion
    with pytest.raises(NotProvisioned):
        await stack.login(ADA, "second")
    with pytest.raises(UserUnknown):
        await stack.delete(ADA)


async def test_requests_that_hold_leases_end_before_a_rekey_begins(stack: AuthStack) -> None:
    token = await stack.login(ADA)
    _, workspace = await stack.sessions.authenticate(token)
    with held(files, "rekey") as gate:
        rekey = asyncio.create_task(stack.rekey(ADA, "second"))
        while (lent := stack.pool.try_lease(ADA)) is not None:
            stack.pool.release(lent)
            await asyncio.sleep(0)
        assert not gate.reached.is_set()
        await workspace.write(lambda conn: conn.run("UPDATE user_meta SET created_at = 'late'"))
        stack.pool.release(workspace)
        await gate.is_reached()
    await rekey
    async with stack.pool.leased(ADA) as workspace:
        assert workspace.read(lambda conn: conn.one("SELECT created_at FROM user_meta")) == ("late",)


async def test_a_thousand_first_requests_open_the_database_once(stack: AuthStack) -> None:
    token = await stack.login(ADA)
    await stack.pool.rest(ADA)
    opened = []
    original = files.open_workspace

    def counting(*args: object, **kwargs: object) -> object:
        opened.append(1)
        return original(*args, **kwargs)  # type: ignore[arg-type]  # passed on as they came

    with patch.object(files, "open_workspace", counting):
        users = await asyncio.gather(*(stack.ask(token) for _ in range(1_000)))
    assert {user.uuid for user in users} == {ADA}
    assert len(opened) == 1


async def test_a_wrong_login_during_requests_ends_them_and_lets_committed_writes_stand(stack: AuthStack) -> None:
    token = await stack.login(ADA)
    _, workspace = await stack.sessions.authenticate(token)
    write = asyncio.create_task(workspace.write(lambda conn: conn.run("UPDATE user_meta SET created_at = 'kept'")))
    await asyncio.sleep(0)
    with pytest.raises(KeyRejected):
        await stack.login(ADA, "wrong")
    await write
    stack.pool.release(workspace)
    with pytest.raises(KeyNotCached):
        await stack.ask(token)
    token = await stack.login(ADA)
    _, workspace = await stack.sessions.authenticate(token)
    assert workspace.read(lambda conn: conn.one("SELECT created_at FROM user_meta")) == ("kept",)
    stack.pool.release(workspace)
