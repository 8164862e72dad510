"""The count of signs, by hand and against all of them one by one."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.evaluation.statistics import signflips

LEADS = st.lists(st.sampled_from([-1.0, -0.75, -0.5, -1 / 3, 0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=9)


def test_six_documents_of_one_size_that_agree_count_whole() -> None:
    assert signflips.probability([1.0] * 6) == 2**-6
    assert signflips.probability([1.0] * 6 + [0.0]) == 2**-6


def test_documents_of_different_sizes_count_half_of_what_is_equal() -> None:
    # Of the sixteen sums three are greater and one is as great.
    assert signflips.probability([1.0, 0.5, -0.25, -0.125]) == 3 / 16 + 1 / 32


def test_they_count_whole_where_further_wins_could_make_them_one_size() -> None:
    assert signflips.probability([1.0, 1.0, 1.0, 1.0, 1 / 3]) == signflips.probability([1.0] * 5) == 2**-5
    # Greater: +1 +½ +½ (1 of 8). Equal to 1: +1 with one of the halves against it (2 of 8).
    assert signflips.probability([1.0, 0.5, -0.5]) == 3 / 8


def test_ties_alone_tell_nothing() -> None:
    assert signflips.probability([0.0] * 9) == 1.0


@settings(max_examples=60, deadline=None)
@given(LEADS)
def test_it_is_what_counting_every_choice_of_signs_gives(leads: list[float]) -> None:
    total = sum(leads)
    sums = [
        sum(sign * lead for sign, lead in zip(signs, leads, strict=True))
        for signs in product((1, -1), repeat=len(leads))
    ]
    above = sum(found > total + 1e-9 for found in sums) / len(sums)
    equal = sum(abs(found - total) <= 1e-9 for found in sums) / len(sums)
    losses = [lead for lead in leads if lead < 0]
    alike = sum(lead > 0 for lead in leads) + max(map(losses.count, losses), default=0)
    wanted = above + equal * (1.0 if alike >= 0.85 * len(leads) else 0.5) if any(leads) else 1.0
    assert signflips.probability(leads) == pytest.approx(wanted)


@settings(max_examples=100, deadline=None)
@given(LEADS, st.data())
def test_no_greater_difference_makes_it_greater(leads: list[float], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(leads) - 1))
    more = [*leads]
    more[place] = data.draw(st.sampled_from([lead for lead in (-0.5, 0.0, 0.25, 0.5, 1.0) if lead >= leads[place]]))
    before = signflips.probability(leads)
    assert sum(leads) <= 0 or signflips.probability(more) <= before + 1e-12


def test_differences_that_are_multiples_of_nothing_are_counted_closely() -> None:
    leads = [0.3141592, -0.1234567, 0.7071067, 0.2718281, 0.5772156, -0.0915965, 0.4142135, 0.6931471]
    sums = [sum(s * lead for s, lead in zip(signs, leads, strict=True)) for signs in product((1, -1), repeat=8)]
    exact = (sum(found > sum(leads) + 1e-9 for found in sums) + 0.5) / 256
    assert signflips.probability(leads) == pytest.approx(exact, abs=1 / 512)


def test_five_hundred_documents_come_close_to_the_normal_distribution() -> None:
    leads = [1.0] * 272 + [-1.0] * 228
    # 44/√500 = 1.9677 deviations, less half a step: 1 − Φ(1.9230).
    assert signflips.probability(leads) == pytest.approx(0.0272, abs=0.0002)
