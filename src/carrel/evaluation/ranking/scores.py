"""Scores on criteria: means, contrasts between candidates, and the choice of finalists."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from carrel.evaluation.ranking import score_grid
from carrel.evaluation.ranking.table import check_weights, parted
from carrel.evaluation.records import Score
from carrel.evaluation.statistics.means import mean, weighted_mean
from carrel.providers.base import Criterion

COMPARE_ALL_UP_TO = 5

Cells = dict[str, dict[str, dict[str, float]]]
"""Document → judge → candidate → score between 0 and 1, averaged over criteria and repeats."""


class ScoreStanding(NamedTuple):
    """The order by scores; contrasts between candidates decide it.

    `means` are in plan order, `None` for a candidate without scores. `places` count from 1; candidates that are level
    share a place.
    """

    means: tuple[float | None, ...]
    order: tuple[int, ...]
    leaders: tuple[int, ...]
    places: dict[int, int]


def normalised(score: Score, criteria: Sequence[Criterion]) -> float | None:
    """(s − min)/(max − min) on each declared scale, averaged by the criteria's weights.

    `None` if a criterion has no score, or no criterion has a weight.
    """
    if score.fate == "by_rule":
        return 0.0
    if score.fate != "given":
        return None
    weighted, values = [], score.values
    for c in criteria:
        if c.name not in values:
            return None
        if c.weight > 0:
            weighted.append((c.weight, (values[c.name] - c.minimum) / (c.maximum - c.minimum)))
    if len(weighted) == 1:
        return weighted[0][1]
    return weighted_mean(weighted) if weighted else None


def standing(
    candidates: Sequence[str], scores: Iterable[Score], criteria: Sequence[Criterion], weights: Mapping[str, float]
) -> ScoreStanding:
    """Averages over criteria, repeats, judges (by weight) and documents, and the order that the contrasts give.

    Contrasts decide who is ahead; otherwise a severe judge that is missing on a document would harm only the candidates
    that it did score.
    """
    return standing_of(tabulate(scores, criteria, weights), candidates, weights)


def standing_of(cells: Cells, candidates: Sequence[str], weights: Mapping[str, float]) -> ScoreStanding:
    """The same from existing cells."""
    means = tuple(_mean_or_none(on_documents(cells, candidate, weights)) for candidate in candidates)
    return ScoreStanding(means, *score_grid.order(score_grid.grid(cells, candidates, judges_of(cells), weights)))


def judges_of(cells: Cells) -> list[str]:
    """Everybody who scored."""
    return sorted({judge for judges in cells.values() for judge in judges})


def finalists(
    candidates: Sequence[str],
    scores: Iterable[Score],
    criteria: Sequence[Criterion],
    weights: Mapping[str, float],
    count: int | None = None,
) -> tuple[str, ...]:
    """The candidates to compare, in plan order: the `count` best by scores over *all* documents.

    A choice per document would pick candidates that were lucky on it and shrink the true gaps. Without a count, up to
    five candidates are all finalists, else the best five; without any scores, all are finalists.
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


def tabulate(scores: Iterable[Score], criteria: Sequence[Criterion], weights: Mapping[str, float]) -> Cells:
    """Average over criteria and repeats, for each document and judge. A judge whose weight is 0 is left out.

    Raises:
        ValueError: a weight is not a finite number ≥ 0.
    """
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


def on_documents(cells: Cells, candidate: str, weights: Mapping[str, float]) -> dict[str, float]:
    """The candidate's score on each document on which it has one, averaged over judges."""
    found = {document: on_document(judges, candidate, weights) for document, judges in cells.items()}
    return {document: score for document, score in found.items() if score is not None}


def on_document(
    judges: Mapping[str, Mapping[str, float]], candidate: str, weights: Mapping[str, float]
) -> float | None:
    """The candidate's score on one document, averaged over the judges that scored it there; `None` without any."""
    weighted = [(weights.get(j, 1.0), cell[candidate]) for j, cell in judges.items() if candidate in cell]
    return weighted_mean(weighted) if weighted else None


def differences(cells: Cells, a: str, b: str, weights: Mapping[str, float]) -> dict[str, float]:
    """a − b by document, only where the same judge scored both on the same document."""
    by_document = {}
    for document, judges in cells.items():
        weighted = [(weights.get(j, 1.0), cell[a] - cell[b]) for j, cell in judges.items() if a in cell and b in cell]
        if weighted:
            by_document[document] = weighted_mean(weighted)
    return by_document


def groups(cells: Cells, candidates: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The scored candidates in groups; no judge scored members of two groups on the same document."""
    place = {candidate: i for i, candidate in enumerate(candidates)}
    together = [[place[candidate] for candidate in cell] for judges in cells.values() for cell in judges.values()]
    return parted(together)


def _mean_or_none(by_document: Mapping[str, float]) -> float | None:
    return mean(list(by_document.values())) if by_document else None
