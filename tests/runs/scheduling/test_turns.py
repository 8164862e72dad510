"""Runs share the permits of the process: turns between users, limits of providers, and rest between attempts."""

import asyncio
from pathlib import Path

import pytest

from carrel.providers.base import Answer, GenerateMatter, ModelRequest, ProviderError
from carrel.runs.engine import commands
from tests.support.engine import UUID, EngineHarness, engine_harness, key_of
from tests.support.models import TestModels, fails, honest


async def test_a_provider_has_no_more_calls_at_once_than_its_limit(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models, limits={"test": 2}) as harness:
        run = await harness.finished(documents=6, limits={"concurrency": 12})
        assert (run.state, models.most_in_flight) == ("completed", 2)
        await harness.idle()
        assert harness.scheduler.taken == 0


async def test_models_of_a_full_provider_do_not_hold_up_those_of_another(tmp_path: Path) -> None:
    models = TestModels()
    models.gate.clear()
    async with engine_harness(tmp_path, models, limits={"test": 1}) as harness:
        run_id = await harness.start(documents=4, models=("test:one", "local:lead"), limits={"concurrency": 8})
        async with asyncio.timeout(60):
            while await harness.rows("SELECT count(*) FROM generated") != [(4,)]:
                await harness.moved(run_id)
        assert models.in_flight == 1
        models.gate.set()
        assert (await harness.ended(run_id)).state == "completed"


async def test_every_slot_comes_back_whatever_becomes_of_a_run(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        permits = harness.scheduler
        models.gate.clear()
        runs = [await harness.start(documents=8, limits={"concurrency": 12}) for _ in range(3)]
        await models.until(in_flight=16)
        await harness.write(commands.pause, runs[0])
        async with harness.workspace() as workspace:
            await harness.engine.cancel(workspace, runs[1])
        await harness.pool.evict(UUID)
        assert (permits.taken, models.in_flight) == (0, 0)
        models.gate.set()
        await harness.sign_in()
        assert (await harness.ended(runs[2])).state == "completed"
        await harness.idle()
        assert permits.taken == 0


class Once:
    """Fails the first time, with a word about when to come again."""

    def __init__(self) -> None:
        self.failed = False

    def __call__(self, request: ModelRequest) -> Answer:
        if not self.failed:
            self.failed = True
            return fails("provider-overloaded")
        return honest(request)


async def resting(harness: EngineHarness) -> None:
    async with asyncio.timeout(60):
        while not harness.naps:
            await asyncio.sleep(0.001)


async def never(harness: EngineHarness, seconds: float) -> None:
    harness.naps.append(seconds)
    await asyncio.Event().wait()


async def test_what_happens_to_other_runs_does_not_shorten_the_rest_between_two_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EngineHarness, "nap", never)
    models = TestModels(Once())
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(documents=1, limits={"concurrency": 1})
        await resting(harness)
        other = await harness.make()
        await harness.write(commands.cancel, other)
        # Time for everything that was woken.
        for _ in range(20):
            await harness.moved(run_id)
        assert len(models.asked) == 1


async def test_a_pause_ends_the_rest_and_leaves_nothing_in_flight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EngineHarness, "nap", never)
    models = TestModels(Once())
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(documents=1, limits={"concurrency": 1})
        await resting(harness)
        await harness.write(commands.pause, run_id)
        run = await harness.until(run_id, "paused")
        assert run.quiesced
        await harness.write(commands.resume, run_id)
        assert (await harness.ended(run_id)).state == "completed"


async def test_a_task_that_rests_at_a_rekey_has_lost_no_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EngineHarness, "nap", never)
    models = TestModels(Once())
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(documents=1, limits={"concurrency": 1})
        await resting(harness)
        await harness.pool.rekey(UUID, key_of(), key_of("second"), lambda: None)
        assert (await harness.ended(run_id)).state == "completed"
        assert await harness.rows("SELECT 1 FROM run_log WHERE event = 'attempt-lost'") == []


class Strict:
    """One provider wants to be left alone by the first calls; what the others do is no concern of it."""

    def __init__(self, times: int = 1) -> None:
        self.left = times

    def __call__(self, request: ModelRequest) -> Answer:
        if isinstance(request.matter, GenerateMatter) and self.left:
            self.left -= 1
            raise ProviderError("rate-limited", retryable=True, retry_after_seconds=3_600.0, unbilled=True)
        return honest(request)


async def test_a_provider_that_asks_to_wait_does_not_hold_the_run_at_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EngineHarness, "nap", never)
    async with engine_harness(tmp_path, TestModels(Strict(times=2))) as harness:
        await harness.start(documents=2, models=("test:one", "local:lead"), limits={"concurrency": 1})
        async with asyncio.timeout(60):
            while await harness.rows("SELECT count(*) FROM generated") != [(2,)]:
                await asyncio.sleep(0.01)
        assert harness.naps[0] >= 3_600
        assert await harness.rows("SELECT count(*) FROM tasks WHERE state = 'running'") == [(2,)]


async def test_those_that_come_back_from_a_rest_keep_to_the_runs_calls_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    awake = asyncio.Event()

    async def nap(harness: EngineHarness, seconds: float) -> None:
        harness.naps.append(seconds)
        await awake.wait()

    monkeypatch.setattr(EngineHarness, "nap", nap)
    models = TestModels(Strict(times=6))
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(documents=6, limits={"concurrency": 2})
        async with asyncio.timeout(60):
            while await harness.rows("SELECT count(*) FROM generated") != [(6,)]:
                await asyncio.sleep(0.01)
        models.gate.clear()
        awake.set()
        await models.until(in_flight=2)
        for _ in range(20):
            await harness.moved(run_id)
        assert models.in_flight == 2
        models.gate.set()
        assert (await harness.ended(run_id)).state == "completed"
        assert models.most_in_flight == 2
        await harness.idle()
        assert harness.scheduler.taken == 0
