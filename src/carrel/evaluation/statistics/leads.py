"""When a lead is more than chance explains: Student's t and the exact count of signs, taken together.

Student's t is good when differences have many sizes; the count of signs is exact when they have few. Where the sums
that the signs can make lie close together, both err alike, and the mean of their probabilities decides; elsewhere each
of them must pass.
"""

import math
from collections.abc import Sequence

from carrel.evaluation.statistics import signflips
from carrel.evaluation.statistics.intervals import OF_BORROWERS, Estimate
from carrel.evaluation.statistics.quantiles import student_above

CLOSE = 0.8
"""The sums lie close together if this one alone has at most so large a part of the error that is allowed."""


def told(gap: Estimate, differences: Sequence[float], error: float, *, each: bool) -> bool:
    """Whether the lead passes with this error on its side, or a little less if it borrows.

    `gap` is of these differences. With `each`, both tests must pass however close the sums lie.
    """
    if gap.borrowed:
        error *= OF_BORROWERS
    if gap.error is None or (by_t := student_above(gap.mean / gap.error, gap.freedom)) > error:
        return False
    most = error if each else 2 * error - by_t
    # The count can only be below this bound (Hoeffding 1963), so it need not be made.
    total, squares = math.fsum(differences), math.fsum(value * value for value in differences)
    if math.exp(-total * total / 2.0 / squares) <= error:
        return True
    count = signflips.count(differences)
    return count.probability <= (most if count.equal <= CLOSE * error else error)
