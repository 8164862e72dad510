"""The simulation behind `carrel.evaluation.ranking.power`: prints its table when run; its test repeats a few cells.

The leader is 0.8 logits ahead of the second and 1.2 ahead of all others (69 % and 77 % preferred); on every document
each candidate moves by a normal deviation of 0.3 logits; one judge decides each pair in both orders, independently. A
judge that is sure says the same in both orders: it sees each answer with one deviation (Gumbel's, which gives the same
69 % and 77 %) and always prefers the better one, so that every document is a whole ranking.
"""

from itertools import product

import numpy
import numpy.typing

from carrel.evaluation.ranking.power import CANDIDATES, DOCUMENTS, EARLY_DOCUMENTS, SAVING_CANDIDATES, SAVING_DOCUMENTS
from carrel.evaluation.ranking.stopping import looks
from tests.evaluation.early import played
from tests.evaluation.simulated import Cell, pairs
from tests.evaluation.vectorised import by_documents, claims

LEAD, SECOND, REST, DOCUMENT_DEVIATION = 0.8, 0.0, -0.4, 0.3
_AT_ONCE = 2_000_000


def chance(
    documents: int, candidates: int, tournaments: int, seed: int, *, early: bool = False, sure: bool = False
) -> float:
    """How often the leader is called best.

    With `early`, as a run plays that looks on its way and calls nobody for those that are beaten.
    """
    y = _tournaments(documents, candidates, tournaments, seed, sure=sure)
    if early:
        return float((played(y, Cell(documents, candidates, 1, 0.0), looks(documents)).best == 0).mean())
    parts = numpy.array_split(y, max(1, y.size // _AT_ONCE))
    return float(numpy.concatenate([claims(*by_documents(part, candidates))[1] == 0 for part in parts]).mean())


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


if __name__ == "__main__":
    for sure, early in product((False, True), (False, True)):
        columns, seeds = (EARLY_DOCUMENTS, range(1)) if early else (DOCUMENTS, range(2))
        print("sure" if sure else "independent", "early" if early else "one look")
        for k in CANDIDATES:
            cells = [[chance(d, k, 2_000, seed, early=early, sure=sure) for seed in seeds] for d in columns]
            print(f"    {k}: (" + ", ".join(f"{sum(cell) / len(cell):.3f}" for cell in cells) + "),", flush=True)
    print("saved: answers, comparisons")
    for k in SAVING_CANDIDATES:
        rows = (saved(d, k, 500, 1) for d in SAVING_DOCUMENTS)
        print(f"    {k}: (" + ", ".join(f"({answers:.2f}, {comparisons:.2f})" for answers, comparisons in rows) + "),")
