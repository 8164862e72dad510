"""Whether a change makes things worse: bounds of a mean of differences that hold with few and with lopsided documents.

A difference is mostly 0, and rarely −1: one document in twenty that passed and now fails. With forty documents all
differences may well be 0, and Student's t would be sure. The bound here is that of Gaffke (2005), recommended by
Learned-Miller and Thomas (2020): the documents get random weights (Dirichlet, as in the Bayesian bootstrap) together
with one further document of the worst possible value. For values of 0 and 1 it is that of Clopper and Pearson, so it is
exact or too wide; for many documents it is the usual one.

The weights are exponential variables divided by their sum, so that the weighted mean is below m with the probability
that a sum of scaled exponentials is below 0. A saddlepoint gives it (`failures.no_more_than_0`): no random numbers.
"""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from carrel.evaluation.statistics import clusters, failures
from carrel.evaluation.statistics.intervals import rounded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ERROR: Final = 0.05
"""The error of each one-sided bound."""
MOST_DOCUMENTS: Final = 1_000_000
_POWER_Z: Final = 0.84
_STEPS: Final = 25
_DIGITS: Final = 4
_NORMAL = NormalDist()

Outcome = Literal["better", "not_worse", "worse", "undecided"]


class Extreme(NamedTuple):
    """Differences as what is missing could have made them, with how much of each document counts, and the groups."""

    values: Sequence[float]
    sizes: Sequence[float]
    groups: Sequence[int]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The mean difference between a candidate and its baseline over documents, candidate minus baseline.

    With an error of 5 % each, the true one is not below `low`, and not above `high`. `independent` is the number of
    documents, or of groups of them. About `needed` documents would decide it; `None` if that cannot be told, or if it
    is decided.
    """

    difference: float
    low: float
    high: float
    documents: int
    independent: int
    outcome: Outcome
    needed: int | None = None


def change(
    differences: Sequence[float],
    groups: Sequence[int],
    *,
    margin: float,
    reach: float,
    worse_error: float = ERROR,
    worst: Extreme | None = None,
    best: Extreme | None = None,
) -> Change:
    """What the differences of documents say; there must be at least one.

    They lie between −`reach` and `reach`. A candidate is `not_worse` if `low` is above −`margin`, else `worse` if the
    upper bound with an error of `worse_error` is below 0. `groups` has the number of each document's group. Where
    something is missing, `low` is that of the `worst`, and `high` that of the `best`.
    """
    units = _Units.of(differences, groups)
    lowest = units if worst is None else _Units.of(worst.values, worst.groups, worst.sizes)
    turned = (units if best is None else _Units.of(best.values, best.groups, best.sizes)).turned()
    low, high = lowest.lower_bound(-reach, ERROR), -turned.lower_bound(-reach, ERROR)
    outcome = _outcome(turned, low, margin, reach, worse_error)
    return Change(
        difference=rounded(units.mean),
        low=rounded(low),
        high=rounded(high),
        documents=len(differences),
        independent=units.independent,
        outcome=outcome,
        needed=_needed(lowest, turned, margin, reach, worse_error) if outcome == "undecided" else None,
    )


def chance_of_worse(worst: Extreme, *, margin: float, reach: float) -> float:
    """How probable such differences are, at most, if the candidate is worse by the margin; ½ stands for more, too."""
    return _Units.of(worst.values, worst.groups, worst.sizes).chance_below(-margin, -reach)


def lower_bound(values: Sequence[float], least: float, error: float = ERROR) -> float:
    """The mean of values that are at least `least` is above this, but for the error."""
    return _Units.of(values, ()).lower_bound(least, error)


def _outcome(turned: "_Units", low: float, margin: float, reach: float, worse_error: float) -> Outcome:
    if low > 0:
        return "better"
    if low > -margin:
        return "not_worse"
    return "worse" if turned.chance_below(0.0, -reach) < worse_error else "undecided"


def _needed(lowest: "_Units", turned: "_Units", margin: float, reach: float, worse_error: float) -> int | None:
    """How many documents like these would decide, with a chance of 80 %, whichever takes fewer."""
    claims = ((lowest, -margin, ERROR), (turned, 0.0, worse_error))
    found = [(_times(one, at, -reach, error), one) for one, at, error in claims if one.mean > at]
    known = [times * float(one.counts @ one.sizes) for times, one in found if times is not None]
    if not known:
        return None
    documents = math.ceil(min(known))
    return documents if documents <= MOST_DOCUMENTS else None


def _times(units: "_Units", at: float, least: float, error: float) -> float | None:
    """How many times these units would show that the mean is above `at`; `None` if a million times would not."""
    stricter = _NORMAL.cdf(_NORMAL.inv_cdf(error) - _POWER_Z)

    def enough(times: float) -> bool:
        return units.chance_below(at, least, times) < stricter

    low, high = 0.0, math.log(MOST_DOCUMENTS)
    if not enough(math.exp(high)):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(math.exp(middle)) else (middle, high)
    return math.exp(high)


class _Units(NamedTuple):
    """The documents, or the groups of those that belong together: the sum and the number of the values of each.

    Those that are alike stand together, as often as `counts` says.
    """

    sums: "Floats"
    sizes: "Floats"
    counts: "Floats"

    @classmethod
    def of(cls, values: Sequence[float], groups: Sequence[int], weights: Sequence[float] | None = None) -> "_Units":
        import numpy as np

        sizes = [1.0] * len(values) if weights is None else list(weights)
        sums = [value * size for value, size in zip(values, sizes, strict=True)]
        if clusters.matter(groups):
            sums, sizes = clusters.sums(sums, groups), clusters.sums(sizes, groups)
        alike = Counter(zip((round(value, _DIGITS) for value in sums), sizes, strict=True))
        pairs = np.array(sorted(alike), dtype=float)
        return cls(pairs[:, 0], pairs[:, 1], np.array([alike[pair] for pair in sorted(alike)], dtype=float))

    @property
    def independent(self) -> int:
        """How many units there are."""
        return round(float(self.counts.sum()))

    @property
    def mean(self) -> float:
        """The mean over documents."""
        return float(self.counts @ self.sums) / float(self.counts @ self.sizes)

    def turned(self) -> "_Units":
        """The same with the opposite sign."""
        return self._replace(sums=-self.sums)

    def lower_bound(self, least: float, error: float) -> float:
        """The mean is above this, but for the error."""
        low, high = least, self.mean
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.chance_below(middle, least) < error else (low, middle)
        return low

    def chance_below(self, at: float, least: float, times: float = 1.0) -> float:
        """The chance that the weighted mean is below `at`, with the units so many `times` and one of value `least`.

        0.5 wherever it is more than about that.
        """
        import numpy as np

        usual = float(self.counts @ self.sizes) / float(self.counts.sum())
        scaled = np.append(self.sums - self.sizes * at, usual * (least - at))
        return float(failures.no_more_than_0(scaled[None], np.append(self.counts * times, 1.0)[None])[0])
