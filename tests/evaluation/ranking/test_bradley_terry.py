"""Ratings by hand where that is possible, and what a maximum must satisfy where it is not."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.evaluation.ranking.bradley_terry import PRIOR, fit, ratings
from carrel.evaluation.ranking.table import tabulate
from tests.evaluation.told import verdicts


def test_two_candidates_by_hand() -> None:
    found = ratings(tabulate("AB", verdicts("AB", "aab="), {}))
    # A has 2½ wins of 4, and half a document of ties: log((2.5 + .25)/(1.5 + .25)).
    assert found.values[0] - found.values[1] == pytest.approx(math.log(2.75 / 1.75))
    assert sum(found.values) == pytest.approx(0.0)


def test_the_jackknife_of_a_candidate_that_never_lost_by_hand() -> None:
    found = ratings(tabulate("AB", verdicts("AB", "aaa"), {}))
    assert found.values[0] - found.values[1] == pytest.approx(math.log(3.25 / 0.25))
    # Base log(3.5/.5); three deletions of a win log(2.5/.5); the ties' deletion, at weight .04, log(3.02/.02).
    changes = 3 * (math.log(5) - math.log(7)) ** 2 + (math.log(151) - math.log(7)) ** 2
    # Each of the two moves by half of what their difference moves by.
    assert found.error(0) == pytest.approx(math.sqrt(3 / 4 * changes) / 2)


def test_ties_alone_leave_the_jackknife_without_spread() -> None:
    found = ratings(tabulate("AB", verdicts("AB", "===="), {}))
    assert found.values == pytest.approx((0.0, 0.0))
    assert found.error(0) == 0.0


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(2, 6))
def test_at_the_maximum_expected_wins_equal_observed_wins(data: st.DataObject, k: int) -> None:
    met = [[0.0] * k for _ in range(k)]
    won = [[0.0] * k for _ in range(k)]
    for a in range(k):
        for b in range(a):
            n = data.draw(st.integers(0, 300))
            wins = data.draw(st.integers(0, 2 * n)) / 2
            met[a][b] = met[b][a] = n
            won[a][b], won[b][a] = wins, n - wins
    theta = fit(met, won, PRIOR)
    assert math.fsum(theta) == pytest.approx(0.0, abs=1e-9)
    for a in range(k):
        rivals = [b for b in range(k) if b != a]
        observed = sum(won[a][b] + PRIOR / 2 for b in rivals)
        expected = sum((met[a][b] + PRIOR) / (1 + math.exp(theta[b] - theta[a])) for b in rivals)
        assert expected == pytest.approx(observed, abs=1e-6)


@pytest.mark.parametrize("k", [2, 5, 12])
def test_a_ladder_in_which_everyone_always_beats_those_below_stays_finite(k: int) -> None:
    met = [[0.0 if a == b else 500.0 for b in range(k)] for a in range(k)]
    won = [[500.0 if a < b else 0.0 for b in range(k)] for a in range(k)]
    theta = fit(met, won, 0.04)
    assert all(math.isfinite(t) for t in theta)
    assert theta == sorted(theta, reverse=True)


def test_the_start_does_not_matter() -> None:
    met = [[0.0, 9.0, 9.0], [9.0, 0.0, 9.0], [9.0, 9.0, 0.0]]
    won = [[0.0, 9.0, 8.5], [0.0, 0.0, 4.0], [0.5, 5.0, 0.0]]
    assert fit(met, won, PRIOR, start=[-6.0, 2.0, 4.0]) == pytest.approx(fit(met, won, PRIOR), abs=1e-9)
