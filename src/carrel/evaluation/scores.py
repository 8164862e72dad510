"""Scores on criteria: means, contrasts between candidates, and who goes on to the comparisons."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from carrel.evaluation.records import Score
from carrel.evaluation.table import check_weights, mean, weighted_mean
from carrel.providers.base import Criterion

COMPARE_ALL_UP_TO = 5

_LEVEL = 1e-9

Cells = dict[str, dict[str, dict[str, float]]]
"""Document → judge → candidate → score between 0 and 1, averaged over criteria and repeats."""


class ScoreStanding(NamedTuple):
    """`means` in plan order, `None` for a candidate without scores; `order` and `leaders` go by the contrasts."""

    means: tuple[float | None, ...]
    order: tuple[int, ...]
    leaders: tuple[int, ...]


def normalised(score: Score, criteria: Sequence[Criterion]) -> float | None:
    """(s − min)/(max − min) on each declared scale, averaged by the criteria's weights.

    `None` if a criterion has no score, or no criterion has a weight.
    """
    if score.fate == "by_rule":
        return 0.0
    if score.fate != "given" or any(criterion.name not in score.values for criterion in criteria):
        return None
    weighted = [
        (c.weight, (score.values[c.name] - c.minimum) / (c.maximum - c.minimum)) for c in criteria if c.weight > 0
    ]
    return weighted_mean(weighted) if weighted else None


def standing(
    candidates: Sequence[str], scores: Iterable[Score], criteria: Sequence[Criterion], weights: Mapping[str, float]
) -> ScoreStanding:
    """Averages over criteria, repeats, judges (by weight) and documents, and the order that the contrasts give.

    Who is ahead is decided by contrasts, because a judge that is missing on a document would otherwise lend its
    severity to whoever it did score.
    """
    cells = _cells(scores, criteria, weights)
    means = tuple(_mean(cells, candidate, weights) for candidate in candidates)
    scored = [i for i, found in enumerate(means) if found is not None]
    ahead: dict[int, float] = {}
    for i in scored:
        gaps = [_contrast(cells, candidates[i], candidates[j], weights) for j in scored if j != i]
        known = [gap for gap in gaps if gap is not None]
        ahead[i] = mean(known) if known else 0.0
    order = tuple(sorted(scored, key=lambda i: (-round(ahead[i], 9), i)))
    leaders = tuple(i for i in order if ahead[order[0]] - ahead[i] < _LEVEL)
    return ScoreStanding(means, order, leaders)


def finalists(
    candidates: Sequence[str],
    scores: Iterable[Score],
    criteria: Sequence[Criterion],
    weights: Mapping[str, float],
    count: int | None = None,
) -> tuple[str, ...]:
    """Who is compared, in plan order: the `count` best by scores over *all* documents.

    Choosing per document would pick those that were lucky on it and shrink the true gaps. Without a count, everyone up
    to five candidates, else the best five; without any scores, everyone, because there is nothing to choose by.
    """
    wanted = COMPARE_ALL_UP_TO if count is None else count
    if wanted >= len(candidates):
        return tuple(candidates)
    order = standing(candidates, scores, criteria, weights).order
    if not order:
        return tuple(candidates)
    unscored = [i for i in range(len(candidates)) if i not in order]
    chosen = sorted([*order, *unscored][:wanted])
    return tuple(candidates[i] for i in chosen)


def _cells(scores: Iterable[Score], criteria: Sequence[Criterion], weights: Mapping[str, float]) -> Cells:
    check_weights(weights)
    heard: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for score in scores:
        number = normalised(score, criteria)
        if number is not None and weights.get(score.judge, 1.0) > 0:
            heard[score.document, score.judge, score.candidate].append(number)
    cells: Cells = {}
    for (document, judge, candidate), numbers in sorted(heard.items()):
        cells.setdefault(document, {}).setdefault(judge, {})[candidate] = mean(numbers)
    return cells


def _mean(cells: Cells, candidate: str, weights: Mapping[str, float]) -> float | None:
    by_document = []
    for judges in cells.values():
        weighted = [(weights.get(j, 1.0), cell[candidate]) for j, cell in judges.items() if candidate in cell]
        if weighted:
            by_document.append(weighted_mean(weighted))
    return mean(by_document) if by_document else None


def _contrast(cells: Cells, a: str, b: str, weights: Mapping[str, float]) -> float | None:
    """a − b by document, only within cells of a document and a judge that hold both."""
    by_document = []
    for judges in cells.values():
        weighted = [(weights.get(j, 1.0), cell[a] - cell[b]) for j, cell in judges.items() if a in cell and b in cell]
        if weighted:
            by_document.append(weighted_mean(weighted))
    return mean(by_document) if by_document else None
