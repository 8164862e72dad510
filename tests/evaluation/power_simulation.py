"""The simulation behind `carrel.evaluation.ranking.power`: prints its table when run; its test repeats a few cells.

The leader is 0.8 logits ahead of the second and 1.2 ahead of all others (69 % and 77 % preferred); on every document
each candidate moves by a normal deviation of 0.3 logits; one judge decides each pair in both orders, independently.
"""

import math

import numpy
import numpy.typing

from carrel.evaluation.ranking.power import CANDIDATES, DOCUMENTS, EARLY_DOCUMENTS
from carrel.evaluation.ranking.stopping import documents_to_agree, looks
from carrel.evaluation.statistics.intervals import simultaneous
from carrel.evaluation.statistics.quantiles import student

LEAD, SECOND, REST, DOCUMENT_DEVIATION = 0.8, 0.0, -0.4, 0.3


def chance(documents: int, candidates: int, tournaments: int, seed: int, *, early: bool = False) -> float:
    """How often the leader is called best: its lead over each of the others excludes 0 at 1 − .05/(K − 1).

    With `early`, at any of the looks of a run that may stop early, at the part of the error that the look spends.
    """
    random = numpy.random.default_rng([seed, documents, candidates])
    strengths = numpy.array([LEAD, SECOND, *[REST] * (candidates - 2)])
    shares = numpy.zeros((tournaments, documents, candidates))
    moved = strengths + random.normal(0.0, DOCUMENT_DEVIATION, shares.shape)
    for a in range(candidates):
        for b in range(a):
            wins = 1.0 / (1.0 + numpy.exp(moved[:, :, b] - moved[:, :, a]))
            y = random.binomial(2, wins) / 2
            shares[:, :, a] += y
            shares[:, :, b] += 1.0 - y
    shares /= candidates - 1
    rivals = candidates - 1
    if not early:
        return float(_best(shares, student(simultaneous(rivals), documents - 1)).mean())
    found = numpy.zeros(tournaments, dtype=bool)
    for look in looks(documents):
        if look.documents >= documents_to_agree(look.part, rivals):
            found |= _best(shares[:, : look.documents], student(simultaneous(rivals, look.part), look.documents - 1))
    return float(found.mean())


def _best(shares: numpy.typing.NDArray[numpy.float64], reach: float) -> numpy.typing.NDArray[numpy.bool_]:
    tournaments, documents, candidates = shares.shape
    best = numpy.ones(tournaments, dtype=bool)
    for rival in range(1, candidates):
        lead = shares[:, :, 0] - shares[:, :, rival]
        with_extra = numpy.concatenate([lead, numpy.zeros((tournaments, 1))], axis=1)
        best &= lead.mean(axis=1) > reach * with_extra.std(axis=1, ddof=1) / math.sqrt(documents)
    return best


if __name__ == "__main__":
    for early, columns in ((False, DOCUMENTS), (True, EARLY_DOCUMENTS)):
        print("early" if early else "one look")
        for k in CANDIDATES:
            cells = (sum(chance(d, k, 2_000, seed, early=early) for seed in range(10)) / 10 for d in columns)
            print(f"    {k}: (" + ", ".join(f"{cell:.3f}" for cell in cells) + "),")
