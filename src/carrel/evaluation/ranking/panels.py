"""Intervals of win shares that also cover the choice of judges: what would another panel of this kind say?

Documents and judges are both drawn, so the variance of a mean has a part of each (the crossed random effects of
Cronbach and others 1972): V = V_documents + V_judges − V_rest, never less than V_documents. Its degrees of freedom are
Satterthwaite's (1946). Three judges are the fewest with which such an interval tells anything. Where documents belong
together, V_documents is that of their groups, and V_rest that of single documents, which can only widen the interval.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from carrel.evaluation.ranking import cells
from carrel.evaluation.ranking.cells import VerdictColumns
from carrel.evaluation.statistics.intervals import Estimate
from carrel.evaluation.statistics.quantiles import student

if TYPE_CHECKING:
    from carrel.evaluation.ranking.cells import Array

LEAST_JUDGES = 3


def by_judge(heard: VerdictColumns) -> Array | None:
    """What each judge alone says of each candidate on each document; `None` without enough judges of equal weight."""
    import numpy as np

    judges = len(heard.judges)
    if judges < LEAST_JUDGES or len(set(heard.weights.tolist())) > 1:
        return None
    counts, means = cells.by_judge(heard)
    alone = np.where(counts > 0, means, np.nan)
    told: Array = np.stack([cells.on_documents(cells.both_sides(heard, alone[..., judge])) for judge in range(judges)])
    return told


def bounds(every: Array | None, candidate: int, share: Estimate, p: float) -> tuple[float, float] | tuple[None, None]:
    """The interval around `share`, from what `by_judge` found; two `None`s without it or with too few documents.

    Every judge must have judged the candidate on at least two documents.
    """
    import numpy as np

    if every is None or share.error is None:
        return None, None
    told = every[:, :, candidate]
    judges = len(told)
    there = ~np.isnan(told)
    if (there.sum(axis=1) < 2).any():
        return None, None
    from_judge, by_document = np.nanmean(told, axis=1), np.nanmean(told[:, there.any(axis=0)], axis=0)
    rest = told[:, there.any(axis=0)] - from_judge[:, None] - by_document + share.mean
    freedom = max(1, int(there.sum()) - judges - len(by_document) + 1)
    from_documents = share.error**2
    from_judges = float(from_judge.var(ddof=1)) / judges
    from_rest = float(np.nansum(rest**2)) / freedom / int(there.sum())
    variance = max(from_documents + from_judges - from_rest, from_documents)
    apart = from_documents**2 / share.freedom + from_judges**2 / (judges - 1)
    reach = student(p, max(1, math.floor(variance**2 / apart))) * math.sqrt(variance)
    return max(0.0, share.mean - reach), min(1.0, share.mean + reach)
