"""An exact test of a lead over few documents: what if chance had given each document its sign?

If two candidates are level, a document that favours one by so much might as well have favoured the other. So all 2^n
ways of giving the documents their signs are equally likely (Fisher 1935), and the test asks how many of them give the
leader at least the lead that it has. It needs no normal distribution, which a few documents never have.
"""

from collections.abc import Sequence
from typing import NamedTuple

_SAME = 1e-9
_LATTICE = 480
"""Differences that are multiples of 1/n for an n up to this are counted exactly: n is candidates × judges × repeats."""
_STEPS = 20_000
"""Other differences are rounded so that all of them together have this many steps: it moves the sum by .01 of its
deviation at most."""
_COARSE = 0.85
"""From this part of documents with one and the same difference on, the sum takes so few values that half of one of
them can be more than the error that is allowed. Differences above 0 count as one and the same, because further wins may
make them so, and a sum that then counts whole must not have counted half before."""


class Count(NamedTuple):
    """The chance of a sum as great as that of the differences, and the part of it that is for exactly this sum.

    A sum of exactly this size counts half (the mid-p of Lancaster 1961), which keeps the error at its level on average
    over the sums that could have come out. The average does not help where they are few and far between: if 85 % of the
    documents have one and the same difference, or could have after further wins, it counts whole. So no greater
    difference makes the probability greater.
    """

    probability: float
    equal: float


def probability(differences: Sequence[float]) -> float:
    """The chance of a sum at least as great as that of these differences, if every sign were a toss of a coin."""
    return count(differences).probability


def count(differences: Sequence[float]) -> Count:
    """Every way to give these differences their signs."""
    # The import stands here, so that only workers pay for numpy.
    import numpy as np

    found = np.asarray(differences, dtype=float)
    sizes = np.abs(found)
    if not (sizes > _SAME).any():
        return Count(1.0, 1.0)
    different = np.array(sorted(set(sizes[sizes > _SAME].round(9).tolist())))
    multiples = np.arange(1, _LATTICE + 1)[:, None] * different
    whole = np.flatnonzero((np.abs(multiples - multiples.round()) < 1e-6).all(axis=1))
    scale = float(whole[0] + 1) if len(whole) else _STEPS / float(sizes.sum())
    steps = np.rint(sizes * scale).astype(np.int64)
    # Distribution of the sum of the steps whose sign is plus.
    chances = np.zeros(int(steps.sum()) + 1)
    chances[0] = 1.0
    reach = 0
    for step in np.sort(steps[steps > 0]).tolist():
        moved = chances[: reach + 1] * 0.5
        chances[: reach + 1] = moved
        chances[step : reach + step + 1] += moved
        reach += step
    plus = int(steps[found > 0].sum())
    alike = np.count_nonzero(found > _SAME) + int(np.bincount(steps[found < -_SAME], minlength=1).max())
    half = 0.0 if alike >= _COARSE * len(found) else 0.5
    return Count(float(chances[plus:].sum() - half * chances[plus]), float(chances[plus]))
