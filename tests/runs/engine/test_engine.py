"""A run from start to end: what is called, in which order, and what is left in the rows."""

import asyncio
from collections.abc import Collection
from pathlib import Path

import pytest

from carrel.kit.sqlite.database import Connection
from carrel.presets.configuration import Judge
from carrel.providers.base import Answer, ModelRequest
from carrel.runs.creation import snapshot
from carrel.runs.engine import commands, reevaluate
from carrel.runs.model.schemas import ReevaluateIn, Run, RunIn
from carrel.runs.model.setup import RunId
from tests.support.engine import engine_harness, small_configuration
from tests.support.models import TestModels, honest
from tests.support.workspace import SETTINGS


async def test_a_run_goes_from_start_to_a_verdict(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run = await harness.finished()
        assert run.state == "completed"
        assert run.quiesced
        assert run.progress.percent == 100
        assert (run.progress.total, run.progress.succeeded) == (12, 12)
        assert run.verdict
        assert (run.started_at, run.finished_at) != (None, None)
        assert len(models.asked) == 12
        await harness.idle()
        rounds = await harness.rows("SELECT to_come, finished_at IS NOT NULL FROM run_rounds")
        assert rounds == [(0, 1)]


async def test_phases_follow_each_other_and_tasks_the_plan(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        await harness.finished(limits={"concurrency": 1})
        begun = [key for (key,) in await harness.rows("SELECT task_key FROM calls ORDER BY seq")]
        planned = [key for (key,) in await harness.rows("SELECT key FROM tasks ORDER BY seq")]
        assert begun == planned
        events = [(event, code) for event, code in await harness.rows("SELECT event, code FROM run_log WHERE task_key IS NULL ORDER BY seq")]  # fmt: skip # noqa: E501
        assert events == [
            ("run-created", None),
            ("run-started", None),
            ("round-started", None),
            ("phase-started", "generate"),
            ("phase-started", "score"),
            ("phase-started", "compare"),
            ("run-finished", None),
        ]


async def test_no_more_calls_are_in_flight_than_the_run_allows(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        await harness.finished(documents=6, limits={"concurrency": 3})
        assert models.most_in_flight == 3


async def test_all_runs_together_make_no_more_calls_than_the_process_allows(tmp_path: Path) -> None:
    models = TestModels()
    models.gate.clear()
    async with engine_harness(tmp_path, models) as harness:
        runs = [await harness.start(documents=8, limits={"concurrency": 12}) for _ in range(3)]
        await models.until(in_flight=16)
        working = await harness.rows("SELECT DISTINCT run_id FROM calls WHERE outcome = 'running'")
        models.gate.set()
        for run_id in runs:
            assert (await harness.ended(run_id)).state == "completed"
        assert models.most_in_flight == 16
        # Nobody is left waiting while another run takes every place.
        assert len(working) >= 2


async def test_every_attempt_is_one_row_of_metering(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished()
        rows = await harness.rows(
            "SELECT run_id, attempt, provider, outcome, input_tokens, output_tokens, cost_micros, finished_at IS NULL"
            " FROM calls"
        )
        assert rows == [(run.id, 1, "test", "answered", 10, 5, 0, 0)] * 12
        assert (run.spend.cost, run.spend.unknown_calls) == ("0", 0)


async def test_later_edits_change_nothing(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.make()
        await harness.write(lambda conn: conn.run("UPDATE contents SET body = 'Everything is different now.'"))
        await harness.write(commands.start, run_id)
        await harness.ended(run_id)
        assert not any("different now" in request.prompt for request in models.asked)
        assert any("Document number 1" in request.prompt for request in models.asked)


async def test_deterministic_models_answer_and_mark_once_whatever_the_repeats(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        configuration = await harness.write(small_configuration, models=("local:lead", "test:one"), repeats=3)
        run_id = await harness.write(snapshot.create, RunIn(configuration=configuration), harness.registry, SETTINGS)
        rows = await harness.rows("SELECT candidate, count(*) FROM tasks WHERE kind = 'generate' GROUP BY candidate")
        assert rows == [(1, 2), (2, 6)]
        await harness.write(commands.start, run_id)
        run = await harness.ended(run_id)
        assert run.state == "completed"
        meetings = await harness.rows("SELECT DISTINCT repeat FROM tasks WHERE kind = 'compare' ORDER BY 1")
        assert meetings == [(1,), (2,), (3,)]


async def test_finalists_are_chosen_over_all_documents(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        models = ("test:one", "test:two", "test:three", "test:four")
        run = await harness.finished(models=models, comparison={"finalists": 2})
        pairs = await harness.rows("SELECT DISTINCT candidate, opponent FROM tasks WHERE kind = 'compare'")
        assert len(pairs) == 1
        assert run.progress.total == 4 * 2 + 4 * 2 + 2 * 2
        assert run.state == "completed"


async def test_all_six_are_compared_if_the_run_says_so(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        models = tuple(f"test:{name}" for name in ("one", "two", "three", "four", "five", "six"))
        await harness.finished(models=models, documents=1, comparison={"finalists": 6})
        pairs = await harness.rows("SELECT count(DISTINCT candidate * 10 + opponent) FROM tasks WHERE kind = 'compare'")
        assert pairs == [(15,)]


async def test_progress_counts_the_comparisons_before_they_are_planned(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = await harness.make()
        run = await harness.run(run_id)
        assert (run.progress.total, run.progress.pending, run.progress.percent) == (12, 12, 0)
        assert await harness.rows("SELECT count(*) FROM tasks") == [(8,)]


async def test_a_run_can_do_with_comparisons_alone(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(scoring=None)
        assert run.state == "completed"
        assert run.progress.total == 4 + 4


async def test_a_run_can_do_with_scores_alone(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(comparison=None)
        assert (run.state, run.progress.total) == ("completed", 8)
        assert run.phase == "score"


async def test_answers_that_exist_already_cost_no_call(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        configuration = await harness.write(small_configuration)
        existing = dict.fromkeys(configuration.inputs, configuration.inputs[0])
        run = await harness.finished(
            generation={"candidates": [{"label": "human", "existing": existing}, {"model": "test:one"}]},
            inputs=configuration.inputs,
        )
        assert run.state == "completed"
        asked = await harness.rows("SELECT count(*) FROM calls WHERE task_key LIKE '%generate%.c1.%'")
        assert asked == [(0,)]
        bodies = await harness.rows("SELECT DISTINCT body FROM generated WHERE candidate = 1")
        assert bodies == [("Document number 1 says something.",)]


@pytest.mark.parametrize("seconds", [1, 77])
async def test_every_call_gets_the_time_that_the_run_allows(tmp_path: Path, seconds: int) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        await harness.finished(limits={"timeout_seconds": seconds})
        assert {request.timeout_seconds for request in models.asked} == {float(seconds)}


async def test_a_budget_that_is_overspent_pauses_the_run(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = await harness.make()
        await harness.write(lambda conn: conn.run("UPDATE run_snapshots SET budget_micros = 5"))
        await harness.write(lambda conn: conn.run("UPDATE runs SET cost_micros = 6"))
        await harness.write(commands.start, run_id)
        run = await harness.until(run_id, "paused")
        assert run.pause_reason == "budget"
        assert run.progress.succeeded == 0
        await harness.write(lambda conn: conn.run("UPDATE run_snapshots SET budget_micros = 6"))
        await harness.write(commands.resume, run_id)
        assert (await harness.ended(run_id)).state == "completed"


async def test_a_run_remembers_the_calls_in_flight_and_none_that_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = TestModels()

    def late(request: ModelRequest) -> Answer:
        if len(models.asked) == 8:
            models.gate.clear()
        return honest(request)

    models.script = late
    remembered: list[int] = []
    cancel = commands.cancel

    def counted(conn: Connection, run_id: RunId, called: Collection[str]) -> Run:
        remembered.append(len(called))
        return cancel(conn, run_id, called)

    monkeypatch.setattr(commands, "cancel", counted)
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(documents=8, limits={"concurrency": 2})
        while len(models.asked) < 9 or models.gate.is_set():
            await asyncio.sleep(0.005)
        async with harness.workspace() as workspace:
            await harness.engine.cancel(workspace, run_id)
    assert len(remembered) == 1
    assert remembered[0] <= 2


async def test_answers_that_were_only_compared_can_be_compared_again(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(scoring=None)
        data = ReevaluateIn(judges=[Judge(model="test:jury")])
        await harness.write(reevaluate.reevaluate, run.id, data, harness.registry, SETTINGS)
        again = await harness.ended(run.id)
        assert (again.state, again.round, again.progress.total) == ("completed", 2, 4)
        assert await harness.rows("SELECT compared FROM run_rounds") == [("[1,2]",), ("[1,2]",)]
