"""What a run could have found, by judges that agree with themselves and with each other as its own did.

Before a run nobody knows how much its judges agree, so `power` gives a range between two kinds of judges. A run shows
it: the spread of the leads over documents, beside the spread that they would have if every document were one toss of a
coin for each pair. The chance to find a lead then lies on the line between the two tables (on the scale of the normal
distribution, by the root of that ratio), or beyond the better one with several judges. `tests/evaluation/promises.py`
measures how well that holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from carrel.evaluation.ranking.contrasts import DECIDES_FROM
from carrel.evaluation.ranking.power import chance_to_decide

if TYPE_CHECKING:
    from carrel.evaluation.ranking.cells import Array

_NORMAL = NormalDist()
_LEAST, _MOST = 0.002, 0.998
_NARROWEST, _WIDEST = 0.3, 1.5
"""Ratios beyond these parts of the two tables' are taken to be these."""
_BENT: dict[int, tuple[float, float]] = {2: (1.2, 0.0), 3: (1.0, 0.1), 5: (1.1, 0.1), 10: (1.4, 0.0)}
"""By number of candidates: the slope of that line, and what is added to it. With 1 and 0, runs of two and of ten
candidates said up to 15 of 100 too few."""
_REACH = 0.9
"""So many standard errors of a logarithm of the spread the range goes to either side."""
_APART = 0.04
"""How far the tables themselves may be off: runs of kinds that nobody tuned them for."""
# The ratio in the simulations of the tables, by number of candidates: anew, sure.
_RATIOS: dict[int, tuple[float, float]] = {
    2: (0.514, 1.000),
    3: (0.537, 1.303),
    4: (0.552, 1.616),
    5: (0.574, 1.939),
    6: (0.598, 2.264),
    8: (0.637, 2.919),
    10: (0.680, 3.582),
    15: (0.779, 5.243),
}


def spread(y: Array) -> float | None:
    """The spread of leads over documents, 1 if each pair had one toss of a coin; `y` as `cells.averaged` gives it.

    `None` if no two candidates met on two documents, or if every pair always had the same winner.
    """
    import numpy as np

    met = ~np.isnan(y)
    heard = met.sum(axis=0)
    usual = np.where(met, y, 0.0).sum(axis=0) / np.maximum(heard, 1)
    tossed = np.where(heard > 1, usual * (1.0 - usual), 0.0)
    rivals = met.sum(axis=2)
    shares = np.where(rivals > 0, np.where(met, y, 0.0).sum(axis=2) / np.maximum(rivals, 1), np.nan)
    k = y.shape[1]
    seen = expected = 0.0
    for a in range(k):
        for b in range(a + 1, k):
            gaps = shares[:, a] - shares[:, b]
            gaps = gaps[~np.isnan(gaps)]
            if len(gaps) < 2 or not heard[a, b]:
                continue
            seen += float(gaps.var(ddof=1))
            # Two of the terms are the pair itself, seen from both sides, and move together.
            expected += float(tossed[a].sum() + tossed[b].sum() + 2 * tossed[a, b]) / (k - 1) ** 2
    return seen / expected if expected > 0 else None


class Chance(NamedTuple):
    """The chance to find a true lead, and from where to where it lies in four of five runs by most kinds of judges."""

    likely: float
    low: float
    high: float


def chance(y: Array, documents: int, *, early: bool) -> Chance | None:
    """The chance to find a true lead of 69 % on so many documents, to two digits.

    Few documents show the spread poorly, so the range goes over spreads that such a run may show. `None` where judges
    show nothing of their spread.
    """
    import numpy as np

    there = np.flatnonzero((~np.isnan(y)).any(axis=(0, 2)))
    if len(y) < DECIDES_FROM or documents < DECIDES_FROM or len(there) < 2:
        return None
    found = spread(y[:, there][:, :, there])
    if found is None:
        return None
    reach = math.exp(_REACH * math.sqrt(2.0 / (len(y) - 1)))
    likely, low, high = (
        _by_spread(one, documents, len(there), early=early) for one in (found, found * reach, found / reach)
    )
    return Chance(likely, max(0.0, round(low - _APART, 2)), min(0.99, round(high + _APART, 2)))


def _by_spread(found: float, documents: int, k: int, *, early: bool) -> float:
    anew, sure = _at(_RATIOS, k)
    found = min(max(found, _NARROWEST * anew), _WIDEST * sure)
    ends = [
        _NORMAL.inv_cdf(min(max(chance_to_decide(documents, k, early=early, sure=kind), _LEAST), _MOST))
        for kind in (False, True)
    ]
    along = (found**-0.5 - sure**-0.5) / (anew**-0.5 - sure**-0.5)
    slope, shift = _at(_BENT, k)
    return round(min(0.99, _NORMAL.cdf(ends[1] + slope * along * (ends[0] - ends[1]) + shift)), 2)


def _at(table: Mapping[int, tuple[float, float]], candidates: int) -> tuple[float, float]:
    """Both numbers, on the line between the neighbours that the table has."""
    known = sorted(table)
    low = max((k for k in known if k <= candidates), default=known[0])
    high = min((k for k in known if k >= candidates), default=known[-1])
    part = (candidates - low) / (high - low) if high > low else 0.0
    first, second = ((1.0 - part) * a + part * b for a, b in zip(table[low], table[high], strict=True))
    return first, second
