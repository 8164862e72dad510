"""Means that rare failures may turn: how far a mean holds if some documents fail that nobody, or too few, met.

A candidate may lead a little on nearly every document and fail altogether on a few. Student's t and the count of signs
believe the spread that they see. Before they met a failure they see none, and of two candidates that are level they
then call one better. Values have ends, so two further questions have answers:

*Missed failures.* If a part q of all documents fail, at the worst value that there is, how probable is it to meet none
of them, or no more than the worst j that there are, and a mean of the others as great as this by chance besides? The
answer is (1 − q)^D, or the binomial sum, times Student's tail, at the q for which it is greatest. For documents that
all lead by h it is (1 + h)^−D.

*Seldom failures.* Those that were met may have been met too seldom. That is the bound of Gaffke (2005) in
`noninferiority`, whose further document has the worst value met here.

A failure errs to one side only. So both may have more than the error of one side: together with what Student's t errs
on the other, one of two level candidates is called better in about 5 %.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING, Final

from carrel.evaluation.statistics.quantiles import student_above

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]

MISSED: Final = (2.0, 1.8, 1.6)
"""So many times the error of one side the chance of missed failures may be, where none was met, one, and more: then the
other side errs more often, too."""
SELDOM: Final = 2.0
"""The same for failures that were met."""
_MOST: Final = 25
"""So many failures among those met are told from the other documents; with more, Student's t is right by itself."""
_STEPS: Final = 29
_LOWEST, _HIGHEST = -3.0, 4.0
"""Between these standard errors below the mean of the others lies the mean that makes the chance greatest."""
_NORMAL_FROM: Final = 400
_MOST_DOCUMENTS: Final = 1_000_000
_PARTS: Final = 16
_ROUNDS: Final = 5
"""An end is looked for in so many parts of an interval, again and again: a million parts in all."""
_NEWTON: Final = 60
_CLOSE: Final = 1e-9
_NOTHING: Final = 1e-12


def withstand(rows: Floats, worst: Floats, error: float) -> Flags:
    """Whether the mean of each row is above 0 in spite of failures, with this error on its side.

    A row has a value for each document, or group of them, and NaN where it has none; `worst` is how far below 0 the
    worst value lies that each row could have.
    """
    import numpy as np

    found = np.asarray(missed(rows, worst) <= error)
    found[found] = seldom(rows[found]) <= SELDOM * error
    return found


def lower_end(sums: Floats, sizes: Floats, least: float, start: float, error: float) -> float:
    """The greatest mean up to `start` that failures leave, of units with these sums of `sizes` values each."""
    import numpy as np

    usual = float(sizes.mean())

    def holds(at: Floats) -> Flags:
        return withstand((sums - at[:, None] * sizes) / usual, at - least, error)

    if start <= least or holds(np.array([start]))[0]:
        return max(start, least)
    ends = np.array([least, start])
    for _ in range(_ROUNDS):
        ends = np.linspace(ends[0], ends[-1], _PARTS + 1)
        held = 1 + int(np.argmin([*holds(ends[1:-1]), False]))
        ends = ends[held - 1 : held + 1]
    return float(ends[0])


def missed(rows: Floats, worst: Floats) -> Floats:
    """The greatest chance of such documents if failures that were not met, or hardly, make the true mean 0.

    It is divided by `MISSED`, so that it may be as great as the error of one side.
    """
    import numpy as np

    n = (~np.isnan(rows)).sum(axis=1)
    by_size = np.sort(rows, axis=1)
    known = np.nan_to_num(by_size)
    sums, squares = np.cumsum(known, axis=1), np.cumsum(known * known, axis=1)
    # Of each row with the j worst values as the failures that were met: three others are left, and the j are below 0.
    met = np.arange(max(1, min(_MOST, rows.shape[1] - 3) + 1))
    left = n[:, None] - met
    used = left >= 3
    used[:, 1:] &= np.nan_to_num(by_size[:, : len(met) - 1]) < 0.0
    most = int(used.any(axis=0).sum())
    if not most:
        return np.zeros(len(rows))
    used, met, left = used[:, :most], met[:most], np.maximum(3, left[:, :most])
    none = np.zeros((len(rows), 1))
    failed, failed_squares = (np.hstack([none, one[:, : most - 1]]) for one in (sums, squares))
    mean = (sums[:, -1:] - failed) / left
    spread = np.maximum(0.0, (squares[:, -1:] - failed_squares) / left - mean * mean) / (left - 1.0)
    error = np.where(spread < _NOTHING, 0.0, np.sqrt(spread))
    depth = np.maximum(np.where(met > 0, -failed / np.maximum(met, 1), worst[:, None]), _NOTHING)
    others = np.maximum(0.0, mean[..., None] - np.linspace(_LOWEST, _HIGHEST, _STEPS) * error[..., None])
    chances = _binomial(others / depth[..., None], n) * _all_tails(left - 1)
    by_met: Floats = chances.max(axis=2) / np.array(MISSED)[np.minimum(met, len(MISSED) - 1)]
    found: Floats = np.where(used, by_met, 0.0).max(axis=1)
    return found


def _binomial(odds: Floats, n: Places) -> Floats:
    """The chance of 0 to j failures among n documents, by row, j and odds of one."""
    import numpy as np

    n = n[:, None, None]
    term = (1.0 + odds) ** -n.astype(float)
    total = term.copy()
    for i in range(odds.shape[1] - 1):
        term = term[:, 1:] * odds[:, i + 1 :] * (n - i) / (i + 1.0)
        total[:, i + 1 :] += term
    found: Floats = np.minimum(total, 1.0)
    return found


def _all_tails(freedom: Places) -> Floats:
    import numpy as np

    every, place = np.unique(freedom, return_inverse=True)
    found: Floats = np.array([_tails(int(one)) for one in every])[place.reshape(freedom.shape)]
    return found


def documents_needed(mean: float, spread: float, worst: float, error: float) -> int:
    """How many documents would make failures that were not met too improbable, with this mean and spread."""
    import numpy as np

    tails, steps = np.array(_tails(_NORMAL_FROM)), np.linspace(_LOWEST, _HIGHEST, _STEPS)

    def enough(documents: int) -> bool:
        others = np.maximum(0.0, mean - steps * spread / math.sqrt(documents))
        return bool((tails * (1.0 + others / worst) ** -documents).max() <= MISSED[0] * error)

    return 1 + bisect_left(range(1, _MOST_DOCUMENTS), True, key=enough)


@cache
def _tails(freedom: int) -> tuple[float, ...]:
    width = (_HIGHEST - _LOWEST) / (_STEPS - 1)
    return tuple(student_above(_LOWEST + width * step, min(freedom, _NORMAL_FROM)) for step in range(_STEPS))


def seldom(rows: Floats) -> Floats:
    """The chance that the mean is not above 0, if one more document had the worst value of each row."""
    import numpy as np

    if not rows.size:
        return np.zeros(len(rows))
    worst = np.nanmin(rows, axis=1)
    found: Floats = np.zeros(len(rows))
    some = worst < 0.0
    scaled = np.concatenate([np.nan_to_num(rows[some]), worst[some, None]], axis=1)
    found[some] = no_more_than_0(scaled, np.ones_like(scaled))
    return found


def no_more_than_0(scaled: Floats, counts: Floats) -> Floats:
    """P(Σ scaled · E ≤ 0) of each row for exponential variables E, each as often as `counts` says; ½ from the mean on.

    By a saddlepoint (Lugannani and Rice 1980), to about a hundredth of itself.
    """
    import numpy as np

    found: Floats = np.where((counts * scaled).sum(axis=1) > 0.0, 0.0, 0.5)
    usual = (found == 0.0) & (scaled.min(axis=1) < 0.0)
    if not usual.any():
        return found
    scaled, counts = scaled[usual], counts[usual]
    low = 1.0 / scaled.min(axis=1)
    high = np.zeros(len(low))
    t = low / 2.0
    for _ in range(_NEWTON):
        terms = scaled / (1.0 - t[:, None] * scaled)
        slope, curve = (counts * terms).sum(axis=1), (counts * terms * terms).sum(axis=1)
        low, high = np.where(slope > 0, low, t), np.where(slope > 0, t, high)
        following = t - slope / curve
        following = np.where((following > low) & (following < high), following, (low + high) / 2.0)
        moved = np.abs(following - t) > _CLOSE * np.abs(t)
        t = following
        if not moved.any():
            break
    cumulant = -(counts * np.log1p(-t[:, None] * scaled)).sum(axis=1)
    spread = (counts * np.square(scaled / (1.0 - t[:, None] * scaled))).sum(axis=1)
    w, u = -np.sqrt(np.maximum(0.0, -2.0 * cumulant)), t * np.sqrt(spread)
    found[usual] = [_lugannani_rice(*pair) for pair in zip(w.tolist(), u.tolist(), strict=True)]
    return found


def _lugannani_rice(w: float, u: float) -> float:
    if w > -1e-6:
        return 0.5
    density = math.exp(-w * w / 2.0) / math.sqrt(2.0 * math.pi)
    return min(0.5, max(0.0, math.erfc(-w / math.sqrt(2.0)) / 2.0 + density * (1.0 / w - 1.0 / u)))
