"""Quantiles against the printed tables, and where the two ways of computing them meet."""

import math

import pytest

from carrel.evaluation.statistics.quantiles import normal, student

# Values of any printed t table, and of 1 − .025/2 and 1 − .025/9 as used for several contrasts at once.
TABLE = [
    (0.95, 1, 6.313752),
    (0.975, 1, 12.706205),
    (0.975, 2, 4.302653),
    (0.975, 3, 3.182446),
    (0.975, 4, 2.776445),
    (0.975, 5, 2.570582),
    (0.975, 7, 2.364624),
    (0.975, 10, 2.228139),
    (0.975, 19, 2.093024),
    (0.975, 30, 2.042272),
    (0.975, 120, 1.979930),
    (0.99, 5, 3.364930),
    (0.995, 9, 3.249836),
    (0.9995, 10, 4.586894),
]


@pytest.mark.parametrize(("p", "freedom", "expected"), TABLE)
def test_student_agrees_with_the_printed_tables(p: float, freedom: int, expected: float) -> None:
    assert student(p, freedom) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("p", [0.6, 0.975, 0.9875, 0.9975, 0.99975])
def test_one_degree_of_freedom_is_the_cauchy_distribution(p: float) -> None:
    assert student(p, 1) == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-12)


@pytest.mark.parametrize("p", [0.975, 0.9975, 0.99975])
def test_the_finite_sum_and_the_expansion_meet(p: float) -> None:
    below, above = student(p, 399), student(p, 400)
    assert 0 < below - above < 1e-4
    # The slope in ν is smooth across the change of method: (ν=398→399) and (ν=399→400) differ in the third order only.
    assert (student(p, 398) - below) == pytest.approx(below - above, rel=0.01)


def test_student_tends_to_the_normal_quantile() -> None:
    assert student(0.975, 10**9) == pytest.approx(1.959963984540054, abs=1e-8)
    assert normal(0.975) == pytest.approx(1.959963984540054, abs=1e-12)


@pytest.mark.parametrize(("p", "freedom"), [(0.4, 5), (1.0, 5), (0.975, 0)])
def test_a_quantile_that_does_not_exist_is_refused(p: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="at least one degree of freedom"):
        student(p, freedom)
