"""From verdicts to one number for every document and pair."""

import math

import pytest

from carrel.evaluation.ranking.shares import estimates, on_document, standing
from carrel.evaluation.ranking.table import PairTally, groups, tabulate
from carrel.evaluation.statistics.means import weighted_mean
from tests.evaluation.told import verdict, verdicts


def test_repeats_are_averaged_before_judges() -> None:
    told = [verdict("d1", "AB", "a", "x", repeat) for repeat in (1, 2, 3)]
    told += [verdict("d1", "AB", "b", "x", 4), verdict("d1", "AB", "b", "y")]
    # x: (1 + 1 + 1 + 0)/4 = .75, y: 0; the mean of the judges, not of the five verdicts.
    assert tabulate("AB", told, {}).documents == ((PairTally(0, 1, 0.375),),)


def test_weights_are_normalised_over_the_judges_that_are_present() -> None:
    told = [*verdicts("AB", "aa", "x"), *verdicts("AB", "b?", "y")]
    first, second = tabulate("AB", told, {"x": 3.0, "y": 1.0}).documents
    assert (first[0].y, second[0].y) == (0.75, 1.0)


def test_a_pair_told_the_other_way_round_is_the_same_pair() -> None:
    told = [verdict("d1", "BA", "b"), verdict("d2", "AB", "a")]
    assert tabulate("AB", told, {}).documents == ((PairTally(0, 1, 1.0),), (PairTally(0, 1, 1.0),))


def test_a_judge_of_weight_zero_is_not_heard() -> None:
    told = [*verdicts("AB", "aa", "x"), *verdicts("AB", "bbb", "y")]
    assert len(tabulate("AB", told, {"y": 0.0}).documents) == 2


def test_huge_and_tiny_weights_stay_finite() -> None:
    assert weighted_mean([(1.7e308, 1.0), (1.7e308, 0.0)]) == 0.5
    assert weighted_mean([(5e-324, 1.0), (5e-324, 0.0)]) == 0.5


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_that_no_average_can_be_taken_with_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="finite number"):
        tabulate("AB", [], {"x": weight})


@pytest.mark.parametrize("pair", ["AA", "AZ"])
def test_a_verdict_on_anything_but_two_candidates_is_refused(pair: str) -> None:
    with pytest.raises(ValueError, match="two different candidates"):
        tabulate("AB", [verdict("d1", pair, "a")], {})


def test_only_what_was_decided_is_in_the_table() -> None:
    table = tabulate("ABC", [*verdicts("AB", "a?!"), *verdicts("AC", "...?")], {})
    assert table.members == (0, 1)
    assert len(table.documents) == 1


def test_groups_that_never_met_are_told_apart() -> None:
    apart = [*verdicts("AB", "aa"), *verdicts("CD", "ab")]
    assert groups(tabulate("ABCD", apart, {})) == ((0, 1), (2, 3))
    assert groups(tabulate("ABCD", [*apart, verdict("d9", "BC", "flip")], {})) == ((0, 1, 2, 3),)
    assert groups(tabulate("ABCD", [], {})) == ()


def test_a_win_share_is_the_mean_over_the_opponents_met() -> None:
    table = tabulate("ABC", [*verdicts("AB", "ab"), *verdicts("AC", "a="), *verdicts("BC", "a.")], {})
    assert [on_document(pairs) for pairs in table.documents] == [
        {0: 1.0, 1: 0.5, 2: 0.0},
        {0: 0.25, 1: 1.0, 2: 0.5},
    ]
    assert {i: found.mean for i, found in estimates(table).items()} == {0: 0.625, 1: 0.75, 2: 0.25}
    assert standing(table).order == (1, 0, 2)


def test_candidates_that_are_level_share_the_lead_in_plan_order() -> None:
    found = standing(tabulate("BA", verdicts("AB", "ab"), {}))
    assert (found.order, found.leaders) == ((0, 1), (0, 1))


def test_nobody_leads_across_groups_that_never_met() -> None:
    assert standing(tabulate("ABCD", [*verdicts("AB", "aa"), *verdicts("CD", "ab")], {})).leaders == ()


def test_members_that_are_level_share_a_place() -> None:
    told = [*verdicts("AC", "a"), *verdicts("BC", "a"), *verdicts("AB", "=")]
    found = standing(tabulate("ABC", told, {}))
    assert (found.places, found.leaders) == ({0: 1, 1: 1, 2: 3}, (0, 1))
