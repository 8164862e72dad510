"""What may never change a verdict, held at what a report shows: ranking, words, health and agreement together."""

import math
import random
from itertools import permutations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.evaluation import verdict
from carrel.evaluation.judges import agreement, health
from carrel.evaluation.records import Score, Verdict, mirrored
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence
from tests.evaluation.told import CRITERIA, score, tournaments, verdicts

FEW = settings(max_examples=30, deadline=None)
WEIGHTS = {"x": 0.3, "y": 0.7}


def evidence(candidates: str, told: list[Verdict], scored: list[Score], weights: dict[str, float]) -> Evidence:
    return Evidence(tuple(candidates), told, scored, CRITERIA, weights, weights)


def shown(found: Evidence) -> bytes:
    """Everything that a report says about what judges said, as bytes."""
    answered = judgement.answer(judgement.pack(found), None, None)
    judges = health.health(found.candidates, found.verdicts, found.scores, {"A": "f"}, {"x": "f", "y": "g"})
    words = verdict.state(answered.ranking, answered.human)
    agreed = agreement.agreement(found.verdicts, found.scores, found.criteria)
    return msgspec.json.encode((answered.ranking, judges, words, agreed))


@st.composite
def fields(draw: st.DrawFn) -> tuple[str, list[Verdict], list[Score]]:
    """A tournament, and scores of some of its answers."""
    candidates, told = draw(tournaments())
    cells = [(f"d{d}", candidate, judge) for d in range(3) for candidate in candidates for judge in "xy"]
    chosen = draw(st.lists(st.sampled_from(cells), unique=True))
    return candidates, told, [score(d, candidate, draw(st.integers(1, 5)), judge) for d, candidate, judge in chosen]


@FEW
@given(fields(), st.randoms(use_true_random=False))
def test_the_order_in_which_anything_was_said_changes_nothing(
    field: tuple[str, list[Verdict], list[Score]], shuffler: random.Random
) -> None:
    candidates, told, scored = field
    turned = [mirrored(one) if shuffler.random() < 0.5 else one for one in told]
    marks = list(scored)
    shuffler.shuffle(turned)
    shuffler.shuffle(marks)
    assert shown(evidence(candidates, turned, marks, WEIGHTS)) == shown(evidence(candidates, told, scored, WEIGHTS))


@FEW
@given(fields(), st.sampled_from([0.125, 3.0, 1e-9, 7.7e12]))
def test_the_scale_of_the_judges_weights_changes_nothing(
    field: tuple[str, list[Verdict], list[Score]], factor: float
) -> None:
    candidates, told, scored = field
    scaled = {judge: weight * factor for judge, weight in WEIGHTS.items()}
    assert shown(evidence(candidates, told, scored, scaled)) == shown(evidence(candidates, told, scored, WEIGHTS))


@FEW
@given(fields(), st.data())
def test_names_and_their_order_are_only_names(
    field: tuple[str, list[Verdict], list[Score]], data: st.DataObject
) -> None:
    """Swapping A and B mirrors: each has the other's figures, and the same words are said of the other."""
    candidates, told, scored = field
    new = dict(zip(candidates, data.draw(st.sampled_from(list(permutations(candidates)))), strict=True))
    renamed = [msgspec.structs.replace(one, a=new[one.a], b=new[one.b]) for one in told]
    marks = [msgspec.structs.replace(one, candidate=new[one.candidate]) for one in scored]
    here = judgement.rank(evidence(candidates, told, scored, WEIGHTS))
    there = judgement.rank(evidence(candidates, renamed, marks, WEIGHTS))
    rows = {row.candidate: row for row in there.rows}
    for row in here.rows:
        other = msgspec.structs.asdict(rows[new[row.candidate]])
        for field_name, value in msgspec.structs.asdict(row).items():
            if isinstance(value, float):
                assert other[field_name] == pytest.approx(value, abs=2e-6)
            elif field_name != "candidate":
                assert other[field_name] == value
    assert {new[leader] for leader in here.leaders} == set(there.leaders)
    assert there.best == (None if here.best is None else new[here.best])
    assert verdict.state(here).outcome == verdict.state(there).outcome


@FEW
@given(st.integers(2, 4), st.integers(1, 40))
def test_a_candidate_that_was_never_beaten_has_finite_figures_everywhere(k: int, documents: int) -> None:
    names = "ABCD"[:k]
    told = [one for i, a in enumerate(names) for b in names[i + 1 :] for one in verdicts(a + b, "a" * documents)]
    body = shown(evidence(names, told, [], {}))
    ranking = judgement.rank(evidence(names, told, [], {}))
    assert ranking.leaders == ("A",)
    for row in ranking.rows:
        numbers = [row.rating, row.rating_low, row.rating_high, row.low, row.high]
        assert all(number is None or math.isfinite(number) for number in numbers)
    # JSON has no word for what is not finite; it would be null.
    assert msgspec.json.encode(msgspec.json.decode(body)) == body


@FEW
@given(st.text("ab=", min_size=5, max_size=9), st.text("ab=", min_size=5, max_size=9))
def test_candidates_that_never_met_are_reported_and_never_ranked_against_each_other(left: str, right: str) -> None:
    found = judgement.rank(evidence("ABCD", [*verdicts("AB", left), *verdicts("CD", right)], [], {}))
    words = verdict.state(found)
    assert (words.outcome, found.leaders, found.best, found.contrasts) == ("disconnected", (), None, ())
    assert words.sentence == "No candidate leads: these groups never met (A and B; C and D)."
    assert all(row.rating is None for row in found.rows)
