"""Every way in which a run stands still, and how it goes on: nothing is lost, and nothing finished is called again."""

import asyncio
from pathlib import Path

import pytest

from carrel.http.answers.etag import ANY_VERSION
from carrel.runs.engine import commands
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import RunStateConflict, TaskStateConflict
from carrel.runs.progress import store
from tests.support.engine import UUID, EngineHarness, engine_harness, key_of
from tests.support.models import TestModels

SLOW = {"limits": {"concurrency": 2}}


async def calls_repeated(harness: EngineHarness) -> int:
    """Tasks that were called again although an answer was there."""
    rows = await harness.rows(
        "SELECT count(*) FROM (SELECT task_key FROM calls WHERE outcome = 'answered' GROUP BY run_id, task_key"
        " HAVING count(*) > 1)"
    )
    return int(rows[0][0])


async def in_flight(harness: EngineHarness, models: TestModels, **changes: object) -> RunId:
    """A run with two calls in flight that do not come back before the scheduler is opened."""
    models.gate.clear()
    run_id = await harness.start(**(SLOW | changes))
    await models.until(in_flight=2)
    return run_id


async def test_a_pause_keeps_the_results_of_calls_in_flight(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        paused = await harness.write(commands.pause, run_id)
        assert (paused.state, paused.pause_reason, paused.quiesced) == ("paused", "user", False)
        assert not (await harness.run(run_id)).quiesced
        models.gate.set()
        run = await harness.until(run_id, "paused")
        assert (run.progress.succeeded, run.progress.running) == (2, 0)
        await harness.idle()
        assert len(models.asked) == 2
        await harness.write(commands.resume, run_id)
        assert (await harness.ended(run_id)).state == "completed"
        assert await calls_repeated(harness) == 0
        assert len(models.asked) == 12


async def test_a_run_can_be_resumed_before_it_came_to_rest(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.write(commands.pause, run_id)
        await harness.write(commands.resume, run_id)
        models.gate.set()
        assert (await harness.ended(run_id)).state == "completed"
        assert len(models.asked) == 12


async def test_a_pause_in_every_phase_changes_nothing_in_the_end(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(**SLOW)
        pauses = 0
        while (await harness.run(run_id)).state == "running":
            await harness.moved(run_id)
            try:
                await harness.write(commands.pause, run_id)
            except RunStateConflict:
                break
            await harness.until(run_id, "paused")
            pauses += 1
            await harness.write(commands.resume, run_id)
        assert pauses >= 3
        assert (await harness.ended(run_id)).state == "completed"
        assert len(models.asked) == 12


async def test_calls_in_flight_end_before_a_user_leaves_for_another_node_and_none_is_made_twice(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        has_left = asyncio.Event()

        async def leave() -> None:
            async with harness.engine.calls_ended([UUID], 60):
                has_left.set()
                await harness.pool.withdraw(UUID, 1)

        leaving = asyncio.create_task(leave())
        await harness.write(store.get, run_id)
        assert not has_left.is_set()
        models.gate.set()
        await leaving
        assert len(models.asked) == 2
        await harness.pool.announce(UUID)
        assert (await harness.ended(run_id)).state == "completed"
        assert len(models.asked) == 12
        assert await harness.rows("SELECT DISTINCT outcome FROM calls") == [("answered",)]


async def test_calls_that_take_long_keep_no_user_from_leaving(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        async with harness.engine.calls_ended([UUID], 0):
            assert len(models.asked) == 2
        models.gate.set()
        assert (await harness.ended(run_id)).state == "completed"
        assert len(models.asked) == 12


async def test_cancelling_reaches_the_calls_in_flight(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        async with harness.workspace() as workspace:
            run = await harness.engine.cancel(workspace, run_id)
        assert (run.state, run.quiesced) == ("cancelled", True)
        await harness.idle()
        assert (models.cancelled, models.in_flight) == (2, 0)
        assert run.progress.cancelled == 8
        assert run.progress.total == 8
        outcomes = await harness.rows("SELECT DISTINCT outcome FROM calls")
        assert outcomes == [("unknown-outcome",)]
        with pytest.raises(RunStateConflict):
            await harness.write(commands.resume, run_id)


async def test_a_pending_run_can_be_cancelled(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = await harness.make()
        assert (await harness.write(commands.cancel, run_id)).state == "cancelled"


async def test_a_skipped_task_is_left_out_and_its_call_is_cancelled(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        [(key,), _] = await harness.rows("SELECT key FROM tasks WHERE state = 'running' ORDER BY seq")
        async with harness.workspace() as workspace:
            task = await harness.engine.skip(workspace, run_id, key)
        assert (task.state, task.error and task.error.code) == ("skipped", "skipped")
        while models.cancelled < 1:
            await harness.moved(run_id)
        models.gate.set()
        run = await harness.ended(run_id)
        assert run.state == "completed_with_errors"
        assert await harness.rows("SELECT state FROM tasks WHERE key = ?", key) == [("skipped",)]
        # What needs its answer has nothing to judge, and is no call.
        missing = await harness.rows("SELECT key FROM tasks WHERE error = 'answer-missing' ORDER BY seq")
        assert len(missing) == 1 + 2
        with pytest.raises(TaskStateConflict):
            await harness.write(commands.skip, run_id, key)


async def test_a_task_that_was_skipped_and_still_answers_is_not_counted(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        [(key,), _] = await harness.rows("SELECT key FROM tasks WHERE state = 'running' ORDER BY seq")
        # The row alone: as if the answer arrived in the same instant.
        await harness.write(commands.skip, run_id, key)
        models.gate.set()
        await harness.ended(run_id)
        assert await harness.rows(
            "SELECT count(*) FROM generated JOIN tasks ON tasks.seq = task WHERE key = ?", key
        ) == [(0,)]


async def test_losing_the_key_seals_the_run_and_the_next_login_opens_it(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.pool.evict(UUID)
        assert models.in_flight == 0
        assert harness.engine.active_runs == 0
        models.gate.set()
        await harness.sign_in()
        rows = await harness.rows("SELECT code FROM run_log WHERE event = 'run-paused'")
        assert rows == [("key-absent",)]
        assert (await harness.ended(run_id)).state == "completed"
        outcomes = await harness.rows("SELECT outcome, count(*) FROM calls GROUP BY outcome ORDER BY outcome")
        assert outcomes == [("answered", 12), ("unknown-outcome", 2)]
        assert await calls_repeated(harness) == 0


async def test_a_rekey_lets_calls_in_flight_finish_and_goes_on_with_the_new_key(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        models.gate.set()
        await harness.pool.rekey(UUID, key_of(), key_of("second"), lambda: None)
        assert (await harness.ended(run_id)).state == "completed"
        assert len(models.asked) == 12
        assert await harness.rows("SELECT count(*) FROM run_log WHERE event = 'run-paused'") == [(0,)]
        await harness.pool.evict(UUID)
        await harness.sign_in("second")
        assert (await harness.run(run_id)).state == "completed"


async def test_a_call_that_outlasts_the_timeout_of_a_rekey_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.runs.engine.engine.REKEY_SECONDS", 0.05)
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.pool.rekey(UUID, key_of(), key_of("second"), lambda: None)
        assert models.cancelled == 2
        models.gate.set()
        assert (await harness.ended(run_id)).state == "completed"
        outcomes = await harness.rows("SELECT outcome, count(*) FROM calls GROUP BY outcome ORDER BY outcome")
        assert outcomes == [("answered", 12), ("unknown-outcome", 2)]


async def test_a_rekey_that_fails_lets_the_run_go_on(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        models.gate.set()
        with pytest.raises(Exception, match="key-rejected"):
            await harness.pool.rekey(UUID, key_of("wrong"), key_of("second"), lambda: None)
        assert (await harness.ended(run_id)).state == "completed"


async def test_deleting_the_user_cancels_the_run(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        await in_flight(harness, models)
        await harness.pool.destroy(UUID, lambda: None)
        assert (models.in_flight, harness.engine.active_runs) == (0, 0)


async def test_the_end_of_a_membership_pauses_the_runs(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.engine.deactivated(UUID)
        models.gate.set()
        run = await harness.until(run_id, "paused")
        assert (run.pause_reason, run.progress.succeeded) == ("membership", 2)
        await harness.sign_in()
        assert (await harness.run(run_id)).state == "paused"
        await harness.write(commands.resume, run_id)
        assert (await harness.ended(run_id)).state == "completed"


async def test_a_key_that_leaves_while_a_run_is_paused_puts_its_calls_back(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.write(commands.pause, run_id)
        await harness.pool.evict(UUID)
        models.gate.set()
        await harness.sign_in()
        run = await harness.run(run_id)
        assert (run.state, run.pause_reason, run.quiesced) == ("paused", "user", True)
        await harness.write(commands.resume, run_id)
        assert (await harness.ended(run_id)).state == "completed"


async def test_a_second_login_leaves_a_run_alone(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.sign_in()
        models.gate.set()
        assert (await harness.ended(run_id)).state == "completed"
        assert len(models.asked) == 12


async def test_whoever_starts_a_run_and_goes_away_has_started_it(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = await harness.make()
        starting = asyncio.create_task(harness.write(commands.start, run_id))
        await asyncio.sleep(0)
        starting.cancel()
        await asyncio.wait([starting])
        assert (await harness.ended(run_id)).state == "completed"


async def test_a_paused_run_can_be_deleted_while_its_calls_are_in_flight(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.write(commands.pause, run_id)
        await harness.write(store.delete, run_id, ANY_VERSION)
        models.gate.set()
        await harness.idle()
        assert await harness.rows("SELECT count(*) FROM tasks") == [(0,)]
        # What was called stays on the books.
        assert await harness.rows("SELECT outcome, count(*) FROM calls GROUP BY outcome") == [("answered", 2)]


@pytest.mark.parametrize("end", ["evict", "stop", "die"])
async def test_calls_of_a_deleted_run_that_nobody_waits_for_any_more_are_not_under_way_for_ever(
    tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.runs.engine.engine.STOP_SECONDS", 0.05)
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await in_flight(harness, models)
        await harness.write(commands.pause, run_id)
        await harness.write(store.delete, run_id, ANY_VERSION)
        if end == "evict":
            await harness.pool.evict(UUID)
            await harness.sign_in()
        else:
            await (harness.end() if end == "stop" else harness.die())
            await harness.restart()
        assert await harness.rows("SELECT outcome, finished_at IS NULL FROM calls") == [("unknown-outcome", 0)] * 2
