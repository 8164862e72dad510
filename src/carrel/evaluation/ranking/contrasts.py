"""The leader's lead over every other candidate, and when it is more than chance explains."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from carrel.evaluation.ranking import bradley_terry, missing, scores, shares, stopping
from carrel.evaluation.ranking.bradley_terry import Ratings
from carrel.evaluation.ranking.cells import VerdictColumns
from carrel.evaluation.ranking.scores import Cells
from carrel.evaluation.ranking.stopping import Look
from carrel.evaluation.ranking.table import PairTable
from carrel.evaluation.statistics import clusters, intervals, leads
from carrel.evaluation.statistics.clusters import Sample
from carrel.evaluation.statistics.intervals import Estimate, rounded, rounded_or_none

DECIDES_FROM = 5
"""With fewer documents, or groups of them, Carrel calls nothing best, whatever the interval says; a look may need
more."""
UNANIMOUS = 6
"""So many documents that all say the same are the fewest that can tell two candidates apart."""

Scale = Literal["win_share", "rating", "score"]


class DocumentsNeeded(msgspec.Struct, frozen=True):
    """From how many to how many documents would tell a lead with a chance of 80 %."""

    low: int
    high: int


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """The leader's lead over one candidate, by their common opponents, with an interval at 95 %.

    The scale is the win share, or the score when nothing was compared. If the two have no common opponent on any
    document, it is the rating, without an interval. `excludes_zero`: the lead over this one is more than chance
    explains, by the interval and by a count of signs over documents or their groups; where only the count says no,
    `low` is 0. `held_back`: it would be excluded, but for verdicts that are missing and could have gone against the
    leader. `documents_needed` is from how many to how many documents would tell, `None` if that cannot be told yet.
    `head_to_head` is the leader's share of its direct meetings with this one, on `met` documents. `beaten_after`: a
    look at so many documents told it from the leader of then, and it took no further part.
    """

    candidate: str
    scale: Scale
    lead: float
    low: float | None
    high: float | None
    excludes_zero: bool
    documents_needed: DocumentsNeeded | None = None
    head_to_head: float | None = None
    met: int = 0
    beaten_after: int | None = None
    held_back: bool = False


def by_shares(
    heard: VerdictColumns, table: PairTable, order: Sequence[int], ratings: Ratings, look: Look | None
) -> tuple[Contrast, ...]:
    """The first of the order against every other, in that order."""
    first, rivals = order[0], order[1:]
    by_rival = shares.leads(table, first)
    gaps = _estimates(by_rival)
    direct = shares.head_to_head(table, first)
    beaten = {} if look is None else {table.candidates.index(one.candidate): one.documents for one in look.beaten}
    # So small a level as an early look's asks each test to be exact by itself.
    is_early = look is not None and not look.is_last

    def others(told: Mapping[int, Estimate], rival: int) -> list[Estimate]:
        return [] if is_early else [gap for i, gap in told.items() if i != rival and i not in beaten]

    def contrasted(samples: Mapping[int, Sample], told: Mapping[int, Estimate], rival: int) -> Contrast:
        name = table.candidates[rival]
        return _contrast(name, "win_share", samples[rival], told[rival], look, others(told, rival))

    as_told = {rival: contrasted(by_rival, gaps, rival) for rival in rivals if rival in gaps}
    # Only a lead can be taken away by what is missing.
    at_worst = missing.leads(heard, first) if any(one.excludes_zero for one in as_told.values()) else {}
    gaps_at_worst = _estimates(at_worst)
    found = []
    for rival in rivals:
        if rival in as_told:
            contrast = as_told[rival]
            if contrast.excludes_zero and rival in gaps_at_worst:
                held = not contrasted(at_worst, gaps_at_worst, rival).excludes_zero
                contrast = _held_back(contrast) if held else contrast
        else:
            lead = bradley_terry.gap(table, ratings, first, rival)
            contrast = _untold(table.candidates[rival], "rating", lead)
        if rival in beaten:
            contrast = msgspec.structs.replace(contrast, excludes_zero=True, beaten_after=beaten[rival])
        if rival in direct:
            share, met = direct[rival]
            contrast = msgspec.structs.replace(contrast, head_to_head=rounded(share), met=met)
        found.append(contrast)
    return tuple(found)


def by_scores(
    cells: Cells,
    candidates: Sequence[str],
    order: Sequence[int],
    weights: Mapping[str, float],
    groups: Mapping[str, str],
) -> tuple[Contrast, ...]:
    """The same by scores; `groups` are those of documents that belong together."""
    first, rivals = order[0], order[1:]
    found = []
    for rival in rivals:
        gaps = clusters.sampled(scores.differences(cells, candidates[first], candidates[rival], weights), groups)
        name = candidates[rival]
        gap = intervals.difference(*gaps) if gaps.values else None
        found.append(_contrast(name, "score", gaps, gap) if gap else _untold(name, "score", 0.0))
    return tuple(found)


def _estimates(samples: Mapping[int, Sample]) -> dict[int, Estimate]:
    return {rival: intervals.difference(*sample) for rival, sample in samples.items() if sample.values}


def _contrast(
    candidate: str,
    scale: Scale,
    differences: Sample,
    own: Estimate,
    look: Look | None = None,
    others: Sequence[Estimate] = (),
) -> Contrast:
    """`others` are the same leader's leads over others that are still in the field, if those may be counted on.

    Groups of documents are counted on by themselves: as few as they often are, each test has to pass.
    """
    part = stopping.part_of(look)
    lent = () if clusters.matter(differences.groups) else others
    gap = intervals.steadied(own, lent)
    low, high = gap.bounds(intervals.probability(part), -1.0, 1.0)
    excludes = False
    if low is not None and low > 0 and differences.independent >= DECIDES_FROM:
        excludes = leads.told(gap, differences.by_group, intervals.ONE_SIDED * part, each=not lent)
        low = low if excludes else 0.0
    needed = intervals.documents_needed(gap, part)
    return Contrast(
        candidate=candidate,
        scale=scale,
        lead=rounded(gap.mean),
        low=rounded_or_none(low),
        high=rounded_or_none(high),
        excludes_zero=excludes,
        documents_needed=None if needed is None else DocumentsNeeded(*needed),
    )


def _held_back(contrast: Contrast) -> Contrast:
    """More documents would not help, because as much of them would be missing."""
    return msgspec.structs.replace(contrast, excludes_zero=False, low=0.0, documents_needed=None, held_back=True)


def _untold(candidate: str, scale: Scale, lead: float) -> Contrast:
    """Two candidates that are connected only through others are never called different."""
    return Contrast(
        candidate=candidate,
        scale=scale,
        lead=rounded(lead),
        low=None,
        high=None,
        excludes_zero=False,
    )
