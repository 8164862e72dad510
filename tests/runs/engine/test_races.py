"""Moves that meet the engine between two of its steps: nothing is called twice, and no round ends another."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from carrel.errors import DiskFull, Unavailable
from carrel.http.answers.etag import ANY_VERSION
from carrel.kit.sqlite.database import Connection
from carrel.runs.engine import commands, reevaluate
from carrel.runs.engine.payer import Payer
from carrel.runs.model.schemas import ReevaluateIn, Run
from carrel.runs.progress import store
from carrel.runs.tasks import outcomes, transitions
from carrel.vault.pool import WorkspaceBusy, WorkspacePool
from tests.support.engine import UUID, EngineHarness, WorkerHere, engine_harness, key_of
from tests.support.models import TestModels
from tests.support.workspace import SETTINGS

_COMMIT = outcomes.commit


class Napping:
    """Every nap of the engine begins, and lasts until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = asyncio.Event()
        self.over = asyncio.Event()
        monkeypatch.setattr(EngineHarness, "nap", lambda _, seconds: self.nap())

    async def nap(self) -> None:
        self.begun.set()
        await self.over.wait()


def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first result does not go onto the disk."""
    left = 1

    def refuse(conn: Connection, *args: Any) -> Any:
        nonlocal left
        left -= 1
        if left >= 0:
            raise DiskFull
        return _COMMIT(conn, *args)

    monkeypatch.setattr(outcomes, "commit", refuse)


async def test_a_run_that_waits_for_room_on_the_disk_is_not_set_out_on_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    napping = Napping(monkeypatch)
    full_disk(monkeypatch)
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(limits={"concurrency": 1})
        await asyncio.wait_for(napping.begun.wait(), 60)
        asked = len(models.asked)
        models.gate.clear()
        # Any change of a run makes the engine look at which runs are under way.
        for _ in range(20):
            await harness.write(lambda conn: None)
        assert (len(models.asked), harness.engine.active_runs) == (asked, 1)
        models.gate.set()
        napping.over.set()
        assert (await harness.ended(run_id)).state == "completed"
        # One answer was lost with the disk, and that task alone was called again.
        assert len(models.asked) == 12 + 1


async def test_a_run_that_waits_for_room_on_the_disk_can_be_paused_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    napping = Napping(monkeypatch)
    full_disk(monkeypatch)
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(limits={"concurrency": 1})
        await asyncio.wait_for(napping.begun.wait(), 60)
        await harness.write(commands.pause, run_id)
        await harness.write(commands.resume, run_id)
        napping.over.set()
        assert (await harness.ended(run_id)).state == "completed"
        assert len(models.asked) == 12 + 1


@pytest.mark.parametrize("move", ["cancel", "skip"])
async def test_what_is_given_up_between_its_claim_and_its_call_is_not_called_and_was_never_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, move: str
) -> None:
    claimed, go_on = asyncio.Event(), asyncio.Event()
    reserve = Payer.reserve

    async def slowly(self: Payer, attempts: Any) -> Any:
        claimed.set()
        await go_on.wait()
        return await reserve(self, attempts)

    monkeypatch.setattr(Payer, "reserve", slowly)
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(limits={"concurrency": 1})
        await asyncio.wait_for(claimed.wait(), 60)
        async with harness.workspace() as workspace:
            if move == "skip":
                await harness.engine.skip(workspace, run_id, "r1.generate.d1.c1.s1")
                await harness.write(commands.pause, run_id)
            else:
                await harness.engine.cancel(workspace, run_id)
        go_on.set()
        await harness.idle()
        assert (len(models.asked), harness.scheduler.taken) == (0, 0)
        assert await harness.rows("SELECT outcome FROM calls") == []
        assert await harness.rows("SELECT key FROM tasks WHERE attempts > 0") == []
        assert await harness.rows("SELECT task_key FROM run_log WHERE event = 'attempt-lost'") == []


async def test_who_puts_a_task_back_too_late_leaves_its_next_attempt_alone(tmp_path: Path) -> None:
    models = TestModels()
    models.gate.clear()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(limits={"concurrency": 1})
        await models.until(in_flight=1)
        running = "SELECT run, seq, attempts FROM tasks WHERE state = 'running'"
        [(run, task, attempt)] = await harness.rows(running)
        await harness.write(transitions.put_back, run, task, attempt - 1)
        assert await harness.rows(running) == [(run, task, attempt)]
        models.gate.set()
        assert (await harness.ended(run_id)).state == "completed"


async def test_what_is_cancelled_during_its_call_is_lost(tmp_path: Path) -> None:
    models = TestModels()
    models.gate.clear()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(limits={"concurrency": 2})
        await models.until(in_flight=2)
        async with harness.workspace() as workspace:
            await harness.engine.cancel(workspace, run_id)
        await harness.idle()
        assert models.cancelled == 2
        assert await harness.rows("SELECT outcome, count(*) FROM calls GROUP BY 1") == [("unknown-outcome", 2)]
        assert await harness.rows("SELECT count(*) FROM run_log WHERE event = 'attempt-lost'") == [(2,)]


async def test_a_run_that_cannot_commit_while_a_rekey_waits_for_it_does_not_wait_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    napping = Napping(monkeypatch)
    full_disk(monkeypatch)
    models = TestModels()
    models.gate.clear()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(limits={"concurrency": 1})
        await models.until(in_flight=1)
        rekey = asyncio.create_task(harness.pool.rekey(UUID, key_of(), key_of("second"), lambda: None))
        while (lent := harness.pool.try_lease(UUID)) is not None:
            harness.pool.release(lent)
            await asyncio.sleep(0)
        models.gate.set()
        await asyncio.wait_for(rekey, 5)
        assert not napping.begun.is_set()
        assert (await harness.ended(run_id)).state == "completed"
        assert len(models.asked) == 12 + 1


async def test_what_could_not_be_put_back_before_a_rekey_is_put_back_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.runs.engine.engine.REKEY_SECONDS", 0.05)
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        models.gate.clear()
        run_id = await harness.start(limits={"concurrency": 2})
        await models.until(in_flight=2)

        def refuse(*_: Any) -> None:
            raise DiskFull

        with monkeypatch.context() as full:
            full.setattr(commands, "put_back", refuse)
            await harness.pool.rekey(UUID, key_of(), key_of("second"), lambda: None)
        models.gate.set()
        run = await harness.ended(run_id)
        assert (run.state, run.progress.succeeded, run.progress.running) == ("completed", 12, 0)


async def test_a_run_can_be_started_after_a_rekey_that_nobody_could_be_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = await harness.make()
        with monkeypatch.context() as full:

            async def busy(*_: object) -> None:
                raise WorkspaceBusy

            full.setattr(WorkspacePool, "_make_room", busy)
            await harness.pool.rekey(UUID, key_of(), key_of("second"), lambda: None)
        await harness.write(commands.start, run_id)
        assert (await harness.ended(run_id)).state == "completed"


async def test_a_round_that_is_being_ranked_does_not_end_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranking, go_on = asyncio.Event(), asyncio.Event()
    here = WorkerHere.run

    async def slowly(self: WorkerHere, fn: Any, *args: object, timeout_seconds: float | None = None) -> Any:
        ranking.set()
        await go_on.wait()
        return await here(self, fn, *args)

    monkeypatch.setattr(WorkerHere, "run", slowly)
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start()
        await asyncio.wait_for(ranking.wait(), 60)
        await harness.write(commands.cancel, run_id)
        await harness.write(reevaluate.reevaluate, run_id, ReevaluateIn(), harness.registry, SETTINGS)
        go_on.set()
        run = await harness.ended(run_id)
        assert (run.round, run.state, run.progress.succeeded) == (2, "completed", 8)
        assert await harness.rows("SELECT round FROM run_rankings ORDER BY round") == [(2,)]


async def test_a_start_that_meets_the_end_of_the_service_is_refused(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.make()
        await harness.engine.stop()
        async with harness.workspace() as workspace:
            with pytest.raises(Unavailable):
                await harness.engine.begin(workspace, commands.start, run_id)
        assert ((await harness.run(run_id)).state, len(models.asked)) == ("pending", 0)


async def test_a_start_under_way_when_the_service_stops_is_paused_before_it_has_stopped(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slowly(conn: Connection, run_id: Any) -> Run:
        run = commands.start(conn, run_id)
        begun.set()
        assert go_on.wait(60)
        return run

    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.make()
        async with harness.workspace() as workspace:
            starting = asyncio.create_task(harness.engine.begin(workspace, slowly, run_id))
            await asyncio.to_thread(begun.wait, 60)
            stopping = asyncio.create_task(harness.engine.stop())
            await asyncio.sleep(0)
            go_on.set()
            await stopping
            run = await harness.run(run_id)
            await starting
        assert (run.state, run.pause_reason, len(models.asked)) == ("paused", "service-stopped", 0)


async def test_a_sign_in_while_the_service_stops_lets_nothing_go_on(tmp_path: Path) -> None:
    models = TestModels()
    models.gate.clear()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(limits={"concurrency": 2})
        await models.until(in_flight=2)
        await harness.die()
        harness.open()
        await harness.engine.stop()
        await harness.sign_in()
        run = await harness.run(run_id)
        assert (run.state, harness.engine.active_runs) == ("paused", 0)


async def test_a_call_of_a_deleted_run_changes_nothing_in_the_run_that_got_its_rows(tmp_path: Path) -> None:
    models = TestModels()
    models.gate.clear()
    async with engine_harness(tmp_path, models) as harness:
        deleted = await harness.start(limits={"concurrency": 2})
        await models.until(in_flight=2)
        await harness.write(commands.pause, deleted)
        await harness.write(store.delete, deleted, ANY_VERSION)
        run_id = await harness.start(limits={"concurrency": 2})
        await models.until(in_flight=4)
        # The calls of the deleted run end first.
        models.gate.set()
        assert (await harness.ended(run_id)).state == "completed"
        await harness.idle()
        assert await harness.rows("SELECT count(*), sum(attempts) FROM tasks") == [(12, 12)]
        assert await harness.rows("SELECT count(*), count(DISTINCT task) FROM generated") == [(4, 4)]
        assert await harness.rows("SELECT outcome, count(*) FROM calls GROUP BY 1") == [("answered", 12 + 2)]
