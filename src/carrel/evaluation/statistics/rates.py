"""Rates: the share of documents that pass something, with an interval that holds also near 0 and 1."""

import math
from collections.abc import Sequence
from typing import Final

import msgspec

from carrel.evaluation.statistics import clusters, intervals
from carrel.evaluation.statistics.intervals import rounded, rounded_or_none
from carrel.evaluation.statistics.means import mean
from carrel.evaluation.statistics.quantiles import normal

_P: Final = 0.975


class PassRate(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of one value from 0 to 1 for each document, with its 95 % interval by document.

    `share` is `None` without documents. `missing` documents have no value.
    """

    share: float | None
    low: float | None
    high: float | None
    documents: int
    missing: int = 0


def rate(values: Sequence[float], groups: Sequence[int] = (), missing: int = 0) -> PassRate:
    """The rate of the values, one for each document; `groups` has the number of each document's group.

    Where all values are 0 or 1 and documents stand alone, the interval is that of Wilson (1927). Otherwise it is that
    of a mean over documents or groups, with one further neutral value in its error.
    """
    if not values:
        return PassRate(share=None, low=None, high=None, documents=0, missing=missing)
    whole = all(value in (0.0, 1.0) for value in values)
    low: float | None
    high: float | None
    if whole and not clusters.matter(groups):
        low, high = wilson(round(math.fsum(values)), len(values))
    else:
        low, high = intervals.share(values, groups).bounds(_P, 0.0, 1.0)
    return PassRate(
        share=rounded(mean(values)),
        low=rounded_or_none(low),
        high=rounded_or_none(high),
        documents=len(values),
        missing=missing,
    )


def wilson(passed: float, of: float, p: float = _P) -> tuple[float, float]:
    """The score interval of a share (Wilson 1927); `p` is the probability up to which it reaches on either side."""
    z = normal(p)
    share, extra = passed / of, z * z / of
    centre = share + extra / 2.0
    reach = z * math.sqrt(share * (1.0 - share) / of + extra / (4.0 * of))
    return max(0.0, (centre - reach) / (1.0 + extra)), min(1.0, (centre + reach) / (1.0 + extra))
