"""How others would judge the same draws: bootstraps, a clustered standard error, plain majority."""

import numpy as np
import numpy.typing as npt

from tests.evaluation import vectorised
from tests.evaluation.vectorised import Array

PEERS = ("comparisons", "documents", "clustered", "majority")
RESAMPLES = 200


def judged(
    peer: str, met: Array, won: Array, random: np.random.Generator
) -> tuple[vectorised.Intervals, npt.NDArray[np.int64]]:
    """Its intervals of win shares, and whom it calls best: whoever is ahead of everybody outside its interval."""
    count = len(met)
    there = met.sum(axis=3)
    with np.errstate(invalid="ignore"):
        on_document = won.sum(axis=3) / there
    shares = np.nanmean(on_document, axis=1)
    first = np.argmax(np.round(shares, 9), axis=1)
    every = np.arange(count)
    if peer == "majority":
        best = np.where((np.sort(shares, axis=1)[:, -1] - np.sort(shares, axis=1)[:, -2]) > 1e-9, first, -1)
        empty = np.full_like(shares, np.nan)
        return vectorised.Intervals(empty, empty), best
    if peer == "clustered":
        n = (~np.isnan(on_document)).sum(axis=1)
        error = np.nanstd(on_document, axis=1, ddof=1) / np.sqrt(n)
        gaps = on_document[every, :, first][:, :, None] - on_document
        gap = np.nanmean(gaps, axis=1)
        spread = np.nanstd(gaps, axis=1, ddof=1) / np.sqrt((~np.isnan(gaps)).sum(axis=1))
        ahead = gap > 1.959964 * spread
        intervals = vectorised.Intervals(shares - 1.959964 * error, shares + 1.959964 * error)
    else:
        drawn = _resampled(peer, met, won, random)
        low, high = np.nanpercentile(drawn, [2.5, 97.5], axis=1)
        intervals = vectorised.Intervals(low, high)
        gaps = drawn[every, :, first][:, :, None] - drawn
        ahead = np.nanpercentile(gaps, 2.5, axis=1) > 0
    ahead[every, first] = True
    return intervals, np.where(ahead.all(axis=1), first, -1)


def _resampled(peer: str, met: Array, won: Array, random: np.random.Generator) -> Array:
    """Win shares by tournament, resample and candidate."""
    count, documents, k = met.shape[:3]
    if peer == "documents":
        drawn = random.multinomial(documents, np.full(documents, 1 / documents), (count, RESAMPLES)).astype(float)
        there = (met.sum(axis=3) > 0).astype(float)
        on_document = won.sum(axis=3) / np.maximum(met.sum(axis=3), 1.0)
        with np.errstate(invalid="ignore"):
            return np.asarray((drawn @ on_document) / (drawn @ there))
    a, b = np.triu_indices(k, 1)
    heard, y = met[:, :, a, b].reshape(count, -1), won[:, :, a, b].reshape(count, -1)
    of = heard.shape[1]
    drawn = random.multinomial(of, np.full(of, 1 / of), (count, RESAMPLES)).astype(float)
    first = np.eye(k)[np.tile(a, documents)]
    second = np.eye(k)[np.tile(b, documents)]
    won_all = drawn @ (y[..., None] * first + (heard - y)[..., None] * second)
    met_all = drawn @ (heard[..., None] * (first + second))
    with np.errstate(invalid="ignore"):
        return np.asarray(won_all / met_all)
