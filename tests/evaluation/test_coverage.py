"""Seeded tournaments: do the intervals hold what they are meant to hold, about as often as they say?

The truth is the estimator's own target, its value over very many simulated documents. A smoke test of a few cells:
150 intervals that depend on each other can be some points off 95 % by chance, so the band is wide.
"""

import math
import random
from itertools import combinations

import pytest

from carrel.evaluation.bradley_terry import fit
from carrel.evaluation.ranking import rank
from carrel.evaluation.records import Verdict, Word
from tests.evaluation.told import WORDS

STRENGTHS = (0.8, 0.0, -0.4)
DOCUMENT_DEVIATION = 0.7
TOURNAMENTS = 50
SIDES: tuple[Word, Word] = ("first", "second")


def chances(moved: tuple[float, ...]) -> dict[tuple[int, int], float]:
    return {(a, b): 1 / (1 + math.exp(moved[b] - moved[a])) for a, b in combinations(range(len(moved)), 2)}


def moved(source: random.Random) -> tuple[float, ...]:
    return tuple(strength + source.gauss(0, DOCUMENT_DEVIATION) for strength in STRENGTHS)


def targets() -> tuple[list[float], list[float]]:
    """Win shares and ratings over 20,000 documents, without any prior to speak of."""
    source, k, documents = random.Random(1), len(STRENGTHS), 20_000
    won = [[0.0] * k for _ in range(k)]
    for _ in range(documents):
        for (a, b), p in chances(moved(source)).items():
            won[a][b] += p
            won[b][a] += 1 - p
    met = [[0.0 if a == b else float(documents) for b in range(k)] for a in range(k)]
    return [sum(row) / documents / (k - 1) for row in won], fit(met, won, 1e-6)


def tournament(source: random.Random, documents: int, judges: int, missing: float) -> list[Verdict]:
    told = []
    for document in range(documents):
        for (a, b), p in chances(moved(source)).items():
            for judge in range(judges):
                ab: Word = "first" if source.random() < p else "second"
                ba: Word = "second" if source.random() < p else "first"
                if source.random() < missing:
                    ab, ba = WORDS["missing"]
                told.append(Verdict(document=f"d{document}", judge=f"j{judge}", a="ABC"[a], b="ABC"[b], ab=ab, ba=ba))
    return told


def test_equal_candidates_are_hardly_ever_called_best() -> None:
    source = random.Random(7)
    claims = 0
    for _ in range(4 * TOURNAMENTS):
        told = [
            Verdict(document=f"d{d}", judge="j", a=a, b=b, ab=source.choice(SIDES), ba=source.choice(SIDES))
            for d in range(8)
            for a, b in combinations("ABC", 2)
        ]
        claims += rank("ABC", told).best is not None
    assert claims <= 0.03 * 4 * TOURNAMENTS


@pytest.mark.parametrize(("documents", "judges", "missing"), [(3, 1, 0.0), (5, 1, 0.2), (12, 3, 0.0), (20, 1, 0.2)])
def test_the_intervals_hold_what_they_promise(documents: int, judges: int, missing: float) -> None:
    shares, ratings = targets()
    source = random.Random(f"{documents} {judges} {missing}")
    share_hits = rating_hits = rating_count = count = false_claims = 0
    for _ in range(TOURNAMENTS):
        ranking = rank("ABC", tournament(source, documents, judges, missing))
        false_claims += ranking.best not in (None, "A")
        for row in ranking.rows:
            i = "ABC".index(row.candidate)
            if row.low is not None and row.high is not None:
                count += 1
                share_hits += row.low <= shares[i] <= row.high
            if row.rating_low is not None and row.rating_high is not None:
                rating_count += 1
                rating_hits += row.rating_low <= ratings[i] <= row.rating_high
    assert count >= 0.9 * 3 * TOURNAMENTS
    assert share_hits / count >= 0.88
    assert rating_hits / rating_count >= 0.88
    assert false_claims <= 1
