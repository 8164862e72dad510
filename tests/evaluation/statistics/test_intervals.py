"""Intervals of means over few documents, by hand."""

import math

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
    low, high = found.bounds(0.975, -9.0, 9.0)
    assert (low, high) == pytest.approx((0.75 - 4.302653 * 0.1381927, 0.75 + 4.302653 * 0.1381927))


def test_five_unanimous_documents_by_hand() -> None:
    # sd{1,1,1,1,1,½} = ½/√6; t(.975, 4) = 2.776445.
    low, high = intervals.share([1.0] * 5).bounds(0.975, 0.0, 1.0)
    assert low == pytest.approx(1 - 2.776445 * 0.5 / math.sqrt(6) / math.sqrt(5))
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
    # z(.975) = 1.959964; ((1.959964 + .84) · .5/.25)² = 31.36.
    assert intervals.documents_to_decide(Estimate(0.25, 0.5 / math.sqrt(9), 9)) == 32


@pytest.mark.parametrize("gap", [Estimate(0.0, 0.1, 9), Estimate(-0.2, 0.1, 9), Estimate(0.4, None, 1)])
def test_no_number_of_documents_is_named_without_a_gap_or_a_spread(gap: Estimate) -> None:
    assert intervals.documents_to_decide(gap) is None


def test_a_number_beyond_reason_is_not_named() -> None:
    assert intervals.documents_to_decide(Estimate(1e-9, 0.5, 9)) is None


def test_what_leaves_the_package_has_six_digits_and_no_negative_zero() -> None:
    assert intervals.rounded(1 / 3) == 0.333333
    assert str(intervals.rounded(-1e-12)) == "0.0"
    assert intervals.rounded_or_none(None) is None
