"""The end of a process in the middle of a run, and the next one over the same file."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from carrel.errors import DiskFull
from carrel.http.answers.etag import ANY_VERSION
from carrel.kit.sqlite.database import Connection
from carrel.providers.base import Answer, ModelRequest
from carrel.runs.engine import commands
from carrel.runs.tasks import outcomes
from carrel.settings import store as settings_store
from carrel.settings.schemas import UserSettings
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import TestModels, fails, honest


async def in_flight(harness: EngineHarness, models: TestModels) -> Any:
    models.gate.clear()
    run_id = await harness.start(limits={"concurrency": 2})
    await models.until(in_flight=2)
    return run_id


async def resume_after_restart(harness: EngineHarness, wanted: bool) -> None:
    await harness.write(settings_store.put, UserSettings(resume_after_restart=wanted), ANY_VERSION, harness.registry)


async def test_a_run_goes_on_after_the_process_died_under_it(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.die()
        models.gate.set()
        await harness.restart()
        run = await harness.ended(run_id)
        assert run.state == "completed"
        rows = await harness.rows(
            "SELECT event, code FROM run_log WHERE event IN ('run-paused', 'run-resumed') ORDER BY seq"
        )
        assert rows == [("run-paused", "service-restarted"), ("run-resumed", None)]
        assert await harness.rows("SELECT count(*) FROM run_log WHERE event = 'attempt-lost'") == [(2,)]
        assert await harness.rows("SELECT outcome, count(*) FROM calls GROUP BY outcome ORDER BY outcome") == [
            ("answered", 12),
            ("unknown-outcome", 2),
        ]
        # Nobody knows whether the lost calls were made, but here they cost nothing.
        assert run.spend.unknown_calls == 0


async def test_a_run_waits_for_its_user_if_the_settings_say_so(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        await resume_after_restart(harness, False)
        run_id = await in_flight(harness, models)
        await harness.die()
        models.gate.set()
        await harness.restart()
        run = await harness.run(run_id)
        assert (run.state, run.pause_reason, run.quiesced) == ("paused", "service-restarted", True)
        await harness.write(commands.resume, run_id)
        assert (await harness.ended(run_id)).state == "completed"


async def test_an_orderly_end_pauses_runs_and_keeps_what_comes_back_in_time(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        await resume_after_restart(harness, False)
        run_id = await in_flight(harness, models)
        ending = asyncio.create_task(harness.end())
        await asyncio.sleep(0)
        models.gate.set()
        await ending
        await harness.restart()
        run = await harness.run(run_id)
        assert (run.state, run.pause_reason, run.quiesced) == ("paused", "service-stopped", True)
        assert run.progress.succeeded == 2
        await harness.write(commands.resume, run_id)
        assert (await harness.ended(run_id)).state == "completed"
        assert len(models.asked) == 12


async def test_an_orderly_end_does_not_wait_for_slow_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.runs.engine.engine.STOP_SECONDS", 0.05)
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.end()
        assert models.cancelled == 2
        models.gate.set()
        await harness.restart()
        assert (await harness.ended(run_id)).state == "completed"


async def test_a_user_s_own_pause_outlasts_restarts(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.write(commands.pause, run_id)
        await harness.die()
        models.gate.set()
        await harness.restart()
        run = await harness.run(run_id)
        assert (run.state, run.pause_reason, run.quiesced) == ("paused", "user", True)


async def test_a_lost_call_of_unknown_price_is_counted(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.write(lambda conn: conn.run("UPDATE calls SET cost_micros = NULL WHERE outcome = 'running'"))
        await harness.die()
        models.gate.set()
        await harness.restart()
        assert (await harness.ended(run_id)).spend.unknown_calls == 2


async def test_only_a_call_in_flight_is_lost_not_one_that_had_failed_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that waits for its next attempt when the process dies has nothing in flight."""
    waiting = asyncio.Event()

    async def wait(self: EngineHarness, seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(EngineHarness, "nap", wait)
    failing = {"d1": True}
    models = TestModels(lambda request: fails("provider-overloaded") if failing.pop("d1", False) else honest(request))
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(limits={"concurrency": 1})
        await asyncio.wait_for(waiting.wait(), 60)
        # The next task is claimed while the failed one waits.
        await harness.die()
        await harness.restart()
        assert (await harness.ended(run_id)).state == "completed"
        lost = await harness.rows("SELECT task_key, attempt, code FROM run_log WHERE event = 'attempt-lost'")
        assert lost == await harness.rows(
            "SELECT task_key, attempt, outcome FROM calls WHERE outcome = 'unknown-outcome' ORDER BY seq"
        )
        assert "r1.generate.d1.c1.s1" not in [key for key, _, _ in lost]
        assert await harness.rows("SELECT outcome FROM calls WHERE task_key = 'r1.generate.d1.c1.s1' ORDER BY seq") == [
            ("failed",),
            ("answered",),
        ]


async def test_a_full_disk_makes_a_run_wait_not_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = TestModels()
    full = 3

    def refuse(conn: Connection, *args: Any) -> Any:
        nonlocal full
        full -= 1
        if full >= 0:
            raise DiskFull
        return _COMMIT(conn, *args)

    monkeypatch.setattr(outcomes, "commit", refuse)
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start()
        run = await harness.ended(run_id)
        assert run.state == "completed"
        assert harness.naps
        assert await harness.rows("SELECT count(*) FROM tasks WHERE state <> 'succeeded'") == [(0,)]


_COMMIT = outcomes.commit


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_fault_of_ours_pauses_the_run_instead_of_losing_it(tmp_path: Path) -> None:
    def broken(_: ModelRequest) -> Answer:
        raise ZeroDivisionError

    models = TestModels(broken)
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start()
        run = await harness.until(run_id, "paused")
        assert run.pause_reason == "service-stopped"
        await harness.idle()
        models.script = honest
        await harness.write(commands.resume, run_id)
        assert (await harness.ended(run_id)).state == "completed"
