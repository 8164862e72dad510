"""What missing verdicts could have changed, as far as nothing else explains that they are missing.

A verdict may be missing for a reason that favours somebody: replies stay malformed on hard documents, or a candidate's
answer never comes where it would have lost. So Carrel asks how much more often the verdicts about a candidate are
missing than the others. That part of them counts as lost for the leader and as won for its rival, and the intervals of
win shares reach to where it would move them; the rest is explained by what happens to everybody, and says nothing. With
two candidates there are no others, so all that is missing counts. Half-way between a bound that knows nothing (Manski
1990) and leaving out, it keeps wrong claims at their level where 40 % of a candidate's defeats never come back, and
costs little where verdicts of several candidates go missing by chance.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from carrel.evaluation.ranking import cells, scores
from carrel.evaluation.ranking.cells import VerdictColumns
from carrel.evaluation.records import Score
from carrel.evaluation.statistics import clusters
from carrel.evaluation.statistics.clusters import Sample
from carrel.evaluation.statistics.means import mean, weighted_mean
from carrel.providers.base import Criterion

if TYPE_CHECKING:
    from carrel.evaluation.ranking.cells import Array, Flags

MARGIN = 0.2
"""So many standard errors of the difference in rates count as chance. Where verdicts go missing both by chance and for
a reason, simulated runs named somebody wrongly in 8 % with .7, in 5.4 with .3 and in 4.9 with this; the less, the fewer
leads are found."""
MARGIN_OF_SCORES = 0.5
"""The same for scores, of which a missing one counts as the worst there is: of two level candidates 3.9 % were named
wrongly with this, 5.0 with .8."""
CLEARLY = 1.96
"""From so many standard errors on, no part of the difference counts as chance."""
UNEVEN = 0.5
"""From so many standard normal errors on, rates of pairs differ, so that several candidates may hide something. What
happens to all alike is then the least rate of pairs without a candidate."""
_NOTHING = 1e-9


class _Open(NamedTuple):
    """By document and two candidates: how many verdicts were planned and how many are open, and why, if that is known.

    `heard` is the part that is not open, by the weights of the judges, and `gone` the part that is. `absent`: the first
    of the two has no answer, and the second has one.
    """

    planned: Array
    open: Array
    heard: Array
    gone: Array
    absent: Flags


def leads(heard: VerdictColumns, first: int) -> dict[int, Sample]:
    """The lead of `first` over each other member by document, as `shares.leads` has it; empty if nothing is missing."""
    import numpy as np

    if heard.said().all():
        return {}
    y = cells.averaged(heard)
    known = np.nan_to_num(y)
    found = _found(heard)
    lost = _lost(found, first) * found.gone[:, first]
    there = found.heard > 0
    presence: Array = np.where(there[:, first], 1.0, lost)
    ours = _mixed(known[:, first], found.heard[:, first], lost, 0.0)
    samples = {}
    for rival in range(len(heard.candidates)):
        if rival == first or not there[:, rival].any():
            continue
        # Where its own answer is missing, a rival did not win.
        won = _unexplained(found, rival) * ~_told(found, rival) * found.gone[:, rival]
        theirs = _mixed(known[:, rival], found.heard[:, rival], won, 1.0)
        common = presence * np.where(there[:, rival], 1.0, won)
        common[:, [first, rival]] = 0.0
        # What is hidden of one's defeats is missing from the other's wins.
        between = np.maximum(lost[:, rival], won[:, first])
        direct = np.where(there[:, first, rival], 1.0, between)
        against = _mixed(known[:, first, rival], found.heard[:, first, rival], between, 0.0)
        terms = common.sum(axis=1) + direct
        used = np.flatnonzero(terms > _NOTHING)
        if not len(used):
            continue
        sums = (common * (ours - theirs)).sum(axis=1) + direct * (2.0 * against - 1.0)
        weights = np.sqrt(terms[used])
        values = sums[used] / terms[used] * weights / weights.mean()
        samples[rival] = Sample(values.tolist(), heard.groups_of(used.tolist()))
    return samples


def score_leads(
    scored: Iterable[Score],
    criteria: Sequence[Criterion],
    weights: Mapping[str, float],
    groups: Mapping[str, str],
    candidates: Sequence[str],
    order: Sequence[int],
) -> dict[int, Sample]:
    """The lead of the first over the others by scores, as `scores.differences` has it; empty if none is missing.

    A score is about one candidate alone, so what is missing of the other explains what is missing of one, even of two.
    """
    told = defaultdict[tuple[str, str], defaultdict[str, list[float | None]]](lambda: defaultdict(list))
    for score in scored:
        if weights.get(score.judge, 1.0) > 0:
            told[score.document, score.judge][score.candidate].append(scores.normalised(score, criteria))
    cells = sorted(told.items())
    every = {candidates[one]: [value for _, cell in cells for value in cell.get(candidates[one], ())] for one in order}
    gone = {name: values.count(None) for name, values in every.items()}
    if not any(gone.values()):
        return {}
    part = unexplained_scores(gone, {name: len(values) for name, values in every.items()})
    first = candidates[order[0]]
    found = {}
    for rival in order[1:]:
        other = candidates[rival]
        by_document = defaultdict[str, list[tuple[float, float]]](list)
        presence: dict[str, float] = {}
        for (document, judge), cell in cells:
            here, ours = _settled(cell.get(first, ()), part[first], 0.0)
            there, theirs = _settled(cell.get(other, ()), part[other], 1.0)
            if (weight := weights.get(judge, 1.0) * here * there) > 0:
                by_document[document].append((weight, ours - theirs))
                presence[document] = max(presence.get(document, 0.0), here * there)
        usual = mean(list(presence.values())) if presence else 1.0
        leads = {one: weighted_mean(values) * presence[one] / usual for one, values in by_document.items()}
        found[rival] = clusters.sampled(leads, groups)
    return found


def _settled(values: Sequence[float | None], part: float, end: float) -> tuple[float, float]:
    """How far there is a score, and which, if so much of what is missing had come out at this end."""
    known = [value for value in values if value is not None]
    if not known:
        return (part if values else 0.0), end
    missing = part * (len(values) - len(known))
    return 1.0, (math.fsum(known) + missing * end) / (len(known) + missing)


def reaches(heard: VerdictColumns, *, by_opponent: bool = False) -> list[tuple[float, float]]:
    """By how much each win share could be lower, and higher, for what is missing and others do not explain.

    A verdict between two candidates is as unexplained as that of the one about which more is missing: what is hidden of
    one's defeats is missing from the other's wins. Whoever did not answer did not win. `by_opponent` as in
    `shares.estimates`.
    """
    import numpy as np

    k = len(heard.candidates)
    if heard.said().all():
        return [(0.0, 0.0)] * k
    found = _found(heard)
    parts = np.stack([_lost(found, candidate) for candidate in range(k)], axis=1)
    weights = np.maximum(parts, parts.transpose(0, 2, 1)) * found.gone
    known = np.nan_to_num(cells.averaged(heard))
    there = found.heard > 0

    def ended(weights: Array, end: float) -> Array:
        values, terms = _mixed(known, found.heard, weights, end), np.where(there, 1.0, weights)
        if by_opponent:
            usual = (values * terms).sum(axis=0) / np.maximum(terms.sum(axis=0), _NOTHING)
            return _mean(usual, (terms.sum(axis=0) > _NOTHING).astype(float))
        # A document on which nothing was said counts as far as it is not explained.
        return _mean(_mean(values, terms).T, np.where(there.any(axis=2), 1.0, weights.max(axis=2)).T)

    told = ended(np.zeros_like(weights), 0.0)
    worst = ended(np.where(found.absent.transpose(0, 2, 1), 0.0, weights), 0.0)
    best = ended(np.where(found.absent, 0.0, weights), 1.0)
    return list(zip((told - worst).tolist(), (best - told).tolist(), strict=True))


def unexplained(heard: VerdictColumns, *pair: str) -> float:
    """Which part of what is missing of the meetings of two candidates the others do not explain.

    That is what it is of the one about which more is missing.
    """
    found = _found(heard)
    return max(_unexplained(found, heard.candidates.index(one)) for one in pair)


def unexplained_scores(open_ones: Mapping[str, float], planned: Mapping[str, int]) -> dict[str, float]:
    """The same of each candidate's scores: how many are open, of how many.

    A score is about one candidate alone, so what is missing of one explains what is missing of the other even of two.
    """
    import numpy as np

    names = sorted(planned)
    gone, of = (np.array([counts.get(name, 0) for name in names], dtype=float) for counts in (open_ones, planned))
    rates = gone / of
    least = rates.min() if uneven(rates.repeat(2), of.repeat(2)) else 1.0
    found = {}
    for name, rate, lost, asked in zip(names, rates.tolist(), gone.tolist(), of.tolist(), strict=True):
        others = of.sum() - asked
        usual = (gone.sum() - lost) / max(1.0, others)
        chance = MARGIN_OF_SCORES * _error(rate, asked, usual, others)
        found[name] = _beyond_chance(rate, min(usual, least) + chance, 0.0)
    return found


def _mean(values: Array, weights: Array) -> Array:
    """Over the last axis."""
    import numpy as np

    found: Array = (values * weights).sum(axis=-1) / np.maximum(weights.sum(axis=-1), _NOTHING)
    return found


def _mixed(known: Array, heard: Array, missing: Array, end: float) -> Array:
    """What was heard, with so much of what is missing as if it had come out at this end."""
    import numpy as np

    found: Array = (heard * known + missing * end) / np.maximum(heard + missing, _NOTHING)
    return np.where(missing > 0, found, known)


def _found(heard: VerdictColumns) -> _Open:
    import numpy as np

    k = len(heard.candidates)
    shape = len(heard.documents), k, k
    place = (heard.document * k + heard.a) * k + heard.b
    gone = ~heard.said()
    # The greatest weight is the unit, which keeps huge and tiny weights finite.
    weights = (heard.weights / heard.weights.max())[heard.judge]

    def summed(values: Array | Flags) -> Array:
        one = np.bincount(place, values, shape[0] * k * k).reshape(shape)
        both: Array = np.asarray(one + one.transpose(0, 2, 1), dtype=np.float64)
        return both

    absent = np.zeros(shape, dtype=bool)
    for side, other in ((heard.a, heard.b), (heard.b, heard.a)):
        rows = heard.absent == side
        absent[heard.document[rows], side[rows], other[rows]] = True
    said = summed(~gone)
    absent &= (said == 0) & ~absent.transpose(0, 2, 1)
    planned = summed(np.ones(len(place)))
    whole = summed(weights)
    part = np.where(whole > 0, summed(np.where(gone, 0.0, weights)) / np.where(whole > 0, whole, 1.0), said > 0)
    return _Open(planned, planned - said, part, np.where(planned > 0, 1.0 - part, 0.0), absent)


def _told(found: _Open, candidate: int) -> Flags:
    """The candidate's open comparisons of which one answer never came."""
    answered, unanswered = found.absent[:, :, candidate], found.absent[:, candidate]
    return answered | unanswered


def _lost(found: _Open, first: int) -> Array:
    """Which part of what is missing of the leader counts as lost, by document and opponent."""
    import numpy as np

    share = _unexplained(found, first)
    own = found.absent[:, first]
    planned = found.planned > 0
    often = int(own.sum()) / max(1, int(planned[:, first].sum()))
    others = np.delete(np.arange(planned.shape[1]), first)
    usual = int(found.absent[:, others].sum()) / max(1, int(planned[:, others].sum()))
    documents = np.asarray(planned.any(axis=2))
    error = _error(often, documents[:, first].sum(), usual, documents[:, others].sum())
    missing = _beyond_chance(often, usual, error)
    lost: Array = np.where(own, missing, np.where(_told(found, first), 0.0, share))
    return lost


def _unexplained(found: _Open, candidate: int) -> float:
    """Which part of the candidate's open comparisons others do not explain, where both answers are there.

    Of two candidates, every comparison is about both, so that nothing explains any of it.
    """
    of_others = _of_others(found.planned, candidate).sum()
    if not of_others:
        return 1.0
    told = found.absent | found.absent.transpose(0, 2, 1)
    both = found.open * ~told
    of_ours = found.planned[:, candidate].sum()
    often = both[:, candidate].sum() / max(1, of_ours)
    pairs, of = both.sum(axis=0), found.planned.sum(axis=0)
    if uneven(pairs[of > 0] / of[of > 0], of[of > 0]):
        every = [(_of_others(both, one).sum(), _of_others(found.planned, one).sum()) for one in range(len(of))]
        return _beyond_chance(often, min(gone / planned for gone, planned in every if planned), 0.0)
    usual = _of_others(both, candidate).sum() / of_others
    return _beyond_chance(often, usual, _error(often, of_ours, usual, of_others / 2))


def uneven(rates: Array, of: Array) -> bool:
    """Whether rates of pairs, each given twice, differ more than chance makes them: χ², by Wilson and Hilferty 1931."""
    pooled = float((rates * of).sum() / of.sum())
    freedom = len(rates) / 2 - 1
    if not 0.0 < pooled < 1.0 or freedom < 1:
        return False
    squares = float((of * (rates - pooled) ** 2).sum()) / 2 / (pooled * (1.0 - pooled))
    spread = 2.0 / (9.0 * freedom)
    return bool((squares / freedom) ** (1 / 3) > 1.0 - spread + UNEVEN * math.sqrt(spread))


def _beyond_chance(often: float, usual: float, error: float) -> float:
    """The part of `often` that neither what is usual nor chance explains."""
    more = often - usual
    chance = 0.0 if more > CLEARLY * error else MARGIN * error
    return min(1.0, max(0.0, (more - chance) / often)) if often else 0.0


def _of_others(counts: Array, candidate: int) -> Array:
    """Comparisons without the candidate, each of them twice."""
    import numpy as np

    others = np.delete(np.arange(counts.shape[1]), candidate)
    found: Array = counts[:, others][:, :, others]
    return found


def _error(often: float, of: float, usual: float, of_others: float) -> float:
    """The standard error of the difference of two rates that are equal."""
    if not of or not of_others:
        return 0.0
    pooled = (often * of + usual * of_others) / (of + of_others)
    return math.sqrt(max(0.0, pooled * (1.0 - pooled)) * (1.0 / of + 1.0 / of_others))
