"""The error of a mean over documents that come in groups."""

import random

import pytest

from carrel.evaluation.statistics import clusters, intervals


def test_groups_of_one_document_change_nothing() -> None:
    values = [0.5, 1.0, 0.75, 0.0, 0.25]
    assert intervals.share(values, [3, 1, 4, 0, 2])._replace(sample=None) == intervals.share(values)._replace(
        sample=None
    )
    assert clusters.error(values, [3, 1, 4, 0, 2], 0.5) == pytest.approx(intervals.share(values).error)


@pytest.mark.parametrize("values", [[0.5, 1.0, 0.75, 0.0, 0.25], [0.25, 1.0]])
def test_copies_in_groups_tell_no_more_than_the_originals(values: list[float]) -> None:
    alone = intervals.share(values)
    thrice = intervals.share([one for one in values for _ in range(3)], [i for i in range(len(values)) for _ in "123"])
    assert (thrice.mean, thrice.error, thrice.freedom) == pytest.approx((alone.mean, alone.error, alone.freedom))
    assert (thrice.documents, thrice.units) == (3 * len(values), len(values))
    assert thrice.bounds(0.975, 0.0, 1.0) == pytest.approx(alone.bounds(0.975, 0.0, 1.0))


def test_the_mean_stays_that_over_documents_however_large_a_group_is() -> None:
    assert intervals.share([1.0] * 8 + [0.0, 0.0], [0] * 8 + [1, 2]).mean == 0.8


def test_one_group_has_no_interval() -> None:
    assert intervals.difference([1.0, 0.5, 1.0], [7, 7, 7]).bounds(0.975, -1.0, 1.0) == (None, None)


def test_unanimous_groups_leave_a_width() -> None:
    assert (intervals.share([1.0] * 6, [0, 0, 1, 1, 2, 2]).error or 0.0) > 0.1
    assert (intervals.difference([0.0] * 6, [0, 0, 1, 1, 2, 2]).error or 0.0) > 0.1


def test_intervals_hold_where_a_third_of_the_documents_is_one_group() -> None:
    draw = random.Random(7)
    groups = [0] * 20 + [1 + i // 4 for i in range(40)]
    held = alone = 0
    for _ in range(200):
        moved = [draw.gauss(0.0, 0.2) for _ in range(11)]
        values = [0.5 + moved[group] + draw.gauss(0.0, 0.1) for group in groups]
        low, high = intervals.share(values, groups).bounds(0.975, 0.0, 1.0)
        held += low is not None and high is not None and low <= 0.5 <= high
        low, high = intervals.share(values).bounds(0.975, 0.0, 1.0)
        alone += low is not None and high is not None and low <= 0.5 <= high
    assert held >= 0.93 * 200
    assert alone < 0.6 * 200


def test_numbers_join_documents_of_one_group_only() -> None:
    assert clusters.numbers(["d1", "d2", "d3", "x"], {"d1": "x", "d3": "x"}) == [0, 1, 0, 2]
    assert clusters.numbers(["d1", "d2"], {"d1": "x"}) == []


def test_a_document_more_in_a_group_says_less_than_one_of_its_own() -> None:
    assert clusters.effective([0, 0, 1, 1, 2, 2]) == 3
    assert clusters.effective([0, 0, 0, 0, 1, 2]) == 2
