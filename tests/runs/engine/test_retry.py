"""A run whose calls failed is tried again: only what failed is called, and the verdict is as if nothing had failed."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from carrel.presets.configuration import Judge
from carrel.providers.base import Answer, CompareMatter, GenerateMatter, ModelRequest
from carrel.runs.engine import commands, reevaluate
from carrel.runs.engine.retry import retry
from carrel.runs.model.schemas import ReevaluateIn, Run
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import NothingToRetry, RunStateConflict
from tests.support.engine import EngineHarness, engine_harness
from tests.support.leaning_judges import Preferring
from tests.support.models import Script, TestModels, fails, honest, said
from tests.support.workspace import SETTINGS

THREE = ("test:one", "test:two", "test:three")


def failing(share: float, then: Script = honest) -> Script:
    """A script that always fails for the same `share` of requests."""

    def script(request: ModelRequest) -> Answer:
        drawn = hashlib.sha256(f"{request.model}{request.matter}".encode()).digest()[0] / 256
        return fails("provider-refused", retryable=False) if drawn < share else then(request)

    return script


def failing_where_lost(leaning: Preferring) -> Script:
    """A script that fails to compare wherever `test:one` would lose."""

    def script(request: ModelRequest) -> Answer:
        matter = request.matter
        lost = isinstance(matter, CompareMatter) and not leaning.prefers(matter.document)
        return fails("provider-refused", retryable=False) if lost else leaning(request)

    return script


async def retried(harness: EngineHarness, run_id: RunId) -> Run:
    await harness.write(retry, run_id)
    run = await harness.ended(run_id)
    await harness.idle()
    return run


async def results(harness: EngineHarness) -> list[Any]:
    """Everything that a run found, without ids and times."""
    return [
        *await harness.rows("SELECT round, ranking, verdict FROM run_rankings ORDER BY round"),
        *await harness.rows("SELECT key, state, error FROM tasks ORDER BY key"),
        *await harness.rows("SELECT key, body FROM generated JOIN tasks ON tasks.seq = task ORDER BY key"),
        *await harness.rows("SELECT key, marks, fate FROM scores JOIN tasks ON seq = task ORDER BY key"),
        *await harness.rows("SELECT key, word, by_rule FROM comparisons JOIN tasks ON seq = task ORDER BY key"),
        *await harness.rows("SELECT number, to_come, pending, failed, skipped, saved, stopped FROM run_rounds"),
    ]


SHAPES: dict[str, dict[str, Any]] = {
    "plain": {"documents": 12, "models": THREE},
    "repeats": {"documents": 5, "repeats": 2},
    "combined": {"documents": 6, "models": THREE, "combination": {"candidates": [{"model": "test:four"}]}},
    "finalists": {"documents": 6, "models": THREE, "comparison": {"finalists": 2}},
    "blocks": {"documents": 18, "scoring": None, "comparison": {"stop_when_decided": True}},
}


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_retried_run_equals_one_that_never_failed_and_pays_nothing_twice(tmp_path: Path, shape: str) -> None:
    leaning = Preferring(88)
    honest_ = leaning if shape == "blocks" else honest
    async with engine_harness(tmp_path / "calm", TestModels(honest_)) as harness:
        calm_run = await harness.finished(**SHAPES[shape])
        calm, calls = await results(harness), len(harness.provider.asked)  # type: ignore[attr-defined]
    # What is missing counts as lost: a run which may stop early still stops at the same look if only that fails.
    models = TestModels(failing_where_lost(leaning) if shape == "blocks" else failing(0.3))
    async with engine_harness(tmp_path / "rough", models) as harness:
        run = await harness.finished(**SHAPES[shape])
        assert run.state in ("completed_with_errors", "failed")
        models.script, before = honest_, len(models.asked)
        failed = run.progress.failed
        kept = await harness.rows("SELECT id FROM generated")
        again = await retried(harness, run.id)
        assert (again.state, again.progress.failed, again.progress.skipped) == ("completed", 0, 0)
        rough = await results(harness)
        if shape == "combined":
            # Answers that were combined from what there was stay, so the texts and verdicts may differ.
            assert [row for row in rough if row[1] == "succeeded"] == [row for row in calm if row[1] == "succeeded"]
        elif shape == "finalists":
            # Candidates that were compared only because others had failed stay compared.
            assert set(calm[1:-1]) <= set(rough)
        else:
            assert again.verdict == calm_run.verdict
            assert rough == calm
            # Each failed call was made twice, and every other one once.
            assert len(models.asked) == calls + failed
        assert len(models.asked) - before >= failed
        assert set(kept) <= set(await harness.rows("SELECT id FROM generated"))


async def test_a_later_round_retries_the_answers_that_failed_in_the_first(tmp_path: Path) -> None:
    models = TestModels(lambda _: fails("provider-refused", retryable=False))
    async with engine_harness(tmp_path, models) as harness:
        run = await harness.finished()
        assert run.state == "failed"
        data = ReevaluateIn(judges=[Judge(model="test:jury")])
        await harness.write(reevaluate.reevaluate, run.id, data, harness.registry, SETTINGS)
        assert (await harness.ended(run.id)).state == "failed"
        models.script = honest
        models.asked.clear()
        again = await retried(harness, run.id)
        assert (again.state, again.round, bool(again.verdict)) == ("completed", 2, True)
        kinds = [type(request.matter).__name__ for request in models.asked]
        assert kinds == ["GenerateMatter"] * 4 + ["ScoreMatter"] * 4 + ["CompareMatter"] * 4


async def test_a_run_can_be_retried_until_nothing_fails(tmp_path: Path) -> None:
    models = TestModels(failing(1.0))
    async with engine_harness(tmp_path, models) as harness:
        run_id = (await harness.finished()).id
        for share in (0.8, 0.5, 0.2):
            models.script = failing(share)
            assert (await retried(harness, run_id)).state in ("completed_with_errors", "failed")
        models.script = honest
        assert (await retried(harness, run_id)).state == "completed"
        with pytest.raises(RunStateConflict):
            await harness.write(retry, run_id)
        spent, of_calls = await harness.rows(
            "SELECT cost_micros FROM runs UNION ALL SELECT sum(cost_micros) FROM calls WHERE run_id = ?", run_id
        )
        assert spent == of_calls


async def test_malformed_verdicts_are_asked_for_again(tmp_path: Path) -> None:
    def muddled(request: ModelRequest) -> Answer:
        if isinstance(request.matter, GenerateMatter):
            return honest(request)
        return said("I would rather not say.")

    models = TestModels(muddled)
    async with engine_harness(tmp_path, models) as harness:
        run = await harness.finished()
        assert (run.state, run.progress.failed) == ("failed", 8)
        models.script = honest
        models.asked.clear()
        assert (await retried(harness, run.id)).state == "completed"
        assert len(models.asked) == 8
        assert await harness.rows("SELECT count(*) FROM comparisons WHERE word = 'invalid'") == [(0,)]


async def test_tasks_that_the_user_skipped_stay_skipped(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.make()
        await harness.write(commands.skip, run_id, "r1.generate.d1.c1.s1")
        await harness.write(commands.start, run_id)
        assert (await harness.ended(run_id)).state == "completed_with_errors"
        with pytest.raises(NothingToRetry) as refused:
            await harness.write(retry, run_id)
        assert (refused.value.status, refused.value.code) == (409, "nothing-to-retry")
        assert (await harness.run(run_id)).state == "completed_with_errors"


async def test_a_retry_that_is_cut_off_goes_on_where_it_was(tmp_path: Path) -> None:
    models = TestModels(failing(0.5))
    async with engine_harness(tmp_path, models) as harness:
        run_id = (await harness.finished(documents=6)).id
        models.script = honest
        models.gate.clear()
        await harness.write(retry, run_id)
        await models.until(in_flight=1)
        await harness.die()
        models.gate.set()
        await harness.restart()
        assert (await harness.ended(run_id)).state == "completed"
