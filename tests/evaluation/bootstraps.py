"""The percentile bootstraps that stand beside Carrel's intervals in the tables; the service does not use them."""

import numpy as np

from carrel.evaluation.ranking.bradley_terry import PRIOR
from tests.evaluation import vectorised
from tests.evaluation.vectorised import Array, Intervals

RESAMPLES = 200


def by_document(y: Array, candidates: int, random: np.random.Generator) -> tuple[Intervals, Intervals]:
    """The percentile bootstrap that draws documents: of win shares and of ratings."""
    met, won = vectorised.by_documents(y, candidates)
    count, documents = y.shape[:2]
    drawn = random.multinomial(documents, np.full(documents, 1 / documents), (count, RESAMPLES)).astype(float)
    there = (met.sum(axis=3) > 0).astype(float)
    on_document = won.sum(axis=3) / np.maximum(met.sum(axis=3), 1.0)
    with np.errstate(invalid="ignore"):
        shares = (drawn @ on_document) / (drawn @ there)
    flat = (count, documents, candidates**2)
    square = (count, RESAMPLES, candidates, candidates)
    ratings = vectorised.fit(
        (drawn @ met.reshape(flat)).reshape(square), (drawn @ won.reshape(flat)).reshape(square), PRIOR
    )
    return _percentiles(shares), _percentiles(ratings)


def by_comparison(y: Array, candidates: int, random: np.random.Generator) -> tuple[Intervals, Intervals]:
    """The naive bootstrap that draws single comparisons, as if they were independent of each other."""
    met, won = vectorised.by_documents(y, candidates)
    count = y.shape[0]
    first, second = np.triu_indices(candidates, 1)
    flat = y.reshape(count, -1)
    pair = np.tile(np.arange(len(first)), y.shape[1])
    shares, ratings = [], []
    for here in flat:
        there = np.flatnonzero(~np.isnan(here))
        drawn = random.multinomial(len(there), np.full(len(there), 1 / len(there)), RESAMPLES).astype(float)
        of_pair = np.eye(len(first))[pair[there]]
        met_pair, won_pair = drawn @ of_pair, drawn @ (of_pair * here[there, None])
        met = np.zeros((RESAMPLES, candidates, candidates))
        won = np.zeros_like(met)
        met[:, first, second] = met[:, second, first] = met_pair
        won[:, first, second], won[:, second, first] = won_pair, met_pair - won_pair
        with np.errstate(invalid="ignore"):
            shares.append(won.sum(axis=2) / met.sum(axis=2))
        ratings.append((met, won))
    fitted = vectorised.fit(np.stack([met for met, _ in ratings]), np.stack([won for _, won in ratings]), PRIOR)
    return _percentiles(np.stack(shares)), _percentiles(fitted)


def _percentiles(drawn: Array) -> Intervals:
    low, high = np.nanpercentile(drawn, [2.5, 97.5], axis=1)
    return Intervals(low, high)
