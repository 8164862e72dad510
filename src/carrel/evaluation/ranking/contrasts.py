"""The leader's lead over every other candidate, and when it is more than chance explains."""

from collections.abc import Callable, Collection, Mapping, Sequence
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

AtWorst = Callable[[Sequence[int]], Mapping[int, Sample]]
Scale = Literal["win_share", "rating", "score"]


class DocumentsNeeded(msgspec.Struct, frozen=True):
    """From how many to how many documents would tell a lead with a chance of 80 %."""

    low: int
    high: int


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """The leader's lead over one candidate, by their common opponents, with an interval.

    The scale is the win share, or the score when nothing was compared. If the two have no common opponent on any
    document, it is the rating, without an interval. `ahead`: this lead by itself is more than chance explains, by
    the interval at 95 % and by a count of signs over documents or their groups; the leader is best if it is ahead
    of all. `excludes_zero`: this candidate is ruled out, because the leader is best, or because the lead would be
    `ahead` even if any two of the candidates had been picked for their distance. `low` has the error of that, and
    is 0 where tests decide otherwise than the interval. `held_back`: it would be `ahead`, but for verdicts, scores
    or marks that are missing and could have gone against the leader. `documents_needed` is from how many to how
    many documents would tell, `None` if that cannot be told yet. `head_to_head` is the leader's share of its direct
    meetings with this one, on `met` documents. `beaten_after`: a look at so many documents told it from the leader
    of then, and it took no further part.
    """

    candidate: str
    scale: Scale
    lead: float
    low: float | None
    high: float | None
    excludes_zero: bool
    ahead: bool
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
    gaps = _estimates(shares.leads(table, first))
    direct = shares.head_to_head(table, first)
    beaten = {} if look is None else {table.candidates.index(one.candidate): one.documents for one in look.beaten}
    # So small a level as an early look's asks each test to be exact by itself.
    each = (look is not None and not look.is_last) or len(gaps.keys() - beaten.keys()) < 2

    def contrasted(told: Mapping[int, Estimate]) -> dict[int, Contrast]:
        return _contrasts(table.candidates, "win_share", told, beaten, look, each=each)

    as_told = contrasted(gaps)
    # Only a lead can be taken away by what is missing.
    any_told = any(one.ahead for one in as_told.values())
    at_worst = contrasted(_estimates(missing.leads(heard, first))) if any_told else {}
    found = []
    for rival in rivals:
        if rival in as_told:
            contrast = as_told[rival]
            if contrast.ahead and rival in at_worst:
                contrast = _held_back(contrast, at_worst[rival])
        else:
            lead = bradley_terry.gap(table, ratings, first, rival)
            contrast = _untold(table.candidates[rival], "rating", lead)
        if rival in beaten:
            contrast = msgspec.structs.replace(contrast, excludes_zero=True, ahead=True, beaten_after=beaten[rival])
        if rival in direct:
            share, met = direct[rival]
            contrast = msgspec.structs.replace(contrast, head_to_head=rounded(share), met=met)
        found.append(contrast)
    return _of_best(found)


def by_scores(
    cells: Cells,
    candidates: Sequence[str],
    order: Sequence[int],
    weights: Mapping[str, float],
    groups: Mapping[str, str],
    at_worst: AtWorst | None = None,
) -> tuple[Contrast, ...]:
    """The same by scores; `groups` are those of documents that belong together.

    `at_worst` tells the leads of the first of an order with what is missing against it.
    """
    first, rivals = order[0], order[1:]
    samples = {
        rival: clusters.sampled(scores.differences(cells, candidates[first], candidates[rival], weights), groups)
        for rival in rivals
    }
    found = _contrasts(candidates, "score", _estimates(samples), (), None, each=True)
    if at_worst is not None and any(one.ahead for one in found.values()):
        worst = _contrasts(candidates, "score", _estimates(at_worst(order)), (), None, each=True)
        found |= {one: _held_back(found[one], worst[one]) for one in found.keys() & worst.keys() if found[one].ahead}
    return _of_best([found.get(rival) or _untold(candidates[rival], "score", 0.0) for rival in rivals])


def _pairs(candidates: int) -> int:
    """How many pairs of candidates there are, of which any could have been picked (Bonferroni)."""
    return max(1, candidates * (candidates - 1) // 2)


def _of_best(found: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """Whoever is ahead of all rules all out (Stefansson, Kim and Hsu 1988): then no lead is below 0."""
    if not found or not all(one.ahead for one in found):
        return tuple(found)
    return tuple(
        msgspec.structs.replace(one, excludes_zero=True, low=None if one.low is None else max(0.0, one.low))
        for one in found
    )


def _estimates(samples: Mapping[int, Sample]) -> dict[int, Estimate]:
    return {rival: intervals.difference(*sample) for rival, sample in samples.items() if sample.values}


def _contrasts(
    candidates: Sequence[str],
    scale: Scale,
    gaps: Mapping[int, Estimate],
    beaten: Collection[int],
    look: Look | None,
    *,
    each: bool,
) -> dict[int, Contrast]:
    """The leads over rivals, of whom some were beaten before. With `each`, both tests must pass.

    So they must where groups of documents count, as few as they often are.
    """
    part = stopping.part_of(look)
    error = intervals.ONE_SIDED * part
    ahead = {
        rival: gap
        for rival, gap in gaps.items()
        if gap.sample is not None
        and gap.sample.independent >= DECIDES_FROM
        and leads.told(gap, error, each=each or clusters.matter(gap.sample.groups))
    }
    field = 1 + sum(rival not in beaten for rival in gaps)
    out = _ruled_out({rival: gap for rival, gap in ahead.items() if rival not in beaten}, field, error)
    pairs = _pairs(field)
    found = {}
    for rival, gap in gaps.items():
        # What the lower end leaves of both errors, the upper one has.
        low, high = gap.low(1.0 - error, -1.0, pairs), gap.high(1.0 - 2.0 * error + error / pairs, 1.0)
        if low is not None:
            low = max(0.0, low) if rival in out else min(0.0, low)
        needed = intervals.documents_needed(gap, part)
        found[rival] = Contrast(
            candidate=candidates[rival],
            scale=scale,
            lead=rounded(gap.mean),
            low=rounded_or_none(low),
            high=rounded_or_none(high),
            excludes_zero=rival in out,
            ahead=rival in ahead,
            documents_needed=None if needed is None else DocumentsNeeded(*needed),
        )
    return found


def _ruled_out(ahead: Mapping[int, Estimate], field: int, error: float) -> set[int]:
    """Who is out, step by step: once some are, only the pairs of the others could have been picked (Holm 1979)."""
    out: set[int] = set(ahead) if field < 3 else set()
    while True:
        picked = error / _pairs(field - len(out))
        more = {rival for rival, gap in ahead.items() if rival not in out and leads.by_chance(gap, picked, each=True)}
        if not more:
            return out
        out |= more


def _held_back(contrast: Contrast, at_worst: Contrast) -> Contrast:
    """More documents would not help, because as much of them would be missing."""
    if at_worst.excludes_zero or not contrast.low:
        held = contrast
    else:
        held = msgspec.structs.replace(contrast, excludes_zero=False, low=min(0.0, contrast.low))
    if at_worst.ahead:
        return held
    return msgspec.structs.replace(
        held, excludes_zero=False, ahead=False, low=0.0, documents_needed=None, held_back=True
    )


def _untold(candidate: str, scale: Scale, lead: float) -> Contrast:
    """Two candidates that are connected only through others are never called different."""
    return Contrast(
        candidate=candidate,
        scale=scale,
        lead=rounded(lead),
        low=None,
        high=None,
        excludes_zero=False,
        ahead=False,
    )
