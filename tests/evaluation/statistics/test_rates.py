"""Rates by document and their intervals."""

import pytest

from carrel.evaluation.statistics.rates import rate, wilson


@pytest.mark.parametrize(
    ("passed", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (9, 10, 0.5958, 0.9821), (81, 263, 0.2553, 0.3662), (10, 10, 0.7225, 1.0)],
)
def test_the_interval_of_a_share_is_wilson_s(passed: int, of: int, low: float, high: float) -> None:
    """81 of 263 is the example of Newcombe (1998), table I, method 3."""
    assert wilson(passed, of) == pytest.approx((low, high), abs=5e-5)


def test_documents_of_one_group_tell_less() -> None:
    values = [1.0] * 15 + [0.0] * 5
    alone, grouped = rate(values), rate(values, [place // 5 for place in range(20)])
    assert alone.share == grouped.share == 0.75
    assert (alone.low, alone.high) == pytest.approx((0.531, 0.888), abs=1e-3)
    assert grouped.low is not None
    assert grouped.high is not None
    assert alone.low is not None
    assert grouped.low < alone.low


def test_shares_have_an_interval_of_their_mean() -> None:
    found = rate([0.4, 0.5, 0.6, 0.5], missing=2)
    assert found.share == 0.5
    assert found.missing == 2
    assert found.low is not None
    assert 0.2 < found.low < 0.3


def test_nothing_has_no_rate() -> None:
    assert rate([], missing=3).share is None
