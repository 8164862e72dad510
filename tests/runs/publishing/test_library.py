"""`output: library`: what is written when a run completes, under which name, and only once."""

from pathlib import Path
from typing import Any

import msgspec

from carrel.contents import store as contents
from carrel.evaluation.ranking.doubts import LongerText
from carrel.evaluation.ranking.ranking import ComparisonCounts, Ranking
from carrel.http.answers.etag import ANY_VERSION
from carrel.providers.base import Answer, GenerateMatter, ModelRequest
from carrel.runs.engine import reevaluate
from carrel.runs.model.schemas import ReevaluateIn
from carrel.runs.progress import store
from carrel.runs.publishing import library
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import TestModels, fails, honest, said
from tests.support.workspace import SETTINGS, write

LIBRARY = {"destination": "library"}
ALL = LIBRARY | {"answers": "all"}
AGAIN = msgspec.convert({"judges": [{"model": "test:jury"}]}, ReevaluateIn)


async def written(harness: EngineHarness) -> list[tuple[Any, ...]]:
    return await harness.rows("SELECT name, body FROM contents WHERE type = 'output_document' ORDER BY seq")


async def leader(harness: EngineHarness, number: int = 1) -> str:
    [(text,)] = await harness.rows("SELECT ranking FROM run_rankings WHERE round = ?", number)
    return msgspec.json.decode(text, type=Ranking).leaders[0]


async def bodies(harness: EngineHarness, label: str) -> list[str]:
    sql = "SELECT body FROM generated JOIN run_candidates USING (run) WHERE candidate = ordinal AND label = ?"
    return [body for (body,) in await harness.rows(f"{sql} ORDER BY document", label)]


async def test_the_leader_s_answers_become_contents_when_the_run_ends(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(output=LIBRARY)
        best = await leader(harness)
        found = await written(harness)
        assert [name for name, _ in found] == [f"Document 1 · {best}", f"Document 2 · {best}"]
        assert [body for _, body in found] == await bodies(harness, best)
        [(description, tags)] = await harness.rows(
            "SELECT description, tags FROM contents WHERE type = 'output_document' ORDER BY seq LIMIT 1"
        )
        assert tags == '["output"]'
        assert all(part in description for part in (run.id, run.name, best, run.verdict or "?"))


async def test_all_answers_are_written_if_they_are_wanted_one_for_each_document(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        await harness.finished(output=ALL, repeats=2, combination={"candidates": [{"model": "test:four"}]})
        names = [name for name, _ in await written(harness)]
        labels = ("test:one", "test:two", "combined by test:four")
        assert names == [f"Document {number} · {label}" for label in labels for number in (1, 2)]


async def test_what_was_not_delivered_or_existed_already_is_not_written(tmp_path: Path) -> None:
    def refusing(request: ModelRequest) -> Answer:
        return said("No.", "refused") if isinstance(request.matter, GenerateMatter) else honest(request)

    async with engine_harness(tmp_path, TestModels(refusing)) as harness:
        source = await harness.write(write, "A document.", kind="input_document")
        today = await harness.write(write, "What is used today.", kind="input_document")
        candidates = [{"label": "today", "existing": {source.id: today.id}}, {"model": "test:one"}]
        run = await harness.finished(inputs=[source.id], generation={"candidates": candidates}, output=ALL)
        assert run.state == "completed"
        assert await written(harness) == []


async def test_a_failed_run_writes_nothing(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels(lambda _: fails("refused", retryable=False))) as harness:
        assert (await harness.finished(output=ALL)).state == "failed"
        assert await written(harness) == []


async def test_a_new_round_writes_only_what_is_not_written_yet_and_nothing_that_was_deleted(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = (await harness.finished(output=ALL)).id
        ids = await harness.rows("SELECT id FROM contents WHERE type = 'output_document' ORDER BY seq")
        await harness.write(contents.delete, ids[0][0], ANY_VERSION)
        await harness.write(reevaluate.reevaluate, run_id, AGAIN, harness.registry, SETTINGS)
        await harness.ended(run_id)
        assert await harness.rows("SELECT id FROM contents WHERE type = 'output_document' ORDER BY seq") == ids[1:]


async def test_a_later_round_with_another_leader_adds_that_one_s_answers(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = (await harness.finished(output=LIBRARY)).id
        first = await leader(harness)
        models = harness.provider
        assert isinstance(models, TestModels)
        second = next(label for label in ("test:one", "test:two") if label != first)
        wins = await bodies(harness, second)

        def partial(request: ModelRequest) -> Answer:
            matter = request.matter
            if hasattr(matter, "first"):
                return said(msgspec.json.encode({"reason": "", "winner": _place(wins, matter.first)}).decode())
            return honest(request)

        models.script = partial
        await harness.write(reevaluate.reevaluate, run_id, AGAIN, harness.registry, SETTINGS)
        await harness.ended(run_id)
        assert await leader(harness, 2) == second
        names = [name for name, _ in await written(harness)]
        assert names == [f"Document {number} · {label}" for label in (first, second) for number in (1, 2)]


def _place(wins: list[str], first: str) -> str:
    return "first" if first in wins else "second"


async def test_contents_outlive_their_run(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(output=LIBRARY, combination={"candidates": [{"model": "test:four"}]})
        await harness.write(store.delete, run.id, ANY_VERSION)
        assert len(await written(harness)) == 2
        for table in ("run_outputs", "run_sources", "run_candidates", "tasks"):
            assert await harness.rows(f"SELECT count(*) FROM {table}") == [(0,)]


async def test_a_name_keeps_to_the_limit(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        source = await harness.write(write, "A document.", kind="input_document", name="x" * 199)
        await harness.finished(inputs=[source.id], output=LIBRARY)
        [(name, _)] = await written(harness)
        assert len(name) == SETTINGS.max_name_characters


def test_where_nobody_leads_nothing_is_best() -> None:
    counts = ComparisonCounts(planned=0, agreed=0, flip=0, inconsistent=0, by_rule=0, invalid=0, missing=0)
    longer = LongerText(won=0, of=0, share=None, low=None, high=None, documents=0)
    ranking = Ranking(
        rows=(), leaders=(), best=None, contrasts=(), documents=0, judges=(), counts=counts, groups=(),
        score_leaders=(), bounds=None, without_judge=(), longer_text=longer, checked_by_human=False, exploratory=False,
    )  # fmt: skip
    assert library.wanted(ranking, "best", ("a", "b")) == []
    assert library.wanted(ranking, "all", ("a", "b")) == [1, 2]
    assert library.wanted(msgspec.structs.replace(ranking, score_leaders=("b",)), "best", ("a", "b")) == [2]
    assert library.wanted(msgspec.structs.replace(ranking, leaders=("b", "a")), "best", ("a", "b")) == [2]
