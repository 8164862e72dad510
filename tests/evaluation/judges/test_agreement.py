"""Krippendorff's α against the worked example of his own paper, and where there is no α."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.evaluation.judges.agreement import Metric, agreement, alpha
from carrel.evaluation.records import Verdict, mirrored
from tests.evaluation.told import CRITERIA, score, verdicts

# Krippendorff 2011: four observers, twelve units, missing data. Nominal α = .743, ordinal α = .815.
OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
UNITS = [[float(row[i]) for row in OBSERVERS if row[i] != "."] for i in range(12)]


@pytest.mark.parametrize(("metric", "expected"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_the_example_of_the_paper(metric: Metric, expected: float) -> None:
    found, units = alpha(UNITS, metric)
    assert found == pytest.approx(expected, abs=5e-4)
    assert units == 11


def test_two_judges_by_hand() -> None:
    # Units (1,1), (1,0), (0,0): D_o = 2/6; D_e = 2·3·3/(6·5) = .6; α = 1 − (1/3)/.6.
    assert alpha([[1, 1], [1, 0], [0, 0]], "nominal")[0] == pytest.approx(1 - (1 / 3) / 0.6)


@given(st.lists(st.lists(st.integers(1, 5), min_size=2, max_size=2), min_size=2, max_size=9))
def test_complete_agreement_is_one_and_only_order_matters_to_ordinal_data(units: list[list[int]]) -> None:
    stretched = [[value**3 for value in unit] for unit in units]
    assert alpha(units, "ordinal") == alpha(stretched, "ordinal")
    same = [[unit[0]] * 2 for unit in units]
    assert alpha(same, "ordinal")[0] in (1.0, None)


def test_verdicts_told_from_either_side_agree() -> None:
    told = [*verdicts("AB", "aab=", "x"), *verdicts("AB", "aab=", "y")]
    turned = [mirrored(v) if v.judge == "y" else v for v in told]
    found = agreement(turned, [], CRITERIA)
    assert (found.verdicts.value, found.verdicts.reason, found.verdicts.units) == (1.0, None, 4)
    assert [(pair.first, pair.second, pair.same, pair.of) for pair in found.pairs] == [("x", "y", 4, 4)]


def test_one_judge_needs_two_judges() -> None:
    found = agreement(verdicts("AB", "aab"), [score("d1", "A", 3)], CRITERIA)
    assert (found.verdicts.value, found.verdicts.reason) == (None, "needs two judges")
    assert (found.scores[0].criterion, found.scores[0].alpha.reason) == ("clarity", "needs two judges")
    assert found.pairs == ()


def test_agreement_without_variation_is_undefined() -> None:
    found = agreement([*verdicts("AB", "aaa", "x"), *verdicts("AB", "aaa", "y")], [], CRITERIA)
    assert (found.verdicts.value, found.verdicts.reason) == (None, "undefined")


def test_judges_that_never_met_are_undefined() -> None:
    found = agreement([*verdicts("AB", "ab..", "x"), *verdicts("AB", "..ab", "y")], [], CRITERIA)
    assert (found.verdicts.value, found.verdicts.reason, found.verdicts.units) == (None, "undefined", 0)
    assert (found.pairs[0].of, found.pairs[0].alpha.value) == (0, None)


def test_what_was_decided_by_rule_is_nobody_s_judgement() -> None:
    ruled = [Verdict(document="d", judge=judge, a="A", b="B", by_rule="a") for judge in "xy"]
    assert agreement(ruled, [], CRITERIA).verdicts.judges == 0


def test_scores_agree_criterion_by_criterion() -> None:
    scored = [score(f"d{i}", "A", value, judge) for i, value in enumerate([1, 2, 5]) for judge in "xy"]
    found = agreement([], scored, CRITERIA)
    assert (found.scores[0].alpha.value, found.scores[0].alpha.units) == (1.0, 3)
