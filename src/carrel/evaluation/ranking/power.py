"""The chance that a planned number of documents can decide, known before anything is spent.

The tables assume that one judge, in both orders, truly prefers the first candidate to the second in 69 % of cases (0.8
logits). More judges, more repeats or a greater lead decide more often; a closer second decides less often. A simulation
of 20,000 tournaments a cell made the tables, with the rule by which Carrel calls a candidate best;
`tests/evaluation/power_simulation.py` prints them. A run that may stop early pays for its looks: in the end it finds
fewer leads than a run that looks once.
"""

from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from carrel.evaluation.ranking.ranking import DECIDES_FROM
from carrel.evaluation.ranking.stopping import LEAST_DOCUMENTS

DOCUMENTS = (5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100)
CANDIDATES = (2, 3, 4, 5, 6, 8, 10, 15)
EARLY_DOCUMENTS = (13, 15, 20, 25, 30, 40, 50, 70, 100)
ENOUGH = 0.8

# Chance by number of candidates (rows) and documents (columns, as in DOCUMENTS).
_TABLE: dict[int, tuple[float, ...]] = {
    2: (0.130, 0.204, 0.321, 0.403, 0.478, 0.517, 0.624, 0.738, 0.806, 0.908, 0.956, 0.991, 0.999),
    3: (0.035, 0.092, 0.181, 0.280, 0.375, 0.493, 0.656, 0.774, 0.858, 0.946, 0.983, 0.999, 1.000),
    4: (0.006, 0.036, 0.139, 0.252, 0.362, 0.514, 0.704, 0.828, 0.904, 0.973, 0.992, 1.000, 1.000),
    5: (0.001, 0.018, 0.107, 0.238, 0.377, 0.552, 0.752, 0.874, 0.933, 0.985, 0.997, 1.000, 1.000),
    6: (0.000, 0.005, 0.091, 0.237, 0.390, 0.590, 0.797, 0.904, 0.957, 0.992, 0.999, 1.000, 1.000),
    8: (0.000, 0.001, 0.069, 0.244, 0.434, 0.660, 0.858, 0.945, 0.979, 0.998, 1.000, 1.000, 1.000),
    10: (0.000, 0.000, 0.058, 0.254, 0.470, 0.711, 0.899, 0.968, 0.991, 0.999, 1.000, 1.000, 1.000),
    15: (0.000, 0.000, 0.036, 0.271, 0.550, 0.796, 0.951, 0.989, 0.998, 1.000, 1.000, 1.000, 1.000),
}

# The same for runs that may stop early (columns as in EARLY_DOCUMENTS).
_EARLY: dict[int, tuple[float, ...]] = {
    2: (0.373, 0.401, 0.483, 0.585, 0.632, 0.768, 0.864, 0.962, 0.996),
    3: (0.276, 0.356, 0.487, 0.603, 0.693, 0.844, 0.925, 0.989, 1.000),
    4: (0.252, 0.356, 0.521, 0.660, 0.764, 0.904, 0.962, 0.996, 1.000),
    5: (0.248, 0.376, 0.570, 0.722, 0.818, 0.940, 0.981, 0.999, 1.000),
    6: (0.253, 0.406, 0.619, 0.768, 0.869, 0.964, 0.992, 1.000, 1.000),
    8: (0.274, 0.463, 0.707, 0.849, 0.927, 0.987, 0.998, 1.000, 1.000),
    10: (0.302, 0.518, 0.768, 0.897, 0.960, 0.994, 1.000, 1.000, 1.000),
    15: (0.356, 0.623, 0.865, 0.953, 0.988, 0.999, 1.000, 1.000, 1.000),
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
