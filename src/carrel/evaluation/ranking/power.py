"""The chance that a planned number of documents can decide, known before anything is spent.

The tables assume that one judge truly prefers the first candidate to the second in 69 % of cases (0.8 logits). More
judges, more repeats or a greater lead decide more often; a closer second decides less often. How often also depends on
how much the judge agrees with itself, which nobody knows before the run. So there are two tables, and the chance is a
range between them: for a judge that decides each of the two orders anew, and for one that always says the same in both.
The second finds less, because the same 69 % then are documents that go one way or the other as a whole. A simulation of
4,000 tournaments a cell made the tables, with the rule by which Carrel calls a candidate best;
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

# The same two for a judge that is sure of itself.
_SURE: dict[int, tuple[float, ...]] = {
    2: (0.000, 0.106, 0.051, 0.133, 0.236, 0.264, 0.376, 0.467, 0.540, 0.654, 0.741, 0.890, 0.963),
    3: (0.058, 0.042, 0.098, 0.163, 0.182, 0.275, 0.373, 0.495, 0.596, 0.732, 0.828, 0.941, 0.987),
    4: (0.028, 0.020, 0.063, 0.116, 0.161, 0.251, 0.379, 0.506, 0.619, 0.776, 0.860, 0.956, 0.992),
    5: (0.015, 0.008, 0.047, 0.097, 0.144, 0.235, 0.382, 0.517, 0.632, 0.804, 0.890, 0.958, 0.996),
    6: (0.008, 0.007, 0.041, 0.082, 0.135, 0.220, 0.381, 0.519, 0.638, 0.808, 0.905, 0.972, 0.994),
    8: (0.003, 0.003, 0.022, 0.058, 0.111, 0.201, 0.377, 0.520, 0.648, 0.811, 0.914, 0.979, 0.998),
    10: (0.001, 0.002, 0.018, 0.051, 0.102, 0.179, 0.358, 0.523, 0.648, 0.846, 0.923, 0.982, 0.997),
    15: (0.000, 0.001, 0.008, 0.036, 0.068, 0.156, 0.334, 0.508, 0.665, 0.845, 0.931, 0.987, 0.999),
}
_SURE_EARLY: dict[int, tuple[float, ...]] = {
    2: (0.133, 0.166, 0.259, 0.209, 0.292, 0.404, 0.516, 0.739, 0.891),
    3: (0.119, 0.158, 0.218, 0.276, 0.342, 0.498, 0.618, 0.829, 0.950),
    4: (0.102, 0.142, 0.192, 0.267, 0.338, 0.513, 0.666, 0.850, 0.967),
    5: (0.086, 0.123, 0.191, 0.256, 0.341, 0.542, 0.686, 0.875, 0.979),
    6: (0.064, 0.101, 0.171, 0.244, 0.351, 0.547, 0.697, 0.897, 0.976),
    8: (0.051, 0.081, 0.151, 0.239, 0.328, 0.549, 0.717, 0.911, 0.987),
    10: (0.041, 0.063, 0.136, 0.222, 0.327, 0.569, 0.723, 0.924, 0.984),
    15: (0.021, 0.051, 0.103, 0.196, 0.307, 0.569, 0.743, 0.934, 0.992),
}


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """What the planned documents can decide: the lead is found with a chance from `chance` to `chance_high`.

    About `documents_enough_low` to `documents_enough` documents find it in 80 of 100 runs, the fewer the less the judge
    agrees with itself; `None` if no number of the table does.
    """

    documents: int
    candidates: int
    chance: float
    chance_high: float
    documents_enough: int | None
    documents_enough_low: int | None
    sentence: str


def power(documents: int, candidates: int, *, early: bool = False) -> Power:
    """The chance to find a true lead of 69 %, to two digits and never 1.

    `early` is for a run that may stop early.
    """
    low, high = (
        round(min(0.99, chance), 2)
        for chance in sorted(chance_to_decide(documents, candidates, early=early, sure=sure) for sure in (True, False))
    )
    enough = [_documents_enough(candidates, early=early, sure=sure) for sure in (False, True)]
    found = sorted(number for number in enough if number is not None)
    return Power(
        documents=documents,
        candidates=candidates,
        chance=low,
        chance_high=high,
        documents_enough=found[-1] if len(found) == 2 else None,
        documents_enough_low=found[0] if found else None,
        sentence=_sentence(documents, low, high, found),
    )


def chance_to_decide(documents: int, candidates: int, *, early: bool = False, sure: bool = False) -> float:
    """Interpolates the table along both axes; beyond its edges it takes the nearest edge."""
    if documents < DECIDES_FROM or candidates < 2:
        return 0.0
    # With fewer documents there is no early look to pay for.
    looks = early and documents >= LEAST_DOCUMENTS
    columns = EARLY_DOCUMENTS if looks else DOCUMENTS
    table = {(False, False): _TABLE, (True, False): _EARLY, (False, True): _SURE, (True, True): _SURE_EARLY}[
        looks, sure
    ]
    low, high, part = _between(CANDIDATES, candidates)
    column, next_column, along = _between(columns, documents)

    def row(k: int) -> float:
        cells = table[CANDIDATES[k]]
        return cells[column] + along * (cells[next_column] - cells[column])

    return row(low) + part * (row(high) - row(low))


def _documents_enough(candidates: int, *, early: bool, sure: bool) -> int | None:
    if candidates < 2:
        return None
    numbers = range(LEAST_DOCUMENTS if early else DECIDES_FROM, DOCUMENTS[-1] + 1)
    return next((d for d in numbers if chance_to_decide(d, candidates, early=early, sure=sure) >= ENOUGH), None)


def _between(grid: Sequence[int], number: int) -> tuple[int, int, float]:
    """The two grid positions around a number, and the number's relative distance between them."""
    number = min(max(number, grid[0]), grid[-1])
    low = min(bisect_right(grid, number) - 1, len(grid) - 2)
    return low, low + 1, (number - grid[low]) / (grid[low + 1] - grid[low])


def _sentence(documents: int, low: float, high: float, enough: Sequence[int]) -> str:
    if not enough:
        return "One candidate alone: there is nothing to decide."
    number = "1 document" if documents == 1 else f"{documents} documents"
    about = _range(enough[0], enough[-1])
    if documents < DECIDES_FROM:
        return f"{number} cannot decide; about {about} would find a true lead of 69 % preferred in 80 of 100 runs."
    runs = _range(round(100 * low), round(100 * high))
    found = f"With {number} a true lead of 69 % preferred would be found in about {runs} of 100 runs"
    if low < high:
        found = f"{found}, the fewer the surer the judges are of themselves"
    return f"{found}." if documents >= enough[-1] else f"{found}; about {about} documents find it in 80."


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"
