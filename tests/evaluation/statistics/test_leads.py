"""When a lead is told from chance: both tests, by hand and against the count that the bound spares."""

import math
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.evaluation.statistics import intervals, leads, signflips
from carrel.evaluation.statistics.quantiles import student_above

STEPS = st.lists(st.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0]), min_size=5, max_size=40)


def told(differences: Sequence[float], error: float = 0.025, *, each: bool = False) -> bool:
    return leads.told(intervals.difference(differences), differences, error, each=each)


def test_six_documents_that_agree_tell_two_candidates_and_five_do_not() -> None:
    assert told([1.0] * 6, each=True)
    assert not told([1.0] * 5, each=True)


def test_two_level_candidates_and_a_judge_that_agrees_with_itself_name_nobody_too_often() -> None:
    """The sum over everything that could have come out; Student's t alone is wrong in 6 to 12 of 100 runs."""
    worst = 0.0
    for documents in range(5, 41):
        for part in (0.0, 0.25, 0.5):
            wrong = 0.0
            for ties in range(documents + 1 if part else 1):
                clear = documents - ties
                chance = math.comb(documents, ties) * part**ties * (1 - part) ** clear
                wins = range(clear // 2 + 1, clear + 1)
                named = [n for n in wins if _named(n, clear - n, ties)]
                wrong += chance * 2 * sum(math.comb(clear, n) for n in named) / 2**clear
            worst = max(worst, wrong)
    assert 0.048 < worst <= 0.0491


@cache
def _named(wins: int, losses: int, ties: int) -> bool:
    return told([1.0] * wins + [-1.0] * losses + [0.0] * ties, each=True)


def test_the_mean_of_both_decides_where_the_sums_lie_close_together() -> None:
    # Student's t says .0226 and the count .0261: more than .025 by itself, and .0243 in the mean.
    differences = [-0.75] * 3 + [-0.25] * 3 + [0.25, 0.5, 0.5] + [0.75] * 6 + [1.0] * 3
    gap = intervals.difference(differences)
    by_t = student_above(gap.mean / (gap.error or 1.0), 17)
    count = signflips.count(differences)
    assert by_t < 0.025 < count.probability
    assert by_t + count.probability < 0.05
    assert count.equal < leads.CLOSE * 0.025
    assert told(differences)
    assert not told(differences, each=True)


def test_where_they_lie_apart_each_must_pass_by_itself() -> None:
    # Of ten tosses eight agree: this one sum has .044 of all chance.
    differences = [1.0] * 8 + [-1.0] * 2
    assert signflips.count(differences).equal > leads.CLOSE * 0.025
    assert not told(differences)


@settings(max_examples=150, deadline=None)
@given(STEPS, st.sampled_from([0.025, 0.01, 0.002]), st.booleans())
def test_the_bound_that_spares_the_count_changes_nothing(differences: list[float], error: float, each: bool) -> None:
    gap = intervals.difference(differences)
    by_t = student_above(gap.mean / (gap.error or 1.0), gap.freedom)
    count = signflips.count(differences)
    close = count.equal <= leads.CLOSE * error and not each
    expected = by_t <= error and (count.probability + by_t <= 2 * error if close else count.probability <= error)
    assert told(differences, error, each=each) == expected


def test_a_lead_borrows_its_spread_from_three_others_by_hand() -> None:
    own = intervals.Estimate(0.2, 0.1, 20)
    others = [intervals.Estimate(0.5, error, 20) for error in (0.05, 0.06, 0.07)]
    # Variances: own .2, the others .05, .072 and .098, mean .07333; (19 · .2 + 10 · .07333) / 29 = .15632.
    found = intervals.steadied(own, others)
    assert found.error == pytest.approx(math.sqrt(0.1563218 / 20))
    assert (found.mean, found.documents, found.freedom) == (0.2, 20, 29)
    assert intervals.steadied(own, others[:2]) == own


def test_a_lead_that_borrows_may_have_a_little_less_error() -> None:
    differences = [-0.75] * 3 + [-0.25] * 3 + [0.25, 0.5, 0.5] + [0.75] * 6 + [1.0] * 3
    gap = intervals.difference(differences)._replace(borrowed=intervals.BORROWED)
    by_t = student_above(gap.mean / (gap.error or 1.0), 27)
    together = (by_t + signflips.probability(differences)) / 2
    assert leads.told(gap, differences, together / 0.959, each=False)
    assert not leads.told(gap, differences, together / 0.961, each=False)
