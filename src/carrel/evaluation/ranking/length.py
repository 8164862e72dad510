"""The ranking as it would be if all answers were equally long: a second view, if there are enough documents.

After Dubois, Galambosi, Liang & Hashimoto 2024, "Length-Controlled AlpacaEval: A Simple Way to Debias Automatic
Evaluators" (arXiv 2404.04475): a logistic model of the preference gets a term for the difference in length, tanh of it
in units of its own spread, and is then read at a difference of 0. Theirs sets one model against a baseline; here the
model is Bradley–Terry over all candidates, with one taste for length that all judges share. Prior and jackknife are
those of `bradley_terry`; the all-ties document stands half at either sign of the length, so that it stays finite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from carrel.evaluation.ranking.bradley_terry import BASE_PRIOR, DELETED_PRIOR, PRIOR
from carrel.evaluation.ranking.cells import VerdictColumns
from carrel.evaluation.ranking.table import parted
from carrel.evaluation.statistics import clusters
from carrel.evaluation.statistics.intervals import Estimate, rounded, rounded_or_none
from carrel.evaluation.statistics.means import mean

if TYPE_CHECKING:
    from carrel.evaluation.ranking.cells import Array, Places

FROM_DOCUMENTS = 20
"""Fewer documents cannot separate the taste for length from the candidates' own merit well enough."""
_TOLD_APART = 0.05
"""The least part of the information about the taste for length that must remain after fitting the candidates'
merits."""
_STEPS = 100
_STRIDE = 1.5
_CONVERGED = 1e-10
_LEVEL = 1e-9

Reason = Literal["all are equally long", "length and candidate cannot be told apart"]


class AdjustedShare(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate's win share at equal lengths, with an interval at 95 %."""

    candidate: str
    win_share: float
    low: float | None
    high: float | None


class LengthAdjusted(msgspec.Struct, frozen=True, kw_only=True):
    """The second view; in `rows` the greatest share comes first. `reason` says why there is none.

    `taste` is the chance that the longer of two equally good answers wins which differ in length as answers here
    commonly do: ½ is indifference.
    """

    documents: int
    taste: float | None = None
    taste_low: float | None = None
    taste_high: float | None = None
    rows: tuple[AdjustedShare, ...] = ()
    leaders: tuple[str, ...] = ()
    reason: Reason | None = None


class _Rows(NamedTuple):
    """What judges said of pairs, by place of the document and of the candidates in the view.

    Each is a's share of the win, how much longer a's answer was, and a weight. The weights of a pair on a document add
    up to 1: as in the table, repeats are averaged, then judges.
    """

    document: Places
    a: Places
    b: Places
    y: Array
    longer: Array
    weight: Array


class _Slopes(NamedTuple):
    """First and (negative) second derivatives of the quasi-likelihood; the last coordinate is the taste for length."""

    gradient: Array
    curve: Array


def adjusted(heard: VerdictColumns, p: float = 0.975) -> LengthAdjusted | None:
    """The view at equal lengths; `None` below `FROM_DOCUMENTS` documents, or where not everybody met.

    Its intervals reach as far as Student's t does with probability `p`.
    """
    import numpy as np

    measured = _measured(heard)
    # np.unique would import numpy.ma, and a worker can open no file by now.
    documents = int((np.bincount(measured.document) > 0).sum())
    every = len(heard.candidates)
    pairs = np.flatnonzero(np.bincount(measured.a * every + measured.b)).tolist()
    groups = parted([divmod(one, every) for one in pairs])
    if documents < FROM_DOCUMENTS or len(groups) != 1:
        return None
    spread = math.sqrt(float((measured.weight * measured.longer**2).sum() / measured.weight.sum()))
    if not spread:
        return LengthAdjusted(documents=documents, reason="all are equally long")
    members = groups[0]
    k = len(members)
    place = np.zeros(len(heard.candidates), dtype=np.int64)
    place[list(members)] = range(k)
    numbers = np.cumsum(np.bincount(measured.document) > 0) - 1
    rows = measured._replace(
        document=numbers[measured.document],
        a=place[measured.a],
        b=place[measured.b],
        longer=np.tanh(measured.longer / spread),
    )
    base = _fit(rows, k, BASE_PRIOR, np.zeros(k + 1))
    used = [document for document, one in enumerate(np.bincount(measured.document).tolist()) if one]
    alone = heard.groups_of(used) or list(range(documents))
    group = np.unique(alone, return_inverse=True)[1]
    if not group.any():
        return None
    units = clusters.effective(alone)
    parts = _slopes(base, rows._replace(document=group[rows.document]), k, int(group.max()) + 1)
    known = parts.curve.sum(axis=0)
    if not _told_apart(known, k):
        return LengthAdjusted(documents=documents, reason="length and candidate cannot be told apart")
    curve = known + _slopes(base, _ties(k, BASE_PRIOR), k).curve[0]
    values = _fit(rows, k, PRIOR, base)
    # One Newton step from the common fit is enough, because one of many documents moves the fit only a little.
    moved = base + np.linalg.solve(_pinned(curve - parts.curve), -parts.gradient[..., None])[..., 0]
    deleted = [*moved.tolist(), _fit(rows, k, DELETED_PRIOR, base).tolist()]
    names = [heard.candidates[i] for i in members]
    return _told(names, values.tolist(), base.tolist(), deleted, p, (documents, units))


def _told(
    names: Sequence[str],
    values: Sequence[float],
    base: Sequence[float],
    deleted: Sequence[Sequence[float]],
    p: float,
    sizes: tuple[int, int],
) -> LengthAdjusted:
    shares, at_base, moved = _shares(values), _shares(base), [_shares(fit) for fit in deleted]
    rows = []
    for i, name in enumerate(names):
        error = _error([fit[i] - at_base[i] for fit in moved])
        low, high = Estimate(shares[i], error, *sizes).bounds(p, 0.0, 1.0)
        rows.append(
            AdjustedShare(
                candidate=name, win_share=rounded(shares[i]), low=rounded_or_none(low), high=rounded_or_none(high)
            )
        )
    taste = Estimate(values[-1], _error([fit[-1] - base[-1] for fit in deleted]), *sizes)
    low, high = taste.bounds(p, -math.inf, math.inf)
    return LengthAdjusted(
        documents=sizes[0],
        taste=rounded(_chance(taste.mean * math.tanh(1.0))),
        taste_low=None if low is None else rounded(_chance(low * math.tanh(1.0))),
        taste_high=None if high is None else rounded(_chance(high * math.tanh(1.0))),
        rows=tuple(sorted(rows, key=lambda row: -row.win_share)),
        leaders=tuple(name for name, share in zip(names, shares, strict=True) if max(shares) - share < _LEVEL),
    )


def _measured(heard: VerdictColumns) -> _Rows:
    """Pairs of answers whose lengths are known, in a fixed order; where a rule decided, length did not matter."""
    import numpy as np

    k, j = len(heard.candidates), len(heard.judges)
    use = np.flatnonzero(heard.said() & (heard.by_rule | ~np.isnan(heard.longer)))
    longer = np.where(heard.by_rule, 0.0, heard.longer)
    cells = ((heard.document * k + heard.a) * k + heard.b) * j + heard.judge
    use = use[np.lexsort([one[use] for one in (longer, heard.y, cells)])]
    pair = cells[use] // j
    size = len(heard.documents) * k * k
    times = np.bincount(pair * j + heard.judge[use], minlength=size * j).reshape(size, j)
    voices = np.where(times > 0, heard.weights, 0.0)
    greatest = voices.max(axis=1, initial=0.0)
    voices = voices / np.where(greatest > 0, greatest, 1.0)[:, None]
    weight = voices[pair, heard.judge[use]] / times[pair, heard.judge[use]] / voices.sum(axis=1)[pair]
    return _Rows(heard.document[use], heard.a[use], heard.b[use], heard.y[use], longer[use], weight)


def _slopes(fit: Array, rows: _Rows, k: int, documents: int = 1) -> _Slopes:
    """By document, or for all together."""
    import numpy as np

    a, b, x = rows.a, rows.b, rows.longer
    p = _logistic(fit[a] - fit[b] + fit[k] * x)
    surplus, bend = rows.weight * (rows.y - p), rows.weight * p * (1.0 - p)
    at = rows.document if documents > 1 else np.zeros_like(rows.document)
    # The pair's direction is +1 for a, −1 for b, and x for the taste.
    at_a, at_b = at * k + a, at * k + b
    leaning = bend * x

    def summed(place: Places, values: Array) -> Array:
        return np.asarray(np.bincount(place, values, documents * k).reshape(documents, k), dtype=np.float64)

    gradient = np.empty((documents, k + 1))
    gradient[:, :k] = summed(at_a, surplus) - summed(at_b, surplus)
    gradient[:, k] = np.bincount(at, surplus * x, documents)
    curve = np.empty((documents, k + 1, k + 1))
    meeting = np.bincount(at_a * k + b, bend, documents * k * k).reshape(documents, k, k)
    curve[:, :k, :k] = -(meeting + meeting.transpose(0, 2, 1))
    curve[:, range(k), range(k)] += summed(at_a, bend) + summed(at_b, bend)
    curve[:, :k, k] = curve[:, k, :k] = summed(at_a, leaning) - summed(at_b, leaning)
    curve[:, k, k] = np.bincount(at, leaning * x, documents)
    return _Slopes(gradient, curve)


def _ties(k: int, prior: float) -> _Rows:
    """The imagined document on which all candidates tie, whichever answer is longer."""
    import numpy as np

    a, b = (np.tile(side, 2) for side in np.triu_indices(k, 1))
    n = len(a)
    x = np.repeat([1.0, -1.0], n // 2)
    return _Rows(np.zeros(n, dtype=np.int64), a, b, np.full(n, 0.5), x, np.full(n, prior / 2))


def _fit(rows: _Rows, k: int, prior: float, start: Array) -> Array:
    """Newton's method with steps of at most `_STRIDE`: a longer one could land where the curve is too flat."""
    import numpy as np

    ties = _ties(k, prior)
    fit = start
    for _ in range(_STEPS):
        ours, imagined = _slopes(fit, rows, k), _slopes(fit, ties, k)
        step = np.linalg.solve(_pinned(ours.curve[0] + imagined.curve[0]), ours.gradient[0] + imagined.gradient[0])
        longest = float(np.abs(step).max())
        fit = fit + step * min(1.0, _STRIDE / longest) if longest else fit
        if longest < _CONVERGED:
            break
    return fit


def _told_apart(curve: Array, k: int) -> bool:
    """Whether enough information about the taste for length remains after fitting the candidates' merits."""
    import numpy as np

    pinned = _pinned(curve)
    shared = pinned[:k, k]
    left = float(curve[k, k] - shared @ np.linalg.solve(pinned[:k, :k], shared))
    return left > _TOLD_APART * float(curve[k, k])


def _pinned(curve: Array) -> Array:
    """1 added to every cell between candidates pins their sum to 0 and makes the matrix definite."""
    found = curve.copy()
    found[..., :-1, :-1] += 1.0
    return found


def _shares(fit: Sequence[float]) -> list[float]:
    """Each candidate's mean chance against the others if all lengths are equal."""
    merits = fit[:-1]
    return [
        mean([_chance(merit - other) for j, other in enumerate(merits) if j != i]) for i, merit in enumerate(merits)
    ]


def _error(changes: Sequence[float]) -> float:
    units = len(changes)
    return math.sqrt((units - 1) / units * math.fsum(change * change for change in changes))


def _chance(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0


def _logistic(x: Array) -> Array:
    import numpy as np

    found: Array = 1.0 / (1.0 + np.exp(-np.clip(x, -700.0, 700.0)))
    return found
