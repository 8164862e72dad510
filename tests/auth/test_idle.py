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
from tests.support.clock import FakeClock
from tests.support.front_door import ProxyInFront, front_door
from tests.support.host import Host, code_of, service

ADA, BOB = UserUuid("ada"), UserUuid("bob")
IDLE = 600.0


@pytest.fixture
async def door(tmp_path: Path, clock: FakeClock) -> AsyncIterator[ProxyInFront]:
    async with front_door(tmp_path / "data", clock) as door:
        for uuid in (ADA, BOB):
            await door.create(uuid)
            await door.login(uuid)
        yield door


async def test_a_key_that_nobody_uses_is_evicted(door: ProxyInFront) -> None:
    token = await door.refresh(ADA)
    await door.ask(token)
    door.clock.advance(IDLE - 1)
    await door.refresh(BOB)
    await door.sessions.evict_idle(IDLE)
    assert len(door.pool.keyring) == 2
    door.clock.advance(1)
    await door.sessions.evict_idle(IDLE)
    assert ADA not in door.pool.keyring
    assert BOB in door.pool.keyring
    assert len(door.pool) == 1
    with pytest.raises(KeyNotCached):
        await door.ask(token)
    assert (await door.ask(await door.login(ADA))).uuid == ADA


async def test_requests_and_refreshes_keep_a_key_whatever_the_wall_clock_does(door: ProxyInFront) -> None:
    tokens = {ADA: await door.refresh(ADA)}
    for _ in range(4):
        door.clock.advance(IDLE - 1)
        door.clock.set_back(3 * IDLE)
        await door.ask(tokens[ADA])
        await door.refresh(BOB)
        await door.sessions.evict_idle(IDLE)
    assert len(door.pool.keyring) == 2


async def test_work_in_progress_keeps_a_key(door: ProxyInFront) -> None:
    async with door.pool.leased(ADA):
        door.clock.advance(2 * IDLE)
        await door.sessions.evict_idle(IDLE)
        assert ADA in door.pool.keyring
        assert BOB not in door.pool.keyring


async def test_a_user_who_comes_back_while_others_are_evicted_stays(door: ProxyInFront) -> None:
    token = await door.refresh(BOB)
    door.clock.advance(IDLE)
    async with door.sessions.turns.of(BOB):
        evicting = asyncio.create_task(door.sessions.evict_idle(IDLE))
        await asyncio.sleep(0.01)
        await door.ask(token)
    await evicting
    assert BOB in door.pool.keyring


async def test_an_eviction_that_fails_keeps_no_other_from_its_own(door: ProxyInFront) -> None:
    door.clock.advance(IDLE)
    original = door.pool.evict
    failed: list[UserUuid] = []

    async def failing(uuid: UserUuid) -> None:
        await original(uuid)
        if not failed:
            failed.append(uuid)
            raise Unavailable

    with patch.object(door.pool, "evict", failing):
        await door.sessions.evict_idle(IDLE)
    assert failed
    assert len(door.pool.keyring) == 0


async def test_a_deleted_user_is_not_looked_for(door: ProxyInFront) -> None:
    await door.delete(ADA)
    door.clock.advance(IDLE)
    await door.sessions.evict_idle(IDLE)
    assert len(door.pool.keyring) == 0


@pytest.mark.parametrize("minutes", [0, 10])
async def test_the_service_evicts_by_its_setting_and_never_without_one(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    monkeypatch.setattr(services, "IDLE_CHECK_SECONDS", 0.005)
    async with service(replace(settings, key_idle_minutes=minutes), clock) as client:
        session = await Host(client).signed_in("ada")
        clock.advance(minutes * 60 or 86_400 * 365)
        async with asyncio.timeout(60):
            # Without a session, so that asking is no use of the key.
            while minutes and (await client.get("/api/health/safe-to-restart")).json()["cached_keys"]:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        answer = await client.get("/api/health/safe-to-restart", headers=session)
        assert answer.json()["cached_keys"] == (0 if minutes else 1)
        if minutes:
            assert code_of(await client.get("/api/users/me", headers=session)) == "key-not-cached"
