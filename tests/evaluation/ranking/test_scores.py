"""Scores: averages in the order that is promised, contrasts within cells, finalists over all documents."""

import random

import pytest
from msgspec.structs import replace

from carrel.evaluation.ranking import doubts, score_grid, scores
from carrel.evaluation.ranking.scores import finalists, normalised, standing
from carrel.evaluation.records import Score
from carrel.evaluation.statistics.means import mean
from carrel.providers.base import Criterion
from tests.evaluation.told import CRITERIA, score

TWO = (
    Criterion(name="clear", description="", weight=3.0, minimum=1.0, maximum=5.0),
    Criterion(name="short", description="", weight=1.0, minimum=-10.0, maximum=10.0),
)


def of(values: dict[str, float]) -> Score:
    return Score(document="d", judge="j", candidate="A", values=values)


def test_each_criterion_is_read_on_its_own_scale_and_weighted() -> None:
    # (3 · (4 − 1)/4 + 1 · (0 + 10)/20) / 4
    assert normalised(of({"clear": 4.0, "short": 0.0}), TWO) == pytest.approx((3 * 0.75 + 0.5) / 4)


def test_a_score_that_lacks_a_criterion_is_no_score() -> None:
    assert normalised(of({"clear": 4.0}), TWO) is None


def test_an_answer_that_was_not_delivered_has_the_least_score() -> None:
    assert normalised(Score(document="d", judge="j", candidate="A", fate="by_rule"), TWO) == 0.0


@pytest.mark.parametrize("fate", ["invalid", "missing"])
def test_what_never_came_is_no_score(fate: str) -> None:
    record = Score(document="d", judge="j", candidate="A", fate="invalid" if fate == "invalid" else "missing")
    assert normalised(record, TWO) is None


def test_criteria_without_any_weight_give_no_score() -> None:
    criteria = (Criterion(name="clear", description="", weight=0.0),)
    assert normalised(of({"clear": 4.0}), criteria) is None


def test_repeats_then_judges_then_documents_are_averaged() -> None:
    scored = [
        score("d1", "A", 5, "x", 1),
        score("d1", "A", 1, "x", 2),
        score("d1", "A", 5, "y"),
        score("d2", "A", 1, "y"),
    ]
    # d1: x ½, y 1 → with weights 1 and 3 .875; d2: 0.
    assert standing("A", scored, CRITERIA, {"y": 3.0}).means == pytest.approx((0.4375,))


def test_a_severe_judge_that_is_missing_lends_no_advantage() -> None:
    # On d1 both judges: A is better with each. On d2 only the mild judge scored B, only the severe one A.
    scored = [
        score("d1", "A", 3, "severe"),
        score("d1", "B", 2, "severe"),
        score("d1", "A", 5, "mild"),
        score("d1", "B", 4, "mild"),
        score("d2", "A", 1, "severe"),
        score("d2", "B", 5, "mild"),
    ]
    found = standing("BA", scored, CRITERIA, {})
    assert found.means[0] is not None
    assert found.means[1] is not None
    assert found.means[0] > found.means[1]
    assert found.leaders == (1,)


def test_level_scores_share_the_lead() -> None:
    assert standing("AB", [score("d1", "A", 3), score("d1", "B", 3)], CRITERIA, {}).leaders == (0, 1)


def test_finalists_are_the_best_over_all_documents_in_plan_order() -> None:
    # A and B are each far ahead on one document; C is good on both.
    values = {"d1": {"A": 5, "B": 1, "C": 4, "D": 2}, "d2": {"A": 1, "B": 4, "C": 4, "D": 2}}
    scored = [score(d, c, v) for d, row in values.items() for c, v in row.items()]
    assert finalists("DCBA", scored, CRITERIA, {}, 2) == ("C", "A")
    assert finalists("DCBA", scored, CRITERIA, {}, 1) == ("C",)


def test_everyone_is_compared_up_to_five() -> None:
    scored = [score("d1", c, 5 - i % 5) for i, c in enumerate("ABCDEF")]
    assert finalists("ABCDE", scored, CRITERIA, {}) == tuple("ABCDE")
    assert len(finalists("ABCDEF", scored, CRITERIA, {})) == 5


def test_without_scores_everyone_is_compared() -> None:
    assert finalists("ABCDEFG", [], CRITERIA, {}) == tuple("ABCDEFG")


def test_a_candidate_without_scores_comes_last() -> None:
    assert finalists("ABC", [score("d1", "B", 1), score("d1", "C", 1)], CRITERIA, {}, 2) == ("B", "C")
    assert finalists("ABC", [score("d1", "C", 1)], CRITERIA, {}, 2) == ("A", "C")


MARKS = (1.0, 2.0, 3.0, 4.0, 5.0)
WEIGHTS = {"j1": 1.0, "j2": 3.0, "j3": 5e-324}


def drawn(seed: int, documents: int = 6) -> list[Score]:
    """Scores of four candidates by three judges on documents, of which many are open or were never asked for."""
    draw = random.Random(seed)
    found = []
    for document in range(documents):
        for judge in WEIGHTS:
            for candidate in "ABCD":
                for repeat in range(draw.choice((0, 1, 1, 2))):
                    one = score(f"d{document}", candidate, draw.choice(MARKS), judge)
                    is_open = draw.random() < 0.1
                    found.append(replace(one, repeat=repeat, **({"fate": "missing", "values": {}} if is_open else {})))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_all_pairs_at_once_is_that_of_each_pair_by_itself(seed: int) -> None:
    cells = scores.tabulate(drawn(seed, 1 + seed % 6), CRITERIA, WEIGHTS)
    found = score_grid.order(score_grid.grid(cells, "ABCD", scores.judges_of(cells), WEIGHTS))
    ahead = {}
    for i, a in enumerate("ABCD"):
        if any(a in cell for by_judge in cells.values() for cell in by_judge.values()):
            gaps = [scores.differences(cells, a, b, WEIGHTS) for b in "ABCD" if b != a]
            known = [mean(list(gap.values())) for gap in gaps if gap]
            ahead[i] = mean(known) if known else 0.0
    assert found.order == tuple(sorted(ahead, key=lambda i: (-round(ahead[i], 9), i)))
    assert found.places == {i: 1 + sum(other > ahead[i] + 1e-9 for other in ahead.values()) for i in ahead}


@pytest.mark.parametrize("seed", range(20))
def test_bounds_are_those_of_all_scores_settled_one_way(seed: int) -> None:
    told = drawn(seed)
    known = scores.tabulate(told, CRITERIA, WEIGHTS)
    found = doubts.score_bounds("ABCD", told, known, CRITERIA, WEIGHTS, "A")

    def settled(low: str | None, high: str | None) -> scores.ScoreStanding:
        """Every open score of the two as a score of its own, and all ranked anew."""
        most = {criterion.name: criterion.maximum for criterion in CRITERIA}
        ways: dict[str | None, dict[str, object]] = {low: {"fate": "by_rule"}, high: {"fate": "given", "values": most}}
        again = [replace(one, **ways.get(one.candidate, {})) if one.fate == "missing" else one for one in told]
        return standing("ABCD", again, CRITERIA, WEIGHTS)

    overturned = tuple(
        rival for place, rival in enumerate("ABCD") if place and _is_level(settled("A", rival).places, place)
    )
    assert found.overturned_by == overturned
    assert found.share_worst == pytest.approx(settled("A", None).means[0], abs=1e-6)
    assert found.share_best == pytest.approx(settled(None, "A").means[0], abs=1e-6)
    assert found.open_verdicts == sum(one.fate == "missing" for one in told)


def _is_level(places: dict[int, int], rival: int) -> bool:
    return places.get(rival, 4) <= places[0]
