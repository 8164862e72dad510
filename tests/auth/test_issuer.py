"""What ends an old token although the clock went back, and although the process that issued it is gone."""

import shutil
from pathlib import Path

import pytest

from carrel.auth import tokens
from carrel.auth.tokens import TokenRevoked
from carrel.backup import archive
from carrel.kit.ids import uuid7_factory
from tests.support.auth_stack import SECRETS, SERVICE_KEY, AuthStack, auth_stack
from tests.support.clock import FakeClock
from tests.support.disk import Disk, failing

HOUR = 3600


def issued_at(token: bytes) -> int:
    return tokens.verify(token, SECRETS, now=0).issued_at


@pytest.mark.parametrize("crash", [False, True])
async def test_a_rekey_after_a_restart_with_a_clock_behind_revokes_the_tokens_of_its_future(
    tmp_path: Path, clock: FakeClock, crash: bool
) -> None:
    first = AuthStack(tmp_path, clock)
    await first.start()
    await first.create("ada")
    clock.advance(HOUR)
    await first.login("ada")
    clock.advance(50)
    old = await first.refresh("ada")
    if crash:
        first.accounts.close()
        first.service.close()
    else:
        await first.stop()
    clock.set_back(600)
    async with auth_stack(tmp_path, clock) as second:
        await second.login("ada")
        await second.ask(old)
        renewed = await second.rekey("ada", "second")
        for _ in range(3):
            with pytest.raises(TokenRevoked):
                await second.ask(old)
            await second.ask(renewed)
            clock.advance(300)
    if crash:
        await first.pool.close()


async def test_a_user_made_again_after_a_restart_with_a_clock_behind_is_not_open_to_old_tokens(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with auth_stack(tmp_path, clock) as first:
        await first.create("ada")
        clock.advance(HOUR)
        old = await first.login("ada")
    clock.set_back(600)
    async with auth_stack(tmp_path, clock) as second:
        await second.delete("ada")
        await second.create("ada")
        await second.login("ada")
        with pytest.raises(TokenRevoked):
            await second.ask(old)


async def test_a_stop_in_order_leaves_the_next_tokens_their_hour(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path, clock) as first:
        await first.create("ada")
        clock.advance(10)
        await first.login("ada")
    async with auth_stack(tmp_path, clock) as second:
        await second.login("ada")
        assert issued_at(await second.rekey("ada", "second")) == int(clock.now()) + 1


async def test_a_user_whose_sessions_begin_late_does_not_delay_others(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path, clock) as first:
        await first.create("ada")
        await first.login("ada")
        for number in range(5):
            await first.rekey("ada", f"key {number}")
        await first.create("bob")
        assert issued_at(await first.login("bob")) == int(clock.now()) + 1
    async with auth_stack(tmp_path, clock) as second:
        await second.create("eve")
        assert issued_at(await second.login("eve")) == int(clock.now()) + 1


async def test_a_full_disk_ends_no_session(tmp_path: Path, clock: FakeClock) -> None:
    first = AuthStack(tmp_path, clock)
    with failing(Disk()) as disk:
        await first.start()
        await first.create("ada")
        await first.login("ada")
        clock.advance(HOUR)
        disk.fail_at, disk.for_good = disk.changes + 1, True
        token = await first.refresh("ada")
        assert (await first.ask(token)).uuid == "ada"
        disk.fail_at = None
        await first.stop()


async def test_a_restore_ends_also_the_tokens_that_a_crash_let_begin_ahead_of_the_clock(
    tmp_path: Path, clock: FakeClock
) -> None:
    copy, data = tmp_path / "copy", tmp_path / "data"
    async with auth_stack(data, clock) as first:
        await first.create("ada")
        await first.login("ada")
    shutil.copytree(data, copy)
    second = AuthStack(data, clock)
    await second.start()
    clock.advance(1)
    await second.login("ada")
    second.accounts.close()
    second.service.close()
    async with auth_stack(data, clock) as third:
        await third.login("ada")
        old = await third.rekey("ada", "second")
        assert issued_at(old) > clock.now()
    archive.end_sessions(copy, SERVICE_KEY, clock, uuid7_factory(clock))
    async with auth_stack(copy, clock) as restored:
        new = await restored.login("ada")
        with pytest.raises(TokenRevoked):
            await restored.ask(old)
        assert (await restored.ask(new)).uuid == "ada"
