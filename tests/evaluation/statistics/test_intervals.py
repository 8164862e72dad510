"""Intervals of means over few documents, by hand."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.evaluation.statistics import intervals
from carrel.evaluation.statistics.intervals import Estimate

SHARES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=2, max_size=12)


def test_three_documents_by_hand() -> None:
    # With the extra ½: mean .6875, squares .03515625 + .09765625 + .00390625 + .03515625 = .171875, /3, root, /√3.
    found = intervals.share([0.5, 1.0, 0.75])
    assert found.mean == 0.75
    assert found.error == pytest.approx(math.sqrt(0.171875 / 3 / 3))
    low, high = found.by_student(0.975)
    assert (low, high) == pytest.approx((0.75 - 4.302653 * 0.1381927, 0.75 + 4.302653 * 0.1381927))


def test_five_unanimous_documents_by_hand() -> None:
    # sd{1,1,1,1,1,½} = ½/√6; t(.975, 4) = 2.776445. The fifth root of .05 is what missed failures leave of 1.
    found = intervals.share([1.0] * 5)
    assert found.by_student(0.975)[0] == pytest.approx(1 - 2.776445 * 0.5 / math.sqrt(6) / math.sqrt(5))
    low, high = found.bounds(0.975, 0.0, 1.0)
    assert low == pytest.approx(0.05**0.2, abs=0.003)
    assert high == 1.0


def test_ties_alone_are_as_uncertain_as_wins_alone() -> None:
    assert intervals.share([0.5] * 5).error == pytest.approx(intervals.share([1.0] * 5).error)
    assert intervals.difference([0.0] * 5).error == pytest.approx(intervals.difference([1.0] * 5).error)


@given(SHARES)
def test_no_set_of_documents_has_an_interval_of_no_width(values: list[float]) -> None:
    found = intervals.share(values)
    assert found.error is not None
    assert found.error > 0
    low, high = found.bounds(0.975, 0.0, 1.0)
    assert low is not None
    assert high is not None
    assert 0.0 <= low < high <= 1.0
    assert low <= found.mean <= high


@given(SHARES)
def test_the_mirror_of_the_shares_has_the_mirrored_interval(values: list[float]) -> None:
    low, high = intervals.share(values).bounds(0.975, 0.0, 1.0)
    mirror_low, mirror_high = intervals.share([1.0 - value for value in values]).bounds(0.975, 0.0, 1.0)
    assert low is not None
    assert high is not None
    assert (mirror_low, mirror_high) == pytest.approx((1.0 - high, 1.0 - low))


def test_one_document_has_no_interval() -> None:
    assert intervals.share([1.0]).bounds(0.975, 0.0, 1.0) == (None, None)


def test_the_documents_that_would_decide_by_hand() -> None:
    # t(.88, 99) = 1.182094; .25 ± 1.182094 · .05; ((1.959964 + .84) · .5/gap)² = 20.5 and 53.8.
    assert intervals.documents_needed(Estimate(0.25, 0.05, 100)) == (21, 54)


@pytest.mark.parametrize("gap", [Estimate(0.0, 0.1, 9), Estimate(0.1, 0.1, 9), Estimate(0.4, None, 1)])
def test_without_a_lead_or_a_spread_no_number_can_be_told_yet(gap: Estimate) -> None:
    assert intervals.documents_needed(gap) is None


def test_a_number_beyond_reason_is_not_named() -> None:
    assert intervals.documents_needed(Estimate(0.12, 0.1, 100)) is None


@pytest.mark.parametrize("documents", [12, 20, 50])
def test_the_true_number_lies_in_the_range_as_often_as_it_says(documents: int) -> None:
    """Over leads from 55 to 80 % of documents, in runs that are not decided and are told a range."""
    draw = random.Random(documents)
    held = told = 0
    for part in (0.55, 0.6, 0.65, 0.7, 0.75, 0.8):
        mean, spread = 2 * part - 1, math.sqrt(1 - (2 * part - 1) ** 2)
        truly = ((1.959964 + 0.84) * spread / mean) ** 2
        for _ in range(150):
            gap = intervals.difference([1.0 if draw.random() < part else -1.0 for _ in range(documents)])
            needed = intervals.documents_needed(gap)
            low, _ = gap.by_student(0.975)
            if needed is not None and low is not None and low <= 0:
                told += 1
                held += needed[0] <= truly <= needed[1]
    assert 0.7 <= held / told <= 0.93


def test_what_leaves_the_package_has_six_digits_and_no_negative_zero() -> None:
    assert intervals.rounded(1 / 3) == 0.333333
    assert str(intervals.rounded(-1e-12)) == "0.0"
    assert intervals.rounded_or_none(None) is None
