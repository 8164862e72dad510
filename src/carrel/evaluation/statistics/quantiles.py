"""Quantiles of the normal and of Student's t distribution, to full double precision for whole degrees of freedom."""

import math
from functools import lru_cache
from statistics import NormalDist

_NORMAL = NormalDist()
_BISECTIONS = 80
_EXPANSION_FROM = 400
"""From here on the expansion in 1/ν is exact to about 1e-10, and the finite sum would only cost time."""


def normal(p: float) -> float:
    """The value below which a standard normal variable falls with probability `p`."""
    return _NORMAL.inv_cdf(p)


@lru_cache(maxsize=4096)
def student(p: float, freedom: int) -> float:
    """The value below which Student's t with `freedom` ≥ 1 degrees of freedom falls with probability `p`, ½ ≤ p < 1.

    Solved by bisection on θ = atan(t/√ν), in which the probability is a finite sum (Abramowitz & Stegun 1964,
    26.7.3–4); for many degrees of freedom by the expansion around the normal quantile (ibid., 26.7.5).
    """
    if not 0.5 <= p < 1.0 or freedom < 1:
        raise ValueError("student needs ½ ≤ p < 1 and at least one degree of freedom")
    if freedom >= _EXPANSION_FROM:
        return _expansion(normal(p), freedom)
    low, high = 0.0, math.pi / 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _central_probability(middle, freedom) < 2 * p - 1:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def student_above(t: float, freedom: int) -> float:
    """The probability that Student's t with `freedom` ≥ 1 degrees of freedom is above `t`."""
    central = _central_probability(math.atan(abs(t) / math.sqrt(freedom)), freedom)
    return (1.0 - central) / 2 if t >= 0 else (1.0 + central) / 2


def _central_probability(theta: float, freedom: int) -> float:
    """P(|T| < √ν · tan θ)."""
    cosine, sine = math.cos(theta), math.sin(theta)
    if freedom % 2 == 0:
        term = total = sine
        for j in range(2, freedom, 2):
            term *= (j - 1) / j * cosine * cosine
            total += term
        return total
    total = theta
    if freedom > 1:
        term = sine * cosine
        total += term
        for j in range(3, freedom, 2):
            term *= (j - 1) / j * cosine * cosine
            total += term
    return 2 / math.pi * total


def _expansion(x: float, freedom: int) -> float:
    first = (x**3 + x) / 4
    second = (5 * x**5 + 16 * x**3 + 3 * x) / 96
    third = (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384
    fourth = (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160
    return x + first / freedom + second / freedom**2 + third / freedom**3 + fourth / freedom**4
