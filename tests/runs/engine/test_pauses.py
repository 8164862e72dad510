"""Every way in which a run stands still, and how it goes on: nothing is lost, and nothing finished is called again."""

import asyncio
from pathlib import Path

import pytest

from carrel.kit.http.etag import ANY_VERSION
from carrel.runs.engine import commands
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import RunStateConflict, TaskStateConflict
from carrel.runs.progress import store
from tests.support.engine import UUID, Bench, bench, key_of
from tests.support.models import TestModels

SLOW = {"limits": {"concurrency": 2}}


async def calls_repeated(desk: Bench) -> int:
    """Tasks that were called again although an answer was there."""
    rows = await desk.rows(
        "SELECT count(*) FROM (SELECT task_key FROM calls WHERE outcome = 'answered' GROUP BY run_id, task_key"
        " HAVING count(*) > 1)"
    )
    return int(rows[0][0])


async def in_flight(desk: Bench, models: TestModels, **changes: object) -> RunId:
    """A run with two calls in flight that do not come back before the scheduler is opened."""
    models.gate.clear()
    run_id = await desk.start(**(SLOW | changes))
    await models.until(in_flight=2)
    return run_id


async def test_a_pause_keeps_the_results_of_calls_in_flight(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        paused = await desk.write(commands.pause, run_id)
        assert (paused.state, paused.pause_reason, paused.quiesced) == ("paused", "user", False)
        assert not (await desk.run(run_id)).quiesced
        models.gate.set()
        run = await desk.until(run_id, "paused")
        assert (run.progress.succeeded, run.progress.running) == (2, 0)
        await desk.idle()
        assert len(models.asked) == 2
        await desk.write(commands.resume, run_id)
        assert (await desk.ended(run_id)).state == "completed"
        assert await calls_repeated(desk) == 0
        assert len(models.asked) == 12


async def test_a_run_can_be_resumed_before_it_came_to_rest(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        await desk.write(commands.pause, run_id)
        await desk.write(commands.resume, run_id)
        models.gate.set()
        assert (await desk.ended(run_id)).state == "completed"
        assert len(models.asked) == 12


async def test_a_pause_in_every_phase_changes_nothing_in_the_end(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await desk.start(**SLOW)
        pauses = 0
        while (await desk.run(run_id)).state == "running":
            await desk.moved(run_id)
            try:
                await desk.write(commands.pause, run_id)
            except RunStateConflict:
                break
            await desk.until(run_id, "paused")
            pauses += 1
            await desk.write(commands.resume, run_id)
        assert pauses >= 3
        assert (await desk.ended(run_id)).state == "completed"
        assert len(models.asked) == 12


async def test_cancelling_reaches_the_calls_in_flight(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        async with desk.workspace() as workspace:
            run = await desk.engine.cancel(workspace, run_id)
        assert (run.state, run.quiesced) == ("cancelled", True)
        await desk.idle()
        assert (models.cancelled, models.in_flight) == (2, 0)
        assert run.progress.cancelled == 8
        assert run.progress.total == 8
        outcomes = await desk.rows("SELECT DISTINCT outcome FROM calls")
        assert outcomes == [("unknown-outcome",)]
        with pytest.raises(RunStateConflict):
            await desk.write(commands.resume, run_id)


async def test_a_pending_run_can_be_cancelled(tmp_path: Path) -> None:
    async with bench(tmp_path, TestModels()) as desk:
        run_id = await desk.make()
        assert (await desk.write(commands.cancel, run_id)).state == "cancelled"


async def test_a_skipped_task_is_left_out_and_its_call_is_cancelled(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        [(key,), _] = await desk.rows("SELECT key FROM tasks WHERE state = 'running' ORDER BY seq")
        async with desk.workspace() as workspace:
            task = await desk.engine.skip(workspace, run_id, key)
        assert (task.state, task.error and task.error.code) == ("skipped", "skipped")
        while models.cancelled < 1:
            await desk.moved(run_id)
        models.gate.set()
        run = await desk.ended(run_id)
        assert run.state == "completed_with_errors"
        assert await desk.rows("SELECT state FROM tasks WHERE key = ?", key) == [("skipped",)]
        # What needs its answer has nothing to judge, and is no call.
        missing = await desk.rows("SELECT key FROM tasks WHERE error = 'answer-missing' ORDER BY seq")
        assert len(missing) == 1 + 2
        with pytest.raises(TaskStateConflict):
            await desk.write(commands.skip, run_id, key)


async def test_a_task_that_was_skipped_and_still_answers_is_not_counted(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        [(key,), _] = await desk.rows("SELECT key FROM tasks WHERE state = 'running' ORDER BY seq")
        # The row alone: as if the answer arrived in the same instant.
        await desk.write(commands.skip, run_id, key)
        models.gate.set()
        await desk.ended(run_id)
        assert await desk.rows("SELECT count(*) FROM generated JOIN tasks ON tasks.seq = task WHERE key = ?", key) == [
            (0,)
        ]


async def test_losing_the_key_seals_the_run_and_the_next_login_opens_it(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        await desk.pool.evict(UUID)
        assert models.in_flight == 0
        assert desk.engine.active_runs == 0
        models.gate.set()
        await desk.sign_in()
        rows = await desk.rows("SELECT code FROM run_log WHERE event = 'run-paused'")
        assert rows == [("key-absent",)]
        assert (await desk.ended(run_id)).state == "completed"
        outcomes = await desk.rows("SELECT outcome, count(*) FROM calls GROUP BY outcome ORDER BY outcome")
        assert outcomes == [("answered", 12), ("unknown-outcome", 2)]
        assert await calls_repeated(desk) == 0


async def test_a_wrong_key_at_login_seals_the_run(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        with pytest.raises(Exception, match="key-rejected"):
            await desk.pool.admit(UUID, key_of("wrong"), create=False)
        models.gate.set()
        await desk.sign_in()
        assert (await desk.ended(run_id)).state == "completed"


async def test_a_rekey_lets_calls_in_flight_finish_and_goes_on_with_the_new_key(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        models.gate.set()
        await desk.pool.rekey(UUID, key_of(), key_of("second"), lambda: None)
        assert (await desk.ended(run_id)).state == "completed"
        assert len(models.asked) == 12
        assert await desk.rows("SELECT count(*) FROM run_log WHERE event = 'run-paused'") == [(0,)]
        await desk.pool.evict(UUID)
        await desk.sign_in("second")
        assert (await desk.run(run_id)).state == "completed"


async def test_a_call_that_outlasts_the_patience_of_a_rekey_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.runs.engine.engine.REKEY_SECONDS", 0.05)
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        await desk.pool.rekey(UUID, key_of(), key_of("second"), lambda: None)
        assert models.cancelled == 2
        models.gate.set()
        assert (await desk.ended(run_id)).state == "completed"
        outcomes = await desk.rows("SELECT outcome, count(*) FROM calls GROUP BY outcome ORDER BY outcome")
        assert outcomes == [("answered", 12), ("unknown-outcome", 2)]


async def test_a_rekey_that_fails_lets_the_run_go_on(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        models.gate.set()
        with pytest.raises(Exception, match="key-rejected"):
            await desk.pool.rekey(UUID, key_of("wrong"), key_of("second"), lambda: None)
        assert (await desk.ended(run_id)).state == "completed"


async def test_deleting_the_user_cancels_the_run(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        await in_flight(desk, models)
        await desk.pool.destroy(UUID, lambda: None)
        assert (models.in_flight, desk.engine.active_runs) == (0, 0)


async def test_the_end_of_a_membership_pauses_the_runs(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        await desk.engine.deactivated(UUID)
        models.gate.set()
        run = await desk.until(run_id, "paused")
        assert (run.pause_reason, run.progress.succeeded) == ("membership", 2)
        await desk.sign_in()
        assert (await desk.run(run_id)).state == "paused"
        await desk.write(commands.resume, run_id)
        assert (await desk.ended(run_id)).state == "completed"


async def test_a_key_that_leaves_while_a_run_is_paused_puts_its_calls_back(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        await desk.write(commands.pause, run_id)
        await desk.pool.evict(UUID)
        models.gate.set()
        await desk.sign_in()
        run = await desk.run(run_id)
        assert (run.state, run.pause_reason, run.quiesced) == ("paused", "user", True)
        await desk.write(commands.resume, run_id)
        assert (await desk.ended(run_id)).state == "completed"


async def test_a_second_login_leaves_a_run_alone(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        await desk.sign_in()
        models.gate.set()
        assert (await desk.ended(run_id)).state == "completed"
        assert len(models.asked) == 12


async def test_whoever_starts_a_run_and_goes_away_has_started_it(tmp_path: Path) -> None:
    async with bench(tmp_path, TestModels()) as desk:
        run_id = await desk.make()
        starting = asyncio.create_task(desk.write(commands.start, run_id))
        await asyncio.sleep(0)
        starting.cancel()
        await asyncio.wait([starting])
        assert (await desk.ended(run_id)).state == "completed"


async def test_a_paused_run_can_be_deleted_while_its_calls_are_in_flight(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        await desk.write(commands.pause, run_id)
        await desk.write(store.delete, run_id, ANY_VERSION)
        models.gate.set()
        await desk.idle()
        assert await desk.rows("SELECT count(*) FROM tasks") == [(0,)]
        # What was called stays on the books.
        assert await desk.rows("SELECT outcome, count(*) FROM calls GROUP BY outcome") == [("answered", 2)]


@pytest.mark.parametrize("end", ["evict", "stop", "die"])
async def test_calls_of_a_deleted_run_that_nobody_waits_for_any_more_are_not_under_way_for_ever(
    tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.runs.engine.engine.STOP_SECONDS", 0.05)
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run_id = await in_flight(desk, models)
        await desk.write(commands.pause, run_id)
        await desk.write(store.delete, run_id, ANY_VERSION)
        if end == "evict":
            await desk.pool.evict(UUID)
            await desk.sign_in()
        else:
            await (desk.end() if end == "stop" else desk.die())
            await desk.restart()
        assert await desk.rows("SELECT outcome, finished_at IS NULL FROM calls") == [("unknown-outcome", 0)] * 2
