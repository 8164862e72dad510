"""Leads as they would be if missing verdicts had gone against the leader, as far as nothing else explains them.

A verdict may be missing for a reason that favours somebody: replies stay malformed on hard documents, or a candidate's
answer never comes where it would have lost. So Carrel asks how much more often the verdicts about a candidate are
missing than the others. That part of them counts as lost for the leader and as won for its rival; the rest is explained
by what happens to everybody, and says nothing. Half-way between a bound that knows nothing (Manski 1990) and leaving
out, it keeps wrong claims at their level where 40 % of a candidate's defeats never come back, and costs little where
verdicts go missing by chance.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from carrel.evaluation.ranking import cells
from carrel.evaluation.ranking.cells import Heard
from carrel.evaluation.statistics.clusters import Sample

if TYPE_CHECKING:
    from carrel.evaluation.ranking.cells import Array, Flags

MARGIN = 0.7
"""So many standard errors of the difference in rates count as chance. With 1, simulated runs named somebody wrongly in
7 % at the worst number of candidates and documents, with .7 in 5.3 %; the less, the fewer leads are found."""
CLEARLY = 1.96
"""From so many standard errors on, no part of the difference counts as chance."""
_NOTHING = 1e-9


class _Open(NamedTuple):
    """By document and two candidates: what was to be compared, and was not, and why, if that is known.

    `absent`: the first of the two has no answer, and the second has one. `malformed`: a judge's reply stayed so.
    """

    planned: Flags
    open: Flags
    absent: Flags
    malformed: Flags


def leads(heard: Heard, first: int) -> dict[int, Sample]:
    """The lead of `first` over each other member by document, as `shares.leads` has it; empty if nothing is missing."""
    import numpy as np

    if heard.said().all():
        return {}
    y = cells.averaged(heard)
    found = _found(heard, y)
    own = _lost(found, first)
    presence: Array = np.where(found.open[:, first], own, ~np.isnan(y[:, first]))
    ours = np.nan_to_num(y[:, first])
    samples = {}
    for rival in range(len(heard.candidates)):
        if rival == first or np.isnan(y[:, rival]).all():
            continue
        # Where its own answer is missing, a rival did not win.
        share = _unexplained(found, rival)
        theirs = np.nan_to_num(y[:, rival], nan=1.0)
        there = np.where(found.open[:, rival], share * ~_told(found, rival), ~np.isnan(y[:, rival]))
        common = presence * there
        common[:, [first, rival]] = 0.0
        direct = presence[:, rival]
        ahead = np.where(found.open[:, first, rival], -1.0, 2.0 * ours[:, rival] - 1.0)
        terms = common.sum(axis=1) + direct
        used = np.flatnonzero(terms > _NOTHING)
        if not len(used):
            continue
        sums = (common * (ours - theirs)).sum(axis=1) + direct * ahead
        weights = np.sqrt(terms[used])
        values = sums[used] / terms[used] * weights / weights.mean()
        samples[rival] = Sample(values.tolist(), heard.groups_of(used.tolist()))
    return samples


def _found(heard: Heard, y: Array) -> _Open:
    import numpy as np

    shape = y.shape

    def cell(rows: Flags) -> Flags:
        flags = np.zeros(shape, dtype=bool)
        flags[heard.document[rows], heard.a[rows], heard.b[rows]] = True
        flags[heard.document[rows], heard.b[rows], heard.a[rows]] = True
        return flags

    planned = cell(np.ones(len(heard.y), dtype=bool))
    still_open = planned & np.isnan(y)
    absent = np.zeros(shape, dtype=bool)
    for side, other in ((heard.a, heard.b), (heard.b, heard.a)):
        rows = heard.absent == side
        absent[heard.document[rows], side[rows], other[rows]] = True
    absent &= still_open & ~absent.transpose(0, 2, 1)
    return _Open(planned, still_open, absent, still_open & cell(heard.malformed))


def _told(found: _Open, candidate: int) -> Flags:
    """The candidate's open comparisons of which one answer never came."""
    answered, unanswered = found.absent[:, :, candidate], found.absent[:, candidate]
    return answered | unanswered


def _lost(found: _Open, first: int) -> Array:
    """How much of each open comparison of the leader counts as lost, by document and opponent."""
    import numpy as np

    share = _unexplained(found, first)
    own = found.absent[:, first]
    often = int(own.sum()) / max(1, int(found.planned[:, first].sum()))
    others = np.delete(np.arange(found.open.shape[1]), first)
    usual = int(found.absent[:, others].sum()) / max(1, int(found.planned[:, others].sum()))
    documents = np.asarray(found.planned.any(axis=2))
    error = _error(often, documents[:, first].sum(), usual, documents[:, others].sum())
    missing = _beyond_chance(often, usual, error)
    lost: Array = np.where(own, missing, np.where(_told(found, first), 0.0, share))
    return lost * found.open[:, first]


def _unexplained(found: _Open, candidate: int) -> Array:
    """Which part of the candidate's open comparisons others do not explain, where both answers are there.

    Of two candidates, every comparison is about both: replies that stayed malformed count in full, and calls that
    failed say nothing.
    """
    import numpy as np

    if found.open.shape[1] == 2 or not (of_others := _of_others(found.planned, candidate).sum()):
        return found.malformed[:, candidate].astype(float)
    both = found.open & ~found.absent & ~found.absent.transpose(0, 2, 1)
    of_ours = found.planned[:, candidate].sum()
    often = both[:, candidate].sum() / max(1, of_ours)
    usual = _of_others(both, candidate).sum() / of_others
    error = _error(often, of_ours, usual, of_others / 2)
    share = _beyond_chance(often, usual, error)
    return np.full(found.open[:, candidate].shape, share)


def _beyond_chance(often: float, usual: float, error: float) -> float:
    """The part of `often` that neither what is usual nor chance explains."""
    more = often - usual
    chance = 0.0 if more > CLEARLY * error else MARGIN * error
    return min(1.0, max(0.0, (more - chance) / often)) if often else 0.0


def _of_others(flags: Flags, candidate: int) -> Flags:
    """Comparisons without the candidate, each of them twice."""
    import numpy as np

    others = np.delete(np.arange(flags.shape[1]), candidate)
    found: Flags = flags[:, others][:, :, others]
    return found


def _error(often: float, of: float, usual: float, of_others: float) -> float:
    """The standard error of the difference of two rates that are equal."""
    if not of or not of_others:
        return 0.0
    pooled = (often * of + usual * of_others) / (of + of_others)
    return math.sqrt(max(0.0, pooled * (1.0 - pooled)) * (1.0 / of + 1.0 / of_others))
