"""Runs in which nothing is compared: they are ranked by scores, under the same rules, and say so."""

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.evaluation.ranking.ranking import Ranking, rank
from carrel.evaluation.records import Score
from carrel.evaluation.verdict import state
from tests.evaluation.told import CRITERIA, score, verdicts


def scores(candidate: str, marks: str, judge: str = "judge") -> list[Score]:
    """`scores("A", "554")`: A's marks on d1, d2, d3 on a scale from 1 to 5; `?` missing, `!` invalid, `.` not asked."""
    told = []
    for number, mark in enumerate(marks, 1):
        if mark in "?!":
            fate = "invalid" if mark == "!" else "missing"
            told.append(
                msgspec.convert({"document": f"d{number}", "judge": judge, "candidate": candidate, "fate": fate}, Score)
            )
        elif mark != ".":
            told.append(score(f"d{number}", candidate, float(mark), judge))
    return told


def by_scores(*told: list[Score], candidates: str = "AB", **how: object) -> Ranking:
    return rank(candidates, [], scored=[one for some in told for one in some], criteria=CRITERIA, **how)  # type: ignore[arg-type]


def test_scores_alone_make_a_ranking() -> None:
    ranking = by_scores(
        scores("A", "4555454545555454"),
        scores("B", "2332323223323232"),
        scores("C", "3434343433434343"),
        candidates="ABCD",
    )
    assert (ranking.basis, ranking.leaders, ranking.best, ranking.documents) == ("scores", ("A",), "A", 16)
    assert [(row.candidate, row.place, row.is_best) for row in ranking.rows] == [
        ("A", 1, True), ("C", 2, False), ("B", 3, False), ("D", None, False),
    ]  # fmt: skip
    assert {contrast.scale for contrast in ranking.contrasts} == {"score"}
    first = ranking.rows[0]
    assert first.score_low is not None
    assert first.score_high is not None
    assert first.score_low < (first.score or 0) < first.score_high
    assert (first.win_share, first.rating, first.comparisons) == (None, None, 0)
    assert state(ranking).sentence == (
        "Nothing was compared; by scores alone: A is best of the 3 that were scored: its mean score is 0.91, of 1, on"
        " 16 documents"
        f" (95 % interval {first.score_low:.2f} to {first.score_high:.2f})."
    )


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ("5", "3", "A leads. One document: an anecdote; no interval."),
        ("554", "343", "A leads; 3 documents cannot decide; about 8 to 26 would."),
        ("33", "33", "A and B are level; 2 documents cannot decide."),
        ("5255352", "3344334", "A leads, but cannot be called best: B cannot be ruled out."),
        ("333333", "333333", "A and B are level after 6 documents: none can be called best."),
    ],
)
def test_few_documents_have_the_same_words(a: str, b: str, words: str) -> None:
    found = state(by_scores(scores("A", a), scores("B", b)))
    assert found.sentence == f"Nothing was compared; by scores alone: {words}"
    assert found.scope == "about documents like these, for these judges; no human has checked them"


def test_the_extra_value_in_the_deviation_by_hand() -> None:
    (contrast,) = by_scores(scores("A", "5" * 40), scores("B", "3" * 40)).contrasts
    # Differences ½, and 0: sd = .0790569; t(.975, 39) = 2.022691; ½ − 2.022691 · .0790569/√40 = .474717. If failures
    # were missed, (1.5 / (1 + low))^−40 = .05: low = 1.5 · .05^(1/40) − 1.
    assert (contrast.lead, contrast.excludes_zero) == (0.5, True)
    assert contrast.low == pytest.approx(1.5 * 0.05 ** (1 / 40) - 1, abs=0.001)


def test_one_comparison_that_counted_makes_comparisons_the_basis() -> None:
    told = [*scores("A", "111111"), *scores("B", "555555")]
    ranking = rank("AB", verdicts("AB", "a?????"), scored=told, criteria=CRITERIA)
    assert (ranking.basis, ranking.leaders, ranking.score_leaders) == ("comparisons", ("A",), ("B",))
    nothing_came = rank("AB", verdicts("AB", "??????"), scored=told, criteria=CRITERIA)
    assert (nothing_came.basis, nothing_came.leaders, nothing_came.counts.missing) == ("scores", ("B",), 6)


def test_candidates_that_no_judge_scored_together_have_no_leader() -> None:
    ranking = by_scores(scores("A", "5....."), scores("B", ".3...."))
    assert (ranking.groups, ranking.leaders, ranking.contrasts) == ((("A",), ("B",)), (), ())
    assert state(ranking).sentence == (
        "Nothing was compared; by scores alone: No candidate leads: these groups were never scored together (A; B)."
    )


def test_missing_scores_that_could_overturn_the_lead_are_counted() -> None:
    ranking = by_scores(scores("A", "44444?"), scores("B", "33334!"), scores("C", "111111"), candidates="ABC")
    bounds = ranking.bounds
    assert bounds is not None
    assert (bounds.open_verdicts, bounds.overturned_by, bounds.overturning) == (2, ("B",), 2)
    assert (bounds.share_worst, bounds.share_best) == (0.625, 0.791667)
    assert "2 missing scores could overturn this." in state(ranking).notes


def test_the_leader_without_each_judge_is_shown() -> None:
    told = [scores("A", "555", "x"), scores("B", "333", "x"), scores("A", "222", "y"), scores("B", "333", "y")]
    ranking = by_scores(*told)
    assert [(one.judge, one.leaders) for one in ranking.without_judge] == [("x", ("B",)), ("y", ("A",))]
    assert "Without x, B leads." in state(ranking).notes


def test_a_judge_s_weight_moves_the_leader() -> None:
    told = [scores("A", "555", "x"), scores("B", "333", "x"), scores("A", "222", "y"), scores("B", "333", "y")]
    assert by_scores(*told, score_weights={"x": 1.0, "y": 9.0}).leaders == ("B",)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text("12345?!.", min_size=6, max_size=6), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_order_and_scale_of_weights_change_nothing(marks: list[str], shuffler: random.Random) -> None:
    told = [one for name, line in zip("ABCD", marks, strict=False) for j in "xy" for one in scores(name, line, j)]
    shuffled = list(told)
    shuffler.shuffle(shuffled)
    here = by_scores(told, candidates="ABCD", score_weights={"x": 0.25, "y": 0.75})
    there = by_scores(shuffled, candidates="ABCD", score_weights={"x": 250.0, "y": 750.0})
    assert msgspec.json.encode(here) == msgspec.json.encode(there)


def test_equal_candidates_are_hardly_ever_called_best_by_scores() -> None:
    source = random.Random(11)
    claims = 0
    for _ in range(150):
        marks = ["".join(source.choice("12345") for _ in range(8)) for _ in "ABC"]
        claims += (
            by_scores(*(scores(*pair) for pair in zip("ABC", marks, strict=True)), candidates="ABC").best is not None
        )
    assert claims <= 0.05 * 150
