"""Corrects a mean that judges gave by the votes of people on a part of the documents. Pure arithmetic.

Judges judge every document, people vote on a few. The estimate is the people's mean, moved by a part λ of what the
judges say about the documents without votes: people − λ · (judges where people voted − judges everywhere). It aims at
what people would say for every λ, and so however wrong the judges are (prediction-powered inference, PPI++:
Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453). λ makes the interval as narrow as possible, between 0, the
votes alone, and 1. The document is the sampling unit; where documents belong together, their group has its place.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from carrel.evaluation.statistics.quantiles import student

LEAST_DOCUMENTS = 10
"""With votes on fewer documents there is no interval: the variance of so few differences is hardly known."""

_NOTHING = 1e-15
_PARTING = 0.25
_NEUTRAL = 4


class WeightedComparison(NamedTuple):
    """A comparison's part in the mean, and what the judges said, between 0 and 1. `fixed`: a rule decided it."""

    document: str
    part: float
    judges: float
    fixed: bool = False


class Parts(NamedTuple):
    """The parts of one document in the mean and what was said of them, times its part; `ruled` are those of rules."""

    open_part: float
    told: float
    ruled_part: float = 0.0
    ruled: float = 0.0


class WeightedVote(NamedTuple):
    """One vote on such a comparison. `weight`: its part, times the comparisons that it stands for."""

    document: str
    weight: float
    people: float
    judges: float


class MeanEstimates(NamedTuple):
    """Three means, and how much each document moves them: `of_people` the first, `of_gap` `judges − everywhere`.

    `judges` is the judges' mean where people voted. `voted` are the documents with votes, `scale` the greatest distance
    of the mean from what is neutral, and `neutral` a mean that favours nobody.
    """

    people: float
    judges: float
    everywhere: float
    of_people: Mapping[str, float]
    of_gap: Mapping[str, float]
    voted: frozenset[str]
    effective: float
    scale: float
    neutral: float

    def minus(self, other: "MeanEstimates") -> "MeanEstimates":
        """The difference of two means, document by document."""
        return MeanEstimates(
            people=self.people - other.people,
            judges=self.judges - other.judges,
            everywhere=self.everywhere - other.everywhere,
            of_people=_difference(self.of_people, other.of_people),
            of_gap=_difference(self.of_gap, other.of_gap),
            voted=self.voted | other.voted,
            effective=min(self.effective, other.effective),
            scale=self.scale + other.scale,
            neutral=self.neutral - other.neutral,
        )


class CorrectedShare(NamedTuple):
    """What people would say, with a 95 % interval, beside what their votes alone say. `reliance` is λ."""

    mean: float
    low: float
    high: float
    reliance: float
    alone: float
    alone_low: float
    alone_high: float


def parts(judged: Iterable[WeightedComparison]) -> dict[str, Parts]:
    """The comparisons, added up by document."""
    found: dict[str, Parts] = {}
    for document, part, y, is_fixed in judged:
        before = found.get(document, Parts(0.0, 0.0))
        one = Parts(0.0, 0.0, part, part * y) if is_fixed else Parts(part, part * y)
        found[document] = Parts(*map(sum, zip(before, one, strict=True)))
    return found


def measure(judged: Mapping[str, Parts], heard: Iterable[WeightedVote]) -> MeanEstimates | None:
    """The means of one share; `None` without votes. The parts of `judged` add up to 1.

    What a rule decided needs no vote: it enters every mean as it is.
    """
    heard = list(heard)
    whole = math.fsum(vote.weight for vote in heard)
    if whole <= 0:
        return None
    people = math.fsum(vote.weight * vote.people for vote in heard) / whole
    judges = math.fsum(vote.weight * vote.judges for vote in heard) / whole
    fixed = math.fsum(one.ruled for one in judged.values())
    open_part = math.fsum(one.open_part for one in judged.values())
    everywhere = math.fsum(one.told for one in judged.values()) / open_part
    mean = fixed + open_part * people
    of_people: defaultdict[str, list[float]] = defaultdict(list)
    of_gap: defaultdict[str, list[float]] = defaultdict(list)
    weights: defaultdict[str, list[float]] = defaultdict(list)
    for vote in heard:
        of_people[vote.document].append(open_part * vote.weight * (vote.people - people) / whole)
        of_gap[vote.document].append(open_part * vote.weight * (vote.judges - judges) / whole)
        weights[vote.document].append(vote.weight)
    for document, one in judged.items():
        of_people[document].append(one.ruled - one.ruled_part * mean + one.open_part * (people - mean))
        if one.open_part:
            of_gap[document].append(one.open_part * everywhere - one.told)
    return MeanEstimates(
        people=mean,
        judges=fixed + open_part * judges,
        everywhere=fixed + open_part * everywhere,
        of_people=_sums(of_people),
        of_gap=_sums(of_gap),
        voted=frozenset(weights),
        effective=_effective(_sums(weights).values()),
        scale=open_part / 2,
        neutral=fixed + open_part / 2,
    )


def correct(measured: MeanEstimates, least: float, greatest: float) -> CorrectedShare | None:
    """The estimate with its interval, cut at possible values; `None` with votes on too few documents.

    The judges are left out (λ = 0) where they would not make the interval narrower than that of the votes alone.
    """
    if len(measured.voted) < LEAST_DOCUMENTS:
        return None
    alone, without = _interval(measured, 0.0)
    reliance = _reliance(measured)
    mean, reach = _interval(measured, reliance)
    if reach > without:
        mean, reach, reliance = alone, without, 0.0
    return CorrectedShare(
        mean=min(greatest, max(least, mean)),
        low=max(least, mean - reach),
        high=min(greatest, mean + reach),
        reliance=reliance,
        alone=alone,
        alone_low=max(least, alone - without),
        alone_high=min(greatest, alone + without),
    )


def _interval(measured: MeanEstimates, reliance: float) -> tuple[float, float]:
    """The estimate and how far its interval reaches.

    A fitted λ costs a degree of freedom. As if there were five more documents: one on which people and judges part,
    and four on which neither answer is better, so that unanimous votes never leave an interval without width.
    """
    mean = measured.people - reliance * (measured.judges - measured.everywhere)
    fitted = 2 if reliance > 0 else 1
    documents = max(measured.effective, fitted + 1.0)
    squares = {
        document: (moved - reliance * measured.of_gap.get(document, 0.0)) ** 2
        for document, moved in measured.of_people.items()
    }
    voted = math.fsum(square for document, square in squares.items() if document in measured.voted)
    others = math.fsum(square for document, square in squares.items() if document not in measured.voted)
    further = 4 * _PARTING * measured.scale**2 + _NEUTRAL * (measured.people - measured.neutral) ** 2
    variance = voted * documents / (documents - fitted) + others + further / (documents * (documents + 1))
    freedom = max(1, math.floor(documents) - fitted)
    return mean, student(0.975, freedom) * math.sqrt(variance)


def _reliance(measured: MeanEstimates) -> float:
    """The λ of the least variance, between 0 and 1."""
    squares = math.fsum(moved**2 for moved in measured.of_gap.values())
    if squares < _NOTHING:
        return 0.0
    products = math.fsum(measured.of_people.get(document, 0.0) * moved for document, moved in measured.of_gap.items())
    return min(1.0, max(0.0, products / squares))


def _effective(weights: Iterable[float]) -> float:
    """How many equally weighted documents tell as much as these (Kish 1965)."""
    found = list(weights)
    return math.fsum(found) ** 2 / math.fsum(weight**2 for weight in found)


def _sums(parts: Mapping[str, list[float]]) -> dict[str, float]:
    return {document: math.fsum(values) for document, values in parts.items()}


def _difference(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    return {name: first.get(name, 0.0) - second.get(name, 0.0) for name in sorted(first.keys() | second.keys())}
