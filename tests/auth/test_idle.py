"""CARREL_KEY_IDLE_MINUTES: keys of users who are not there leave the memory, those of everybody else stay."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from carrel.app import services
from carrel.config import Settings
from carrel.errors import Unavailable
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import KeyNotCached
from tests.support.auth_stack import AuthStack, auth_stack
from tests.support.clock import FakeClock
from tests.support.host import PLUGIN, Host, code_of, service

ADA, BOB = UserUuid("ada"), UserUuid("bob")
IDLE = 600.0


@pytest.fixture
async def stack(tmp_path: Path, clock: FakeClock) -> AsyncIterator[AuthStack]:
    async with auth_stack(tmp_path / "data", clock) as stack:
        for uuid in (ADA, BOB):
            await stack.create(uuid)
            await stack.login(uuid)
        yield stack


async def test_a_key_that_nobody_uses_is_evicted(stack: AuthStack) -> None:
    token = await stack.refresh(ADA)
    await stack.ask(token)
    stack.clock.advance(IDLE - 1)
    await stack.refresh(BOB)
    await stack.sign_out.evict_idle(IDLE)
    assert len(stack.pool.keyring) == 2
    stack.clock.advance(1)
    await stack.sign_out.evict_idle(IDLE)
    assert ADA not in stack.pool.keyring
    assert BOB in stack.pool.keyring
    assert len(stack.pool) == 1
    with pytest.raises(KeyNotCached):
        await stack.ask(token)
    assert (await stack.ask(await stack.login(ADA))).uuid == ADA


async def test_requests_and_refreshes_keep_a_key_whatever_the_wall_clock_does(stack: AuthStack) -> None:
    tokens = {ADA: await stack.refresh(ADA)}
    for _ in range(4):
        stack.clock.advance(IDLE - 1)
        stack.clock.set_back(3 * IDLE)
        await stack.ask(tokens[ADA])
        await stack.refresh(BOB)
        await stack.sign_out.evict_idle(IDLE)
    assert len(stack.pool.keyring) == 2


async def test_work_in_progress_keeps_a_key(stack: AuthStack) -> None:
    async with stack.pool.leased(ADA):
        stack.clock.advance(2 * IDLE)
        await stack.sign_out.evict_idle(IDLE)
        assert ADA in stack.pool.keyring
        assert BOB not in stack.pool.keyring


async def test_a_user_who_comes_back_while_others_are_evicted_stays(stack: AuthStack) -> None:
    token = await stack.refresh(BOB)
    stack.clock.advance(IDLE)
    async with stack.sessions.locks.of(BOB):
        evicting = asyncio.create_task(stack.sign_out.evict_idle(IDLE))
        while stack.sessions.locks.wanted(BOB) < 2:
            await asyncio.sleep(0)
        await stack.ask(token)
    await evicting
    assert BOB in stack.pool.keyring


async def test_an_eviction_that_fails_keeps_no_other_from_its_own(stack: AuthStack) -> None:
    stack.clock.advance(IDLE)
    original = stack.pool.evict
    failed: list[UserUuid] = []

    async def failing(uuid: UserUuid) -> None:
        await original(uuid)
        if not failed:
            failed.append(uuid)
            raise Unavailable

    with patch.object(stack.pool, "evict", failing):
        await stack.sign_out.evict_idle(IDLE)
    assert failed
    assert len(stack.pool.keyring) == 0


async def test_a_deleted_user_is_not_looked_for(stack: AuthStack) -> None:
    await stack.delete(ADA)
    stack.clock.advance(IDLE)
    await stack.sign_out.evict_idle(IDLE)
    assert len(stack.pool.keyring) == 0


@pytest.mark.parametrize("minutes", [0, 10])
async def test_the_service_evicts_by_its_setting_and_never_without_one(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    monkeypatch.setattr(services, "IDLE_CHECK_SECONDS", 0)
    async with service(replace(settings, key_idle_minutes=minutes), clock) as client:
        session = await Host(client).signed_in("ada")
        clock.advance(minutes * 60 or 86_400 * 365)
        async with asyncio.timeout(60):
            # Without a session, so that asking is no use of the key.
            while minutes and (await client.get("/api/health/safe-to-restart", headers=PLUGIN)).json()["cached_keys"]:
                await asyncio.sleep(0)
        for _ in range(20):
            # Whoever looks does so in every step of the loop, many times for each answer.
            answer = await client.get("/api/health/safe-to-restart", headers=PLUGIN)
        assert answer.json()["cached_keys"] == (0 if minutes else 1)
        if minutes:
            assert code_of(await client.get("/api/users/me", headers=session)) == "key-not-cached"
