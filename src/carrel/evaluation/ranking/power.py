"""The chance that a planned number of documents can decide, known before anything is spent.

The tables assume that one judge, in both orders, truly prefers the first candidate to the second in 69 % of cases (0.8
logits). More judges, more repeats or a greater lead decide more often; a closer second decides less often. A simulation
of 4,000 tournaments a cell made the tables, with the rule by which Carrel calls a candidate best;
`tests/evaluation/power_simulation.py` prints them. A run that may stop early pays for its looks: in the end it finds
fewer leads than a run that looks once.
"""

from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from carrel.evaluation.ranking.contrasts import DECIDES_FROM
from carrel.evaluation.ranking.stopping import LEAST_DOCUMENTS

DOCUMENTS = (5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100)
CANDIDATES = (2, 3, 4, 5, 6, 8, 10, 15)
EARLY_DOCUMENTS = (13, 15, 20, 25, 30, 40, 50, 70, 100)
ENOUGH = 0.8

# Chance by number of candidates (rows) and documents (columns, as in DOCUMENTS).
_TABLE: dict[int, tuple[float, ...]] = {
    2: (0.000, 0.072, 0.180, 0.268, 0.353, 0.449, 0.589, 0.706, 0.782, 0.890, 0.949, 0.991, 1.000),
    3: (0.055, 0.129, 0.259, 0.375, 0.481, 0.589, 0.750, 0.840, 0.920, 0.971, 0.992, 0.999, 1.000),
    4: (0.046, 0.125, 0.297, 0.433, 0.561, 0.685, 0.844, 0.925, 0.960, 0.992, 0.998, 1.000, 1.000),
    5: (0.051, 0.149, 0.329, 0.504, 0.639, 0.778, 0.895, 0.958, 0.980, 0.997, 1.000, 1.000, 1.000),
    6: (0.042, 0.163, 0.399, 0.571, 0.698, 0.841, 0.935, 0.979, 0.990, 1.000, 1.000, 1.000, 1.000),
    8: (0.051, 0.214, 0.468, 0.692, 0.817, 0.898, 0.968, 0.992, 0.999, 1.000, 1.000, 1.000, 1.000),
    10: (0.069, 0.247, 0.548, 0.764, 0.875, 0.947, 0.989, 0.997, 0.999, 1.000, 1.000, 1.000, 1.000),
    15: (0.098, 0.366, 0.715, 0.874, 0.943, 0.982, 0.998, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000),
}

# The same for runs that may stop early (columns as in EARLY_DOCUMENTS).
_EARLY: dict[int, tuple[float, ...]] = {
    2: (0.238, 0.322, 0.390, 0.486, 0.592, 0.730, 0.837, 0.963, 0.998),
    3: (0.335, 0.439, 0.568, 0.666, 0.759, 0.882, 0.952, 0.994, 1.000),
    4: (0.415, 0.522, 0.676, 0.792, 0.858, 0.954, 0.984, 0.998, 1.000),
    5: (0.486, 0.631, 0.754, 0.868, 0.917, 0.976, 0.997, 1.000, 1.000),
    6: (0.556, 0.700, 0.829, 0.911, 0.951, 0.990, 0.998, 1.000, 1.000),
    8: (0.672, 0.795, 0.904, 0.964, 0.984, 0.999, 1.000, 1.000, 1.000),
    10: (0.764, 0.863, 0.953, 0.983, 0.993, 0.999, 1.000, 1.000, 1.000),
    15: (0.870, 0.942, 0.989, 0.996, 1.000, 1.000, 1.000, 1.000, 1.000),
}


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """What the planned documents can decide; `documents_enough` is about how many find the lead in 80 of 100 runs."""

    documents: int
    candidates: int
    chance: float
    documents_enough: int | None
    sentence: str


def power(documents: int, candidates: int, *, early: bool = False) -> Power:
    """The chance to find a true lead of 69 %, to two digits and never 1.

    `early` is for a run that may stop early.
    """
    chance = round(min(0.99, chance_to_decide(documents, candidates, early=early)), 2)
    enough = _documents_enough(candidates, early=early) if candidates > 1 else None
    return Power(
        documents=documents,
        candidates=candidates,
        chance=chance,
        documents_enough=enough,
        sentence=_sentence(documents, chance, enough),
    )


def chance_to_decide(documents: int, candidates: int, *, early: bool = False) -> float:
    """Interpolates the table along both axes; beyond its edges it takes the nearest edge."""
    if documents < DECIDES_FROM or candidates < 2:
        return 0.0
    # With fewer documents there is no early look to pay for.
    columns, table = (EARLY_DOCUMENTS, _EARLY) if early and documents >= LEAST_DOCUMENTS else (DOCUMENTS, _TABLE)
    low, high, part = _between(CANDIDATES, candidates)
    column, next_column, along = _between(columns, documents)

    def row(k: int) -> float:
        cells = table[CANDIDATES[k]]
        return cells[column] + along * (cells[next_column] - cells[column])

    return row(low) + part * (row(high) - row(low))


def _documents_enough(candidates: int, *, early: bool) -> int | None:
    numbers = range(LEAST_DOCUMENTS if early else DECIDES_FROM, DOCUMENTS[-1] + 1)
    return next((d for d in numbers if chance_to_decide(d, candidates, early=early) >= ENOUGH), None)


def _between(grid: Sequence[int], number: int) -> tuple[int, int, float]:
    """The two grid positions around a number, and the number's relative distance between them."""
    number = min(max(number, grid[0]), grid[-1])
    low = min(bisect_right(grid, number) - 1, len(grid) - 2)
    return low, low + 1, (number - grid[low]) / (grid[low + 1] - grid[low])


def _sentence(documents: int, chance: float, enough: int | None) -> str:
    if enough is None:
        return "One candidate alone: there is nothing to decide."
    number = "1 document" if documents == 1 else f"{documents} documents"
    if documents < DECIDES_FROM:
        return f"{number} cannot decide; about {enough} would find a true lead of 69 % preferred in 80 of 100 runs."
    found = f"With {number} a true lead of 69 % preferred would be found in about {100 * chance:.0f} of 100 runs"
    return f"{found}." if documents >= enough else f"{found}; about {enough} documents find it in 80."
