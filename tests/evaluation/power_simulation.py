"""The simulation behind `carrel.evaluation.power`: prints its table when run; its test repeats a few cells.

The leader is 0.8 logits ahead of the second and 1.2 ahead of all others (69 % and 77 % preferred); on every document
each candidate moves by a normal deviation of 0.3 logits; one judge decides each pair in both orders, independently.
"""

import math

import numpy

from carrel.evaluation.power import CANDIDATES, DOCUMENTS
from carrel.evaluation.quantiles import student

LEAD, SECOND, REST, DOCUMENT_DEVIATION = 0.8, 0.0, -0.4, 0.3


def chance(documents: int, candidates: int, tournaments: int, seed: int) -> float:
    """How often the leader is called best: its lead over each of the others excludes 0 at 1 − .05/(K − 1)."""
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
    reach = student(1.0 - 0.025 / (candidates - 1), documents - 1)
    best = numpy.ones(tournaments, dtype=bool)
    for rival in range(1, candidates):
        lead = shares[:, :, 0] - shares[:, :, rival]
        with_extra = numpy.concatenate([lead, numpy.zeros((tournaments, 1))], axis=1)
        best &= lead.mean(axis=1) > reach * with_extra.std(axis=1, ddof=1) / math.sqrt(documents)
    return float(best.mean())


if __name__ == "__main__":
    for k in CANDIDATES:
        cells = (sum(chance(d, k, 2_000, seed) for seed in range(10)) / 10 for d in DOCUMENTS)
        print(f"    {k}: (" + ", ".join(f"{cell:.3f}" for cell in cells) + "),")
