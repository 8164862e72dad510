"""Means that keep their precision: exact sums, and weights of any size."""

import math
from collections.abc import Sequence


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def weighted_mean(weighted: Sequence[tuple[float, float]]) -> float:
    """The mean of (weight, value); dividing by the greatest weight first keeps huge and tiny weights finite."""
    greatest = max(weight for weight, _ in weighted)
    shares = [(weight / greatest, value) for weight, value in weighted]
    total = math.fsum(share for share, _ in shares)
    return math.fsum(share * value for share, value in shares) / total
