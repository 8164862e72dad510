"""When a lead is more than chance explains: Student's t and the exact count of signs together, and failures.

Student's t is good when differences have many sizes; the count of signs is exact when they have few. Where the sums
that the signs can make lie close together, both err alike, and the mean of their probabilities decides; elsewhere each
of them must pass. A lead that passes must also withstand `failures`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from carrel.evaluation.statistics import clusters, failures, signflips
from carrel.evaluation.statistics.intervals import Estimate
from carrel.evaluation.statistics.quantiles import student_above

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CLOSE = 0.8
"""The sums lie close together if this one alone has at most so large a part of the error that is allowed."""
_CLOSE = 1e-12


def told(gap: Estimate, error: float, *, each: bool) -> bool:
    """Whether the lead passes with this error on its side, and holds in spite of failures.

    No difference is below −1. With `each`, both tests must pass however close the sums lie.
    """
    if gap.sample is None or not by_chance(gap, error, each=each):
        return False
    import numpy as np

    sums, sizes = gap.sample.units
    rows = sums / sizes.mean()
    both = np.array([rows, np.minimum(rows, cut(rows[None])[0])])
    return bool(failures.withstand(both, np.ones(2), error).any())


def by_chance(gap: Estimate, error: float, *, each: bool) -> bool:
    """Whether the lead passes both tests, whatever failures would leave of it."""
    if gap.error is None or gap.sample is None:
        return False
    by_t = student_above(standardised(gap), gap.freedom)
    return by_t <= error and _by_signs(gap.sample.by_group, error, by_t, each=each)


def cut(rows: Floats) -> Floats:
    """The value to cut each row at, so that Σx / √Σx² is greatest; infinite where that is so without a cut.

    What lies above it would make the spread greater than the mean. With the others cut, no greater value of any
    document makes a lead less sure. Values are NaN where there is none.
    """
    import numpy as np

    by_size = np.sort(rows, axis=1)
    known = np.nan_to_num(by_size)
    sums, squares = np.cumsum(known, axis=1), np.cumsum(known * known, axis=1)
    above = (known > 0) & (squares < known * sums * (1.0 - _CLOSE))
    found = np.full(len(rows), np.inf)
    some = above.any(axis=1)
    last = np.argmax(above[some], axis=1) - 1
    lines = np.arange(int(some.sum()))
    found[some] = squares[some][lines, last] / sums[some][lines, last]
    return found


def standardised(gap: Estimate) -> float:
    """The mean in units of its error, from values that are cut; as they are where documents belong together."""
    import numpy as np

    if gap.error is None or gap.sample is None or clusters.matter(gap.sample.groups) or gap.mean <= 0:
        return gap.mean / (gap.error or math.inf)
    values = np.array(gap.sample.values)
    values = np.minimum(values, cut(values[None])[0])
    total = float(values.sum())
    return total / math.sqrt(float(values @ values) - total * total / (len(values) + 1))


def _by_signs(differences: Sequence[float], error: float, by_t: float, *, each: bool) -> bool:
    most = error if each else 2 * error - by_t
    # The count can only be below this bound (Hoeffding 1963), so it need not be made.
    total, squares = math.fsum(differences), math.fsum(value * value for value in differences)
    if math.exp(-total * total / 2.0 / squares) <= error:
        return True
    count = signflips.count(differences)
    return count.probability <= (most if count.equal <= CLOSE * error else error)
