"""Bradley–Terry ratings with intervals that treat documents as the sampling units.

The model is P(a beats b) = σ(θ_a − θ_b) (Bradley & Terry 1952). Shares of a win between 0 and 1 enter as they are:
the Bernoulli quasi-likelihood for fractional responses (Papke & Wooldridge 1996), in which a tie is half a win. Half an
imagined document on which everybody ties is added, so that a candidate which never lost stays finite; a prior as
pseudo-data (Newman 2023).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from carrel.evaluation.ranking.table import Pair, Table
from carrel.evaluation.statistics.intervals import Estimate

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

Matrix = list[list[float]]


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


def ratings(table: Table) -> Ratings:
    """Ratings of the table's members and their cluster jackknife (MacKinnon, Nielsen & Webb 2023).

    The clusters are the D documents and one all-ties document: se² = D/(D + 1) · Σ (θ₋d − θ_base)². Where documents
    belong together, the clusters are their groups, and the all-ties document weighs as much as a usual group.
    """
    place = {member: i for i, member in enumerate(table.members)}
    k = len(place)
    documents = [[Pair(place[a], place[b], y) for a, b, y in pairs] for pairs in table.documents]
    met, won = _totals(documents, k)
    values = fit(met, won, PRIOR)
    clusters: dict[int, list[Pair]] = {}
    for pairs, group in zip(documents, table.groups or range(len(documents)), strict=True):
        clusters.setdefault(group, []).extend(pairs)
    usual = len(documents) / max(1, len(clusters))
    base = fit(met, won, BASE_PRIOR * usual, start=values)
    deletions = []
    for pairs in clusters.values():
        fewer, less = [row.copy() for row in met], [row.copy() for row in won]
        for a, b, y in pairs:
            fewer[a][b] -= 1
            fewer[b][a] -= 1
            less[a][b] -= y
            less[b][a] -= 1.0 - y
        deletions.append(fit(fewer, less, BASE_PRIOR * usual, start=base))
    deletions.append(fit(met, won, DELETED_PRIOR * usual, start=base))
    return Ratings(tuple(values), tuple(base), tuple(tuple(deletion) for deletion in deletions))


def estimate(table: Table, share: Estimate, fitted: Ratings, candidate: int) -> Estimate:
    """A candidate's rating; its degrees of freedom come from the documents on which it met anyone, as `share`'s do."""
    place = table.members.index(candidate)
    if share.error is None:
        return share._replace(mean=fitted.values[place])
    return share._replace(mean=fitted.values[place], error=fitted.error(place) or _slope(table) * share.error)


def gap(table: Table, fitted: Ratings, a: int, b: int) -> float:
    """The difference of two ratings."""
    return fitted.values[table.members.index(a)] - fitted.values[table.members.index(b)]


def _slope(table: Table) -> float:
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
    k = len(met)
    theta = list(start) if start is not None else [0.0] * k
    height = _height(theta, met, won, prior)
    for _ in range(_STEPS):
        step = _newton_step(theta, met, won, prior)
        if max(map(abs, step)) < _CONVERGED:
            break
        length = min(1.0, _STRIDE / max(map(abs, step)))
        while True:
            ahead = [t + length * s for t, s in zip(theta, step, strict=True)]
            reached = _height(ahead, met, won, prior)
            if reached >= height - _SLACK * (1.0 + abs(height)) or length < 1e-6:
                break
            length /= 2
        theta, height = ahead, reached
    centre = math.fsum(theta) / k
    return [t - centre for t in theta]


def _totals(documents: Sequence[Sequence[Pair]], k: int) -> tuple[Matrix, Matrix]:
    met = [[0.0] * k for _ in range(k)]
    parts: list[list[list[float]]] = [[[] for _ in range(k)] for _ in range(k)]
    for pairs in documents:
        for a, b, y in pairs:
            met[a][b] += 1
            met[b][a] += 1
            parts[a][b].append(y)
            parts[b][a].append(1.0 - y)
    return met, [[math.fsum(part) for part in row] for row in parts]


def _height(theta: Sequence[float], met: Matrix, won: Matrix, prior: float) -> float:
    """The logarithm of the quasi-likelihood: Σ won_ab · log σ(θ_a − θ_b) over ordered pairs."""
    total = 0.0
    for a in range(len(theta)):
        for b in range(a):
            ahead = theta[a] - theta[b]
            n, w = met[a][b] + prior, won[a][b] + prior / 2
            # log σ(x) = x − log(1 + eˣ); this form takes the greater side out so that exp never overflows.
            total += w * ahead - n * (max(ahead, 0.0) + math.log1p(math.exp(-abs(ahead))))
    return total


def _newton_step(theta: Sequence[float], met: Matrix, won: Matrix, prior: float) -> list[float]:
    """Solve H · step = gradient; adding 1 to every cell of H pins the sum of the step to 0 and makes H definite."""
    k = len(theta)
    gradient = [0.0] * k
    hessian = [[1.0] * k for _ in range(k)]
    for a in range(k):
        for b in range(a):
            n = met[a][b] + prior
            p = 1.0 / (1.0 + math.exp(min(theta[b] - theta[a], 700.0)))
            surplus = won[a][b] + prior / 2 - n * p
            gradient[a] += surplus
            gradient[b] -= surplus
            curve = n * p * (1.0 - p)
            hessian[a][a] += curve
            hessian[b][b] += curve
            hessian[a][b] -= curve
            hessian[b][a] -= curve
    return solve(hessian, gradient)


def solve(matrix: Matrix, right: Sequence[float]) -> list[float]:
    """Solve a symmetric positive definite system by Cholesky's decomposition."""
    k = len(right)
    root = [[0.0] * k for _ in range(k)]
    forward = [0.0] * k
    for i in range(k):
        row = root[i]
        for j in range(i):
            other = root[j]
            row[j] = (matrix[i][j] - sum(row[m] * other[m] for m in range(j))) / other[j]
        row[i] = math.sqrt(matrix[i][i] - sum(cell * cell for cell in row[:i]))
        forward[i] = (right[i] - sum(row[m] * forward[m] for m in range(i))) / row[i]
    for i in reversed(range(k)):
        forward[i] = (forward[i] - sum(root[m][i] * forward[m] for m in range(i + 1, k))) / root[i][i]
    return forward
