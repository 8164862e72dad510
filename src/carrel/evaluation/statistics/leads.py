"""When a lead is more than chance explains: Student's t and the exact count of signs together, and failures.

Student's t is good when differences have many sizes; the count of signs is exact when they have few. Where the sums
that the signs can make lie close together, both err alike, and the mean of their probabilities decides; elsewhere each
of them must pass. A lead that passes must also withstand `failures`.
"""

import math
from collections.abc import Sequence

from carrel.evaluation.statistics import failures, signflips
from carrel.evaluation.statistics.intervals import Estimate
from carrel.evaluation.statistics.quantiles import student_above

CLOSE = 0.8
"""The sums lie close together if this one alone has at most so large a part of the error that is allowed."""


def told(gap: Estimate, error: float, *, each: bool) -> bool:
    """Whether the lead passes with this error on its side, and holds in spite of failures.

    No difference is below −1. With `each`, both tests must pass however close the sums lie.
    """
    if gap.sample is None or not by_chance(gap, error, each=each):
        return False
    sums, sizes = gap.sample.units
    return bool(failures.withstand((sums / sizes.mean())[None], sizes[:1] ** 0, error)[0])


def by_chance(gap: Estimate, error: float, *, each: bool) -> bool:
    """Whether the lead passes both tests, whatever failures would leave of it."""
    if gap.error is None or gap.sample is None:
        return False
    by_t = student_above(gap.mean / gap.error, gap.freedom)
    return by_t <= error and _by_signs(gap.sample.by_group, error, by_t, each=each)


def _by_signs(differences: Sequence[float], error: float, by_t: float, *, each: bool) -> bool:
    most = error if each else 2 * error - by_t
    # The count can only be below this bound (Hoeffding 1963), so it need not be made.
    total, squares = math.fsum(differences), math.fsum(value * value for value in differences)
    if math.exp(-total * total / 2.0 / squares) <= error:
        return True
    count = signflips.count(differences)
    return count.probability <= (most if count.equal <= CLOSE * error else error)
