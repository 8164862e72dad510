"""The gate over the rows of runs: judges, checks, answers that never came, copies of documents."""

from pathlib import Path
from typing import Any

import pytest

from carrel.errors import BadInput
from carrel.evaluation.gate import GateResult
from carrel.kit.clock import SystemClock
from carrel.providers.base import Answer, CompareMatter, GenerateMatter, ModelRequest
from carrel.reports import jobs
from carrel.runs.findings.gate import GateQuestion, answer
from carrel.runs.model.setup import RunId
from tests.support.engine import EngineHarness, WorkersHere, engine_harness
from tests.support.models import TestModels, fails, honest, said, said_json


async def asked(harness: EngineHarness, run_id: RunId, question: GateQuestion) -> GateResult:
    async with harness.workspace() as workspace:
        return await answer(workspace, WorkersHere(jobs.JOBS, 1, SystemClock()), run_id, question)


def first_wins(request: ModelRequest) -> Any:
    """`one` writes what the judge always prefers."""
    matter = request.matter
    if isinstance(matter, GenerateMatter):
        return said("good" if request.model == "one" else "bad")
    if isinstance(matter, CompareMatter):
        return said_json({"reason": "so", "winner": "first" if matter.first == "good" else "second"})
    return honest(request)


async def test_judges_and_checks_decide_together(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels(first_wins)) as harness:
        run = await harness.finished(documents=6, checks=[{"kind": "length", "most": 5}])
        found = await asked(harness, run.id, GateQuestion("test:one", 0.05))
        assert found.outcome == "worse"
        assert [(one.kind, one.change and one.change.difference) for one in found.sources] == [
            ("comparisons", -0.5),
            ("checks", 0.0),
        ]
        better = await asked(harness, run.id, GateQuestion("test:two", 0.05))
        assert (better.candidate, better.outcome) == ("test:one", "undecided")  # six documents are too few for checks


async def test_an_answer_that_never_came_counts_against_the_candidate(tmp_path: Path) -> None:
    def script(request: ModelRequest) -> Answer:
        if isinstance(request.matter, GenerateMatter) and request.model == "two":
            return fails("provider-unavailable", retryable=False)
        return honest(request)

    async with engine_harness(tmp_path, TestModels(script)) as harness:
        run = await harness.finished(documents=6)
        found = await asked(harness, run.id, GateQuestion("test:one", 0.05))
        assert found.sources[0].change is not None
        assert found.sources[0].change.difference == -0.5
        assert found.outcome == "worse"
        # What the baseline has not answered tells nothing.
        turned = await asked(harness, run.id, GateQuestion("test:two", 0.05))
        assert turned.sources[0].change is None


async def test_defeats_that_a_judge_cannot_write_down_do_not_pass(tmp_path: Path) -> None:
    """`one` wins on every second document, and what the judge says of the others is malformed."""

    def script(request: ModelRequest) -> Any:
        if isinstance(request.matter, CompareMatter) and int(request.matter.document.split()[2]) % 2:
            return said("no verdict")
        return first_wins(request)

    async with engine_harness(tmp_path, TestModels(script)) as harness:
        run = await harness.finished(documents=16)
        found = await asked(harness, run.id, GateQuestion("test:two", 0.05))
        assert (found.outcome, found.needed, found.sources[0].missing) == ("undecided", None, 8)
        assert found.sentence == (
            "Whether test:one is worse than test:two by 5 points cannot be told: it won 100 % of its pairs with it"
            " (one-sided bounds 28 % and 100 %) on 8 documents (8 verdicts are missing). What is missing decides this."
            " Retry the calls that failed; where replies stayed malformed, have the answers judged again by another"
            " judge."
        )


async def test_documents_after_a_candidate_was_beaten_do_not_count_against_it(tmp_path: Path) -> None:
    """`three` always beats `two`, which leaves; `one` and `two` win half of their pairs, and nobody is best."""

    def script(request: ModelRequest) -> Any:
        matter = request.matter
        if isinstance(matter, GenerateMatter):
            return said(request.model)
        if isinstance(matter, CompareMatter):
            number = int(matter.document.split()[2])
            wins = {
                "two three": "three",
                "one three": "one" if number % 3 else "three",
                "one two": "one" if number % 2 else "two",
            }
            pair = " ".join(sorted((matter.first, matter.second), key=("one", "two", "three").index))
            return said_json({"reason": "so", "winner": "first" if matter.first == wins[pair] else "second"})
        return honest(request)

    async with engine_harness(tmp_path, TestModels(script)) as harness:
        models = ("test:one", "test:two", "test:three")
        run = await harness.finished(
            documents=40,
            models=models,
            scoring=None,
            comparison={"stop_when_decided": True},
            checks=[{"kind": "length", "most": 500}],
        )
        found = await asked(harness, run.id, GateQuestion("test:one", 0.05, "test:two"))
        assert found.outcome == "undecided"
        assert [(one.kind, one.missing, one.unanswered) for one in found.sources] == [
            ("comparisons", 0, 0),
            ("checks", 0, 0),
        ]
        assert all(one.change is not None and one.change.documents < 40 for one in found.sources)


async def test_a_run_of_three_needs_the_name_of_the_candidate(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(documents=1, models=("test:one", "test:two", "test:three"))
        with pytest.raises(BadInput):
            await asked(harness, run.id, GateQuestion("test:one", 0.05))
        found = await asked(harness, run.id, GateQuestion("test:one", 0.05, "test:three"))
        assert found.candidate == "test:three"
