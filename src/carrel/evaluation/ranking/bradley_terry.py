"""Bradley–Terry ratings with intervals that treat documents as the sampling units.

The model is P(a beats b) = σ(θ_a − θ_b) (Bradley & Terry 1952). Shares of a win between 0 and 1 enter as they are:
the Bernoulli quasi-likelihood for fractional responses (Papke & Wooldridge 1996), in which a tie is half a win. Half an
imagined document on which everybody ties is added, so that a candidate which never lost stays finite; a prior as
pseudo-data (Newman 2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from carrel.evaluation.ranking.table import PairTable, PairTally
from carrel.evaluation.statistics.intervals import Estimate

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.int64]

PRIOR = 0.5
"""The weight of the all-ties document in the ratings that are shown."""
BASE_PRIOR = 1.0
"""Its weight in the jackknife, where it is a document like the others."""
DELETED_PRIOR = 0.04
"""Its weight after the jackknife deletes it. With none, the rating of a candidate that never lost would be infinite."""

_STEPS = 100
_CONVERGED = 1e-11
_STRIDE = 4.0
"""The longest step of a rating; a longer one could land where the curve is too flat to lead back."""
_SLACK = 1e-12
"""Near the maximum a step gains less than floating-point numbers can show; the search accepts such a step."""
_NOTHING = 1e-9
"""A smaller difference is the rest that Newton's method leaves; no document caused it."""

_TOGETHER = 64
"""So many deletions are fitted at once: as arrays of all of them, a long run would take tens of megabytes."""

Matrix = list[list[float]]


class _Tallies(NamedTuple):
    """Pairs as columns, cluster by cluster, whose first places and end are `ends`; candidates as members' positions."""

    ends: Places
    a: Places
    b: Places
    y: Array


class Ratings(NamedTuple):
    """θ of each member, on the logit scale with mean 0; `base` and `deletions` are the jackknife's fits."""

    values: tuple[float, ...]
    base: tuple[float, ...]
    deletions: tuple[tuple[float, ...], ...]

    def error(self, a: int) -> float:
        """The standard error of the rating at position a; exactly 0 if no deletion moved it."""
        units = len(self.deletions)
        changes = [fit[a] - self.base[a] for fit in self.deletions]
        found = math.sqrt((units - 1) / units * math.fsum(change * change for change in changes))
        return found if found > _NOTHING else 0.0


def ratings(table: PairTable) -> Ratings:
    """Ratings of the table's members and their cluster jackknife (MacKinnon, Nielsen & Webb 2023).

    The clusters are the D documents and one all-ties document: se² = D/(D + 1) · Σ (θ₋d − θ_base)². Where documents
    belong together, the clusters are their groups, and the all-ties document weighs as much as a usual group.
    """
    place = {member: i for i, member in enumerate(table.members)}
    k = len(place)
    clusters: dict[int, list[PairTally]] = {}
    for pairs, group in zip(table.documents, table.groups or range(len(table.documents)), strict=True):
        clusters.setdefault(group, []).extend(pairs)
    tallies = _tallies(list(clusters.values()), place)
    met, won = _totals(tallies, k)
    values = fit(met, won, PRIOR)
    usual = len(table.documents) / max(1, len(clusters))
    base = fit(met, won, BASE_PRIOR * usual, start=values)
    deletions = list(_deleted(met, won, tallies, BASE_PRIOR * usual, base))
    deletions.append(fit(met, won, DELETED_PRIOR * usual, start=base))
    return Ratings(tuple(values), tuple(base), tuple(tuple(deletion) for deletion in deletions))


def estimate(table: PairTable, share: Estimate, fitted: Ratings, candidate: int) -> Estimate:
    """A candidate's rating; its degrees of freedom come from the documents on which it met anyone, as `share`'s do."""
    place = table.members.index(candidate)
    if share.error is None:
        return share._replace(mean=fitted.values[place])
    error = fitted.error(place) or _slope(table) * share.error
    return share._replace(mean=fitted.values[place], error=error, sample=None)


def gap(table: PairTable, fitted: Ratings, a: int, b: int) -> float:
    """The difference of two ratings."""
    return fitted.values[table.members.index(a)] - fitted.values[table.members.index(b)]


def _slope(table: PairTable) -> float:
    """How fast a rating rises with the win share where everybody is level: 4(K − 1)/K.

    It converts a win share's error to logits when the jackknife has no spread because every comparison was a tie.
    """
    k = len(table.members)
    return 4 * (k - 1) / k


def fit(met: Matrix, won: Matrix, prior: float, start: Sequence[float] | None = None) -> list[float]:
    """The θ (sum 0) that maximise the quasi-likelihood plus `prior` documents on which everybody ties.

    `met[a][b]` is how often a and b met, `won[a][b]` how much of that a won. The function is strictly concave on the
    vectors of sum 0 when `prior` > 0; Newton's steps are halved until they gain.
    """
    import numpy as np

    begin = np.zeros((1, len(met))) if start is None else np.array([start], dtype=float)
    found: list[float] = _fitted(np.array([met], dtype=float), np.array([won], dtype=float), prior, begin)[0].tolist()
    return found


def _tallies(clusters: Sequence[Sequence[PairTally]], place: Mapping[int, int]) -> _Tallies:
    import numpy as np

    a, b, y = zip(*chain.from_iterable(clusters), strict=True)
    known = np.zeros(1 + max(place), dtype=np.int64)
    known[list(place)] = list(place.values())
    ends = np.cumsum([0, *map(len, clusters)])
    return _Tallies(ends, known[np.array(a)], known[np.array(b)], np.array(y, dtype=float))


def _deleted(
    met: Matrix, won: Matrix, tallies: _Tallies, prior: float, start: Sequence[float]
) -> Iterator[list[float]]:
    """The fits without each of the clusters."""
    import numpy as np

    all_met, all_won = np.array(met, dtype=float), np.array(won, dtype=float)
    for first in range(0, len(tallies.ends) - 1, _TOGETHER):
        ends = tallies.ends[first : first + _TOGETHER + 1]
        place = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        which = slice(ends[0], ends[-1])
        a, b, y = tallies.a[which], tallies.b[which], tallies.y[which]
        fewer, less = (np.repeat(one[None], len(ends) - 1, axis=0) for one in (all_met, all_won))
        np.subtract.at(fewer, (place, a, b), 1.0)
        np.subtract.at(fewer, (place, b, a), 1.0)
        np.subtract.at(less, (place, a, b), y)
        np.subtract.at(less, (place, b, a), 1.0 - y)
        yield from _fitted(fewer, less, prior, np.repeat(np.array([start], dtype=float), len(fewer), axis=0)).tolist()


def _fitted(met: Array, won: Array, prior: float, start: Array) -> Array:
    """As `fit`, for several tournaments at once: the first axis counts them."""
    import numpy as np

    lower = np.tri(met.shape[1], k=-1)
    n, w = (met + prior) * lower, (won + prior / 2) * lower
    theta = start.copy()
    height = _height(theta, n, w)
    going = np.arange(len(theta))
    for _ in range(_STEPS):
        step = _newton_step(theta[going], n[going], w[going])
        longest = np.abs(step).max(axis=1)
        moving = longest >= _CONVERGED
        going, step, longest = going[moving], step[moving], longest[moving]
        if not len(going):
            break
        length = np.minimum(1.0, _STRIDE / longest)
        before, climbing = theta[going], np.arange(len(going))
        while len(climbing):
            at = going[climbing]
            theta[at] = before[climbing] + length[climbing, None] * step[climbing]
            reached = _height(theta[at], n[at], w[at])
            short = (reached < height[at] - _SLACK * (1.0 + np.abs(height[at]))) & (length[climbing] >= 1e-6)
            height[at[~short]] = reached[~short]
            climbing = climbing[short]
            length[climbing] /= 2
    centred: Array = theta - theta.mean(axis=1, keepdims=True)
    return centred


def _totals(tallies: _Tallies, k: int) -> tuple[Matrix, Matrix]:
    import numpy as np

    cells = tallies.a * k + tallies.b
    ordered = tallies.y[np.argsort(cells, kind="stable")]
    times = np.bincount(cells, minlength=k * k)
    met, won = [[0.0] * k for _ in range(k)], [[0.0] * k for _ in range(k)]
    for cell, part in enumerate(np.split(ordered, np.cumsum(times)[:-1])):
        if len(part):
            a, b = divmod(cell, k)
            met[a][b] = met[b][a] = float(len(part))
            won[a][b], won[b][a] = math.fsum(part), math.fsum(1.0 - part)
    return met, won


def _height(theta: Array, n: Array, w: Array) -> Array:
    """The logarithm of the quasi-likelihood: Σ won_ab · log σ(θ_a − θ_b) over ordered pairs.

    `n` and `w` are meetings and wins with the prior, of pairs a > b; other cells are 0.
    """
    import numpy as np

    ahead = theta[:, :, None] - theta[:, None, :]
    # log σ(x) = x − log(1 + eˣ); this form takes the greater side out so that exp never overflows.
    found: Array = (w * ahead - n * (np.maximum(ahead, 0.0) + np.log1p(np.exp(-np.abs(ahead))))).sum(axis=(1, 2))
    return found


def _newton_step(theta: Array, n: Array, w: Array) -> Array:
    """Solve H · step = gradient; adding 1 to every cell of H pins the sum of the step to 0 and makes H definite."""
    import numpy as np

    p = 1.0 / (1.0 + np.exp(np.minimum(theta[:, None, :] - theta[:, :, None], 700.0)))
    surplus, curve = w - n * p, n * p * (1.0 - p)
    gradient = surplus.sum(axis=2) - surplus.sum(axis=1)
    curve = curve + curve.transpose(0, 2, 1)
    hessian = 1.0 - curve
    place = np.arange(theta.shape[1])
    hessian[:, place, place] = 1.0 + curve.sum(axis=2)
    found: Array = np.linalg.solve(hessian, gradient[..., None])[..., 0]
    return found
