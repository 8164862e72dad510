"""The built-in judges' answers: the same JSON that a language model would return, computed from measures.

A judge measures the two answers separately, so swapping them swaps the winner.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from carrel.providers.base import CompareMatter, Criterion, ScoreMatter
from carrel.providers.local.criteria import Aspect, aspect_of
from carrel.providers.local.measures import Measure, MeasuredText, Measures, reader, statistician, text_of

TIE_WITHIN = 0.02
_MAX_WEIGHT = 1e9
_DECIMALS = 9
_ASPECTS: tuple[Aspect, ...] = ("coverage", "clarity", "concision")


class _Judge(NamedTuple):
    measure: Callable[[Sequence[MeasuredText]], Measure]
    names: Mapping[Aspect, str]


_JUDGES: Mapping[str, _Judge] = {
    "reader": _Judge(reader, {"coverage": "key-phrase recall", "clarity": "readability", "concision": "novelty"}),
    "statistician": _Judge(
        statistician, {"coverage": "word likeness", "clarity": "anchored openings", "concision": "unrepeated trigrams"}
    ),
}
JUDGES = tuple(_JUDGES)


class UnsupportedCriterion(Exception):
    """The judge cannot measure what this criterion names."""


def score(model: str, matter: ScoreMatter) -> str:
    """`{"scores": {criterion: number on its scale}, "reason": …}`.

    Raises:
        KeyError: there is no such judge.
        UnsupportedCriterion: a criterion that the judge cannot judge by.
    """
    judge = _JUDGES[model]
    aspects = _aspects(model, matter.criteria)
    measured = judge.measure(_sources(matter))(text_of(matter.answer))
    scores = {
        criterion.name: _on_scale(criterion, _share(measured, aspect))
        for criterion, aspect in zip(matter.criteria, aspects, strict=True)
    }
    shares = ", ".join(f"{judge.names[aspect]} {_share(measured, aspect):.2f}" for aspect in _used(aspects))
    return _json({"scores": scores, "reason": f"{shares[0].upper()}{shares[1:]}."})


def compare(model: str, matter: CompareMatter) -> str:
    """`{"winner": "first" | "second" | "tie", "reason": …}`: the greater weighted mean of shares, a tie within 0.02.

    Without criteria, or with weights that sum to zero, everything that the judge measures counts the same.

    Raises:
        KeyError: there is no such judge.
        UnsupportedCriterion: a criterion that the judge cannot judge by.
    """
    measure = _JUDGES[model].measure(_sources(matter))
    aspects = _aspects(model, matter.criteria)
    weights = [min(_MAX_WEIGHT, max(0.0, criterion.weight)) for criterion in matter.criteria]
    if not math.fsum(weights) > 0:
        aspects, weights = _ASPECTS, [1.0] * len(_ASPECTS)
    first, second = (_weighted(measure(text_of(text)), aspects, weights) for text in (matter.first, matter.second))
    difference = round(first - second, _DECIMALS)
    winner = "tie" if abs(difference) <= TIE_WITHIN else "first" if difference > 0 else "second"
    verdict = "a tie" if winner == "tie" else f"the {winner} is better"
    return _json({"winner": winner, "reason": f"First {first:.2f}, second {second:.2f}: {verdict}."})


def _aspects(model: str, criteria: Sequence[Criterion]) -> tuple[Aspect, ...]:
    aspects: list[Aspect] = []
    for criterion in criteria:
        aspect = aspect_of(model, criterion)
        if aspect is None:
            raise UnsupportedCriterion
        aspects.append(aspect)
    return tuple(aspects)


def _used(aspects: Sequence[Aspect]) -> list[Aspect]:
    return [aspect for aspect in _ASPECTS if aspect in aspects or not aspects]


def _sources(matter: ScoreMatter | CompareMatter) -> list[MeasuredText]:
    return [text_of(text) for text in (matter.document, matter.reference) if text is not None]


def _share(measured: Measures, aspect: Aspect) -> float:
    share: float = getattr(measured, aspect)
    return share


def _weighted(measured: Measures, aspects: Sequence[Aspect], weights: Sequence[float]) -> float:
    whole = math.fsum(weight * _share(measured, aspect) for aspect, weight in zip(aspects, weights, strict=True))
    return round(whole / math.fsum(weights), _DECIMALS)


def _on_scale(criterion: Criterion, share: float) -> float:
    low, high = sorted((criterion.minimum, criterion.maximum))
    return min(high, max(low, round(low + share * (high - low), 3)))


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
