"""A difference that is paired by document: how large it is, and whether it is more than chance explains."""

from typing import Literal

import msgspec

from carrel.evaluation.ranking.contrasts import DECIDES_FROM
from carrel.evaluation.statistics import intervals, leads
from carrel.evaluation.statistics.clusters import Sample
from carrel.evaluation.statistics.intervals import rounded, rounded_or_none


class PairedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """How much more there is here than there: the mean over the documents of both sides, paired by document.

    `low` and `high` are its interval at 95 %, `None` for a single document or group of them. `independent` is the
    number of documents, or of groups of them. `better` or `worse` only if the difference is more than chance explains,
    by the same rules as a lead within a run.
    """

    difference: float
    low: float | None
    high: float | None
    documents: int
    independent: int
    outcome: Literal["better", "worse", "undecided"]


def paired(sample: Sample) -> PairedDifference:
    """The interval is `intervals.difference`, and what it tells is what `contrasts` asks of a lead within a run."""
    gap = intervals.difference(*sample)
    low, high = gap.bounds(intervals.probability(), -1.0, 1.0)
    is_told = False
    if low is not None and high is not None and not low <= 0.0 <= high:
        turned = gap if gap.mean > 0 else intervals.difference([-value for value in sample.values], sample.groups)
        is_told = sample.independent >= DECIDES_FROM and leads.told(turned, intervals.ONE_SIDED, each=True)
        # As with a lead: where only the count of signs says no, the interval reaches to 0.
        low, high = (low, high) if is_told else (min(low, 0.0), max(high, 0.0))
    return PairedDifference(
        difference=rounded(gap.mean),
        low=rounded_or_none(low),
        high=rounded_or_none(high),
        documents=gap.documents,
        independent=sample.independent,
        outcome="undecided" if not is_told else "better" if gap.mean > 0 else "worse",
    )
