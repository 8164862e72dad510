"""The simulation behind `carrel.evaluation.ranking.power`: prints its table when run; its test repeats a few cells.

The leader is 0.8 logits ahead of the second and 1.2 ahead of all others (69 % and 77 % preferred); on every document
each candidate moves by a normal deviation of 0.3 logits; one judge decides each pair in both orders, independently. A
judge that is sure says the same in both orders: it sees each answer with one deviation (Gumbel's, which gives the same
69 % and 77 %) and always prefers the better one, so that every document is a whole ranking.
"""

import math
from functools import lru_cache
from itertools import product

import numpy
import numpy.typing

from carrel.evaluation.ranking.power import CANDIDATES, DOCUMENTS, EARLY_DOCUMENTS, SAVING_CANDIDATES, SAVING_DOCUMENTS
from carrel.evaluation.ranking.stopping import looks
from carrel.evaluation.statistics import signflips
from carrel.evaluation.statistics.intervals import ONE_SIDED, probability
from carrel.evaluation.statistics.quantiles import student
from tests.evaluation.early import played
from tests.evaluation.simulated import Cell, pairs
from tests.evaluation.vectorised import by_documents

LEAD, SECOND, REST, DOCUMENT_DEVIATION = 0.8, 0.0, -0.4, 0.3


def chance(
    documents: int, candidates: int, tournaments: int, seed: int, *, early: bool = False, sure: bool = False
) -> float:
    """How often the leader is called best: Student's t and the count of signs both say so of each of its leads.

    With `early`, as a run plays that looks on its way and calls nobody for those that are beaten.
    """
    y = _tournaments(documents, candidates, tournaments, seed, sure=sure)
    if early:
        return float((played(y, Cell(documents, candidates, 1, 0.0), looks(documents)).best == 0).mean())
    return float(_best(by_documents(y, candidates)[1].sum(axis=3) / (candidates - 1)).mean())


def saved(documents: int, candidates: int, tournaments: int, seed: int) -> tuple[float, float]:
    """The parts of the answers and of the comparisons that such a run does not need."""
    y = _tournaments(documents, candidates, tournaments, seed)
    ends = played(y, Cell(documents, candidates, 1, 0.0), looks(documents))
    meetings = 2 * len(pairs(candidates))
    return (
        1.0 - float(ends.answers.mean()) / documents / candidates,
        1.0 - float(ends.comparisons.mean()) / documents / meetings,
    )


def _tournaments(
    documents: int, candidates: int, tournaments: int, seed: int, *, sure: bool = False
) -> numpy.typing.NDArray[numpy.float64]:
    random = numpy.random.default_rng([seed, documents, candidates])
    strengths = numpy.array([LEAD, SECOND, *[REST] * (candidates - 2)])
    first, second = numpy.array(pairs(candidates)).T
    shape = (tournaments, documents, candidates)
    if sure:
        moved = strengths + random.gumbel(0.0, 1.0, shape)
        return (moved[..., first] > moved[..., second]).astype(float)
    moved = strengths + random.normal(0.0, DOCUMENT_DEVIATION, shape)
    wins = 1.0 / (1.0 + numpy.exp(moved[..., second] - moved[..., first]))
    found: numpy.typing.NDArray[numpy.float64] = random.binomial(2, wins) / 2
    return found


def _best(shares: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.bool_]:
    tournaments, documents, candidates = shares.shape
    reach = student(probability(), documents - 1)
    leads = shares[:, :, :1] - shares[:, :, 1:]
    error = numpy.concatenate([leads, numpy.zeros((tournaments, 1, candidates - 1))], axis=1).std(axis=1, ddof=1)
    far = leads.mean(axis=1) / numpy.maximum(error / math.sqrt(documents), 1e-9) / reach
    best: numpy.typing.NDArray[numpy.bool_] = (far > 1.0).all(axis=1)
    for place in numpy.flatnonzero(best):
        # Half as far again, with twenty documents or more, no count of signs says anything else.
        close = [rival for rival in range(candidates - 1) if documents < 20 or far[place, rival] < 1.5]
        best[place] = all(_sign(leads[place, :, rival], candidates) <= ONE_SIDED for rival in close)
    return best


def _sign(leads: numpy.typing.NDArray[numpy.float64], candidates: int) -> float:
    """The probability depends on how often each difference came, not on its place."""
    return _kept(tuple(numpy.sort(numpy.rint(leads * 2 * (candidates - 1)).astype(int)).tolist()))


@lru_cache(maxsize=200_000)
def _kept(steps: tuple[int, ...]) -> float:
    return signflips.probability(steps)


if __name__ == "__main__":
    for sure, early in product((False, True), (False, True)):
        columns = EARLY_DOCUMENTS if early else DOCUMENTS
        print("sure" if sure else "independent", "early" if early else "one look")
        for k in CANDIDATES:
            cells = (sum(chance(d, k, 2_000, seed, early=early, sure=sure) for seed in range(2)) / 2 for d in columns)
            print(f"    {k}: (" + ", ".join(f"{cell:.3f}" for cell in cells) + "),")
    print("saved: answers, comparisons")
    for k in SAVING_CANDIDATES:
        rows = (saved(d, k, 500, 1) for d in SAVING_DOCUMENTS)
        print(f"    {k}: (" + ", ".join(f"({answers:.2f}, {comparisons:.2f})" for answers, comparisons in rows) + "),")
