"""Scores as an array of documents × judges × candidates, for what compares every candidate with every other.

Among 20 candidates with 100,000 scores, pair by pair, that would take a minute.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from carrel.evaluation.statistics.means import mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVEL = 1e-9
"""Candidates whose leads differ by less are level."""


class Grid(NamedTuple):
    """`values` is NaN where there is no score; `weights` are the judges'."""

    values: "Floats"
    weights: "Floats"

    def without(self, judge: int) -> "Grid":
        """The same without one of the judges."""
        import numpy as np

        return Grid(np.delete(self.values, judge, axis=1), np.delete(self.weights, judge))


class Order(NamedTuple):
    """The scored candidates by how far they are ahead of the others; those that are level share a place."""

    order: tuple[int, ...]
    leaders: tuple[int, ...]
    places: dict[int, int]


def grid(
    cells: Mapping[str, Mapping[str, Mapping[str, float]]],
    candidates: Sequence[str],
    judges: Sequence[str],
    weights: Mapping[str, float],
) -> Grid:
    """The cells by document, judge and candidate."""
    import numpy as np

    at = {candidate: i for i, candidate in enumerate(candidates)}
    column = {judge: i for i, judge in enumerate(judges)}
    values = np.full((len(cells), len(judges), len(candidates)), np.nan)
    for document, by_judge in enumerate(cells.values()):
        for judge, cell in by_judge.items():
            values[document, column[judge], [at[candidate] for candidate in cell]] = list(cell.values())
    return Grid(values, np.array([weights.get(judge, 1.0) for judge in judges]))


def order(scored: Grid) -> Order:
    """Who is ahead, by the mean lead over every other candidate that a judge scored on the same document."""
    ahead = _ahead(scored)
    ranked = tuple(sorted(ahead, key=lambda i: (-round(ahead[i], 9), i)))
    leaders = tuple(i for i in ranked if ahead[ranked[0]] - ahead[i] < LEVEL)
    places = {i: 1 + sum(1 for other in ahead if ahead[other] - ahead[i] > LEVEL) for i in ahead}
    return Order(ranked, leaders, places)


def _ahead(scored: Grid) -> dict[int, float]:
    import numpy as np

    values, weights = scored
    there = ~np.isnan(values)
    found = [int(i) for i in np.flatnonzero(there.any(axis=(0, 1)))]
    if not found:
        return {}
    gaps, pairs = _gaps(np.where(there, values, 0.0), there.astype(float), weights)
    ahead = {}
    for i in found:
        known = [float(gaps[i, j] / pairs[i, j]) for j in found if j != i and pairs[i, j]]
        ahead[i] = mean(known) if known else 0.0
    return ahead


def _gaps(values: "Floats", there: "Floats", weights: "Floats") -> "tuple[Floats, Floats]":
    """For each pair, the sum of its gaps over documents, and on how many of them a judge scored both.

    A gap is the mean over judges by weight. Judges whose weight is nothing beside another's count alike where no other
    judge scored both.
    """
    import numpy as np

    by_weight = there * (weights / weights.max())[None, :, None]
    common = there.transpose(0, 2, 1) @ there
    total = by_weight.transpose(0, 2, 1) @ there
    sums = (by_weight * values).transpose(0, 2, 1) @ there
    alone = (common > 0) & (total == 0)
    if alone.any():
        total = np.where(alone, common, total)
        sums = np.where(alone, values.transpose(0, 2, 1) @ there, sums)
    known = common > 0
    gap = (sums - sums.transpose(0, 2, 1)) / np.where(known, total, 1.0)
    return np.where(known, gap, 0.0).sum(axis=0), known.sum(axis=0).astype(float)
