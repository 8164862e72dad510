"""Bounds of a mean of differences, and what they say of a change."""

import numpy as np
import pytest

from carrel.evaluation.statistics.noninferiority import change, lower_bound


@pytest.mark.parametrize("documents", [5, 20, 59, 400])
def test_documents_without_any_difference_bound_it_exactly(documents: int) -> None:
    """As many documents pass without a failure with probability (1 − p)^n."""
    assert lower_bound([0.0] * documents, -1.0) == pytest.approx(-(1 - 0.05 ** (1 / documents)), rel=0.005)


@pytest.mark.parametrize(("passed", "of", "bound"), [(7, 10, 0.3934), (18, 20, 0.7174), (1, 10, 0.0051)])
def test_a_share_has_the_bound_of_clopper_and_pearson(passed: int, of: int, bound: float) -> None:
    assert lower_bound([1.0] * passed + [0.0] * (of - passed), 0.0) == pytest.approx(bound, abs=5e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_saddlepoint_is_what_drawn_weights_give(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = np.clip(random.normal(0.0, 0.3, 15 + 10 * seed), -1.0, 1.0)
    weights = random.standard_exponential((40_000, len(values) + 1))
    drawn = np.quantile(weights @ np.append(values, -1.0) / weights.sum(axis=1), 0.05)
    assert lower_bound(values.tolist(), -1.0) == pytest.approx(float(drawn), abs=0.006)


def test_few_documents_without_any_difference_decide_nothing() -> None:
    few = change([0.0] * 40, [], margin=0.05, reach=1.0)
    assert (few.outcome, few.needed) == ("undecided", 99)
    assert change([0.0] * 60, [], margin=0.05, reach=1.0).outcome == "not_worse"


def test_a_change_is_better_worse_or_not_worse() -> None:
    assert change([1.0] * 10 + [0.0] * 40, [], margin=0.05, reach=1.0).outcome == "better"
    assert change([-1.0] * 10 + [0.0] * 40, [], margin=0.05, reach=1.0).outcome == "worse"
    # Significantly worse, but by less than the margin.
    assert change([-1.0] * 10 + [0.0] * 990, [], margin=0.05, reach=1.0).outcome == "not_worse"
    # Stricter about saying "worse" where several may say so.
    slight = [-1.0] * 5 + [0.0] * 40
    assert change(slight, [], margin=0.05, reach=1.0).outcome == "worse"
    assert change(slight, [], margin=0.05, reach=1.0, worse_error=0.005).outcome == "undecided"


def test_documents_of_one_group_count_together() -> None:
    values = [0.0] * 60
    grouped = change(values, [place // 6 for place in range(60)], margin=0.05, reach=1.0)
    assert grouped.independent == 10
    assert grouped.outcome == "undecided"
    alone = change([0.0] * 10, [], margin=0.05, reach=1.0)
    assert grouped.low == pytest.approx(alone.low)
    assert (grouped.needed, alone.needed) == (591, 99)


def test_the_number_of_documents_that_would_tell_is_about_right() -> None:
    values = [1.0, -1.0] + [0.0] * 18
    needed = change(values, [], margin=0.05, reach=1.0).needed
    assert needed is not None
    assert change(values * (needed // 20 + 1), [], margin=0.05, reach=1.0).outcome == "not_worse"
    assert change(values * (needed // 80), [], margin=0.05, reach=1.0).outcome == "undecided"
