"""Combining: who goes in, what is asked, how what comes out is judged, and that no crash of the process changes it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.records import Score, Verdict
from carrel.providers.base import (
    Answer,
    CombineMatter,
    CompareMatter,
    Criterion,
    GenerateMatter,
    ModelRequest,
    ProviderError,
)
from carrel.runs.engine import commands, reevaluate
from carrel.runs.model.schemas import ReevaluateIn
from carrel.runs.verdicts.combining import best_first, chosen
from carrel.runs.verdicts.judgement import Evidence
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import TestModels, honest, said, said_json
from tests.support.workspace import SETTINGS

COMBINATION = {"candidates": [{"model": "test:four", "label": "merged"}]}
LABELS = ("a", "b", "c", "d")
WORDS = st.sampled_from(["first", "second", "tie", "missing"])
VERDICTS = st.lists(
    st.builds(
        lambda document, pair, ab, ba: Verdict(
            document=f"d{document}", judge="j", a=LABELS[pair[0]], b=LABELS[pair[1]], ab=ab, ba=ba
        ),
        st.integers(1, 3),
        st.sampled_from([(a, b) for a in range(4) for b in range(a + 1, 4)]),
        WORDS,
        WORDS,
    ),
    max_size=12,
)


def told(verdicts: Sequence[Verdict], scores: Sequence[Score] = ()) -> Evidence:
    criteria = (Criterion("c", ""),)
    return Evidence(LABELS, list(verdicts), list(scores), criteria, {"j": 1.0}, {"j": 1.0})


@settings(max_examples=80, deadline=None)
@given(VERDICTS, st.permutations(LABELS), st.randoms(use_true_random=False), st.text(max_size=5))
def test_the_order_of_sources_follows_from_the_verdicts_and_the_seed_alone(
    verdicts: list[Verdict], labels: list[str], chance: Any, seed: str
) -> None:
    order = best_first(told(verdicts), LABELS, seed)
    assert sorted(order) == list(LABELS)
    shuffled = list(verdicts)
    chance.shuffle(shuffled)
    assert best_first(told(shuffled), labels, seed) == order


def test_the_best_come_first_then_the_best_by_score_then_the_rest() -> None:
    verdicts = [Verdict(document="d1", judge="j", a="b", b="c", ab="second", ba="first")]
    scores = [Score(document="d1", judge="j", candidate="d", values={"c": 4.0})]
    assert best_first(told(verdicts, scores), LABELS, "seed") == ("c", "b", "d", "a")


def test_lots_decide_between_those_that_are_level() -> None:
    firsts = {best_first(told([]), LABELS, str(seed))[0] for seed in range(40)}
    assert firsts == set(LABELS)


def test_votes_of_a_person_do_not_choose_sources() -> None:
    votes = [Verdict(document="d1", judge="human", a="a", b="b", ab="first", ba="second")]
    # Whatever weight the statistics give to a person.
    found = msgspec.structs.replace(told(votes), comparison_weights={"j": 1.0, "human": 1.0})
    assert [best_first(found, LABELS, str(seed)) for seed in range(9)] == [
        best_first(told([]), LABELS, str(seed)) for seed in range(9)
    ]


@settings(max_examples=60)
@given(st.permutations(range(1, 6)), st.sets(st.integers(1, 5)), st.integers(2, 5), st.integers(1, 9))
def test_of_each_document_the_first_that_brought_an_answer_go_in(
    order: list[int], brought: set[int], count: int, document: int
) -> None:
    found = chosen(order, dict.fromkeys(brought, 1), count, "seed", document)
    best = [candidate for candidate in order if candidate in brought][:count]
    assert set(found) == (set(best) if len(best) > 1 else set())
    assert chosen(order, dict.fromkeys(brought, 1), count, "seed", document) == found


def test_the_order_in_which_answers_are_shown_tells_nothing_of_their_rank() -> None:
    shown = {chosen((1, 2), {1: 1, 2: 1}, 2, "seed", document) for document in range(30)}
    assert shown == {(1, 2), (2, 1)}


# Runs ---------------------------------------------------------------------------------------------------------------


async def keys(harness: EngineHarness, kind: str) -> list[str]:
    return [key for (key,) in await harness.rows("SELECT key FROM tasks WHERE kind = ? ORDER BY seq", kind)]


async def test_the_best_answers_are_merged_and_judged_against_the_others(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run = await harness.finished(models=("test:one", "test:two", "test:three"), combination=COMBINATION)
        assert (run.state, run.progress.total, run.progress.percent) == ("completed", 6 + 6 + 12 + 2 + 2 + 12, 100)
        assert sorted(await keys(harness, "combine")) == ["r1.combine.d1.c4", "r1.combine.d2.c4"]
        merged = [asked for asked in models.asked if isinstance(asked.matter, CombineMatter)]
        assert len(merged) == 2
        by_rank = await harness.rows("SELECT sources FROM run_rounds")
        order = [int(part) for part in by_rank[0][0].strip("[]").split(",")]
        went_in = await harness.rows("SELECT document, candidate FROM run_sources ORDER BY document, candidate")
        assert went_in == sorted((document, candidate) for document in (1, 2) for candidate in order[:2])
        meetings = {key.split(".")[3] for key in await keys(harness, "compare")}
        assert meetings == {"c1-c2", "c1-c3", "c2-c3", "c1-c4", "c2-c4", "c3-c4"}
        [(ranking,)] = await harness.rows("SELECT ranking FROM run_rankings")
        assert '"candidate":"merged"' in ranking
        assert await harness.rows("SELECT compared FROM run_rounds") == [("[1,2,3,4]",)]


async def test_whoever_combines_sees_the_answers_without_names_and_the_document(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        await harness.finished(documents=1, combination=COMBINATION)
        [(asked, matter)] = [(one, one.matter) for one in models.asked if isinstance(one.matter, CombineMatter)]
        assert asked.model == "four"
        assert "Document number 1 says something." in asked.prompt
        assert all(answer in asked.prompt for answer in matter.answers)
        bodies = await harness.rows("SELECT body FROM generated WHERE candidate < 3")
        assert sorted(matter.answers) == sorted(body for (body,) in bodies)
        assert "test:one" not in asked.prompt


async def test_only_scored_candidates_can_be_combined_too(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(combination=COMBINATION, comparison=None)
        assert run.state == "completed"
        assert (await keys(harness, "score"))[-2:] == [f"r1.score.d{d}.c3.s1.j1.s1" for d in await documents(harness)]


async def documents(harness: EngineHarness) -> list[int]:
    """In the order in which they are worked through."""
    rows = await harness.rows("SELECT document FROM tasks WHERE kind = 'combine' ORDER BY seq")
    return [document for (document,) in rows]


async def test_finalists_are_chosen_before_anything_is_combined_and_meet_what_comes_of_it(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        three = ("test:one", "test:two", "test:three")
        run = await harness.finished(documents=1, models=three, combination=COMBINATION, comparison={"finalists": 2})
        assert run.state == "completed"
        met = {key.split(".")[3] for key in await keys(harness, "compare")}
        finalists = [ordinal for ordinal in (1, 2, 3) if f"c{ordinal}-c4" in met]
        assert len(finalists) == 2
        assert met == {f"c{finalists[0]}-c{finalists[1]}", *(f"c{ordinal}-c4" for ordinal in finalists)}
        assert run.progress.total == 3 + 3 + 2 + 1 + 1 + 4


async def test_a_document_with_one_answer_has_nothing_to_combine(tmp_path: Path) -> None:
    def refusing(request: ModelRequest) -> Answer:
        if isinstance(request.matter, GenerateMatter) and request.model == "one":
            return said("No.", "refused")
        return honest(request)

    async with engine_harness(tmp_path, TestModels(refusing)) as harness:
        run = await harness.finished(documents=1, combination=COMBINATION)
        assert run.state == "completed_with_errors"
        rows = await harness.rows(
            "SELECT key, state, error FROM tasks WHERE candidate = 3 OR opponent = 3 ORDER BY seq"
        )
        assert rows[0] == ("r1.combine.d1.c3", "skipped", "sources-missing")
        assert {row[1:] for row in rows[1:]} == {("skipped", "answer-missing")}


async def test_the_next_best_steps_in_for_an_answer_that_was_not_delivered(tmp_path: Path) -> None:
    def script(request: ModelRequest) -> Answer:
        matter = request.matter
        if isinstance(matter, GenerateMatter):
            empty = request.model == "one" and "number 1" in matter.document
            return said("" if empty else f"{request.model} on {matter.document}")
        if isinstance(matter, CompareMatter):
            ranks = ["one on", "two on", "three on"]
            places = [next((at for at, rank in enumerate(ranks) if rank in text), 9) for text in _pair(matter)]
            return said_json({"reason": "", "winner": "first" if places[0] < places[1] else "second"})
        return honest(request)

    async with engine_harness(tmp_path, TestModels(script)) as harness:
        await harness.finished(documents=3, models=("test:three", "test:two", "test:one"), combination=COMBINATION)
        rows = await harness.rows("SELECT document, candidate FROM run_sources ORDER BY document, candidate")
        assert rows == [(1, 1), (1, 2), (2, 2), (2, 3), (3, 2), (3, 3)]


def _pair(matter: CompareMatter) -> tuple[str, str]:
    return matter.first, matter.second


async def test_a_new_round_judges_combined_answers_with_all_others_and_combines_nothing(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = (await harness.finished(combination=COMBINATION)).id
        before = await harness.rows("SELECT id, body FROM generated ORDER BY seq")
        merged = sum(isinstance(asked.matter, CombineMatter | GenerateMatter) for asked in models.asked)
        data = msgspec.convert({"judges": [{"model": "test:jury"}]}, ReevaluateIn)
        await harness.write(reevaluate.reevaluate, run_id, data, harness.registry, SETTINGS)
        run = await harness.ended(run_id)
        assert (run.state, run.round) == ("completed", 2)
        assert run.progress.total == 6 + 12
        assert await harness.rows("SELECT id, body FROM generated ORDER BY seq") == before
        assert sum(isinstance(asked.matter, CombineMatter | GenerateMatter) for asked in models.asked) == merged
        kinds = await harness.rows("SELECT DISTINCT kind FROM tasks WHERE round = 2 ORDER BY kind")
        assert kinds == [("compare",), ("score",)]
        assert len(await harness.rows("SELECT * FROM run_rankings")) == 2


async def test_what_judges_would_do_with_a_combined_answer_that_failed_is_left_out(tmp_path: Path) -> None:
    def script(request: ModelRequest) -> Answer:
        if isinstance(request.matter, CombineMatter):
            raise ProviderError("request-refused", retryable=False)
        return honest(request)

    async with engine_harness(tmp_path, TestModels(script)) as harness:
        run_id = await harness.start(combination=COMBINATION, limits={"max_attempts": 1})
        run = await harness.ended(run_id)
        assert run.state == "completed_with_errors"
        task = await harness.write(commands.skip, run_id, "r1.combine.d1.c3")
        assert (task.kind, task.candidate, task.state) == ("combine", "merged", "skipped")
        rows = await harness.rows("SELECT DISTINCT state, error FROM tasks WHERE kind <> 'combine' AND candidate = 3")
        assert rows == [("skipped", "answer-missing")]


async def test_a_run_cancelled_before_anything_was_combined_can_be_judged_without_that(tmp_path: Path) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(combination=COMBINATION)
        while not await harness.rows("SELECT 1 FROM runs WHERE phase = 'compare'"):
            await harness.moved(run_id)
        async with harness.workspace() as workspace:
            await harness.engine.cancel(workspace, run_id)
        await harness.idle()
        data = msgspec.convert({"judges": [{"model": "test:jury"}]}, ReevaluateIn)
        await harness.write(reevaluate.reevaluate, run_id, data, harness.registry, SETTINGS)
        run = await harness.ended(run_id)
        assert run.state == "completed_with_errors"
        assert not any(isinstance(asked.matter, CombineMatter) for asked in models.asked)
        [(text,)] = await harness.rows("SELECT ranking FROM run_rankings WHERE round = 2")
        places = {row.candidate: row.place for row in msgspec.json.decode(text, type=Ranking).rows}
        assert places["merged"] is None
        assert {places["test:one"], places["test:two"]} <= {1, 2}


async def test_built_in_models_combine(tmp_path: Path) -> None:
    combination = {"candidates": [{"model": "local:submodular"}]}
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished(documents=1, combination=combination)
        assert run.state == "completed"
        rows = await harness.rows("SELECT label FROM run_candidates WHERE combines")
        assert rows == [("combined by local:submodular",)]


async def test_the_same_run_combines_the_same(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        async with engine_harness(tmp_path / name, TestModels()) as harness:
            await harness.finished(combination=COMBINATION)
            found.append(await harness.rows("SELECT document, place, candidate FROM run_sources ORDER BY 1, 2"))
            found.append(await harness.rows("SELECT ranking FROM run_rankings"))
    assert found[:2] == found[2:]
