"""The chance that a planned number of documents can decide, known before anything is spent.

The tables assume that one judge truly prefers the first candidate to the second in 69 % of cases (0.8 logits). More
judges, more repeats or a greater lead decide more often; a closer second decides less often. How often also depends on
how much the judge agrees with itself, which nobody knows before the run. So there are two tables, and the chance is a
range between them: for a judge that decides each of the two orders anew, and for one that always says the same in both.
The second finds less, because the same 69 % then are documents that go one way or the other as a whole. A simulation of
4,000 tournaments a cell made the tables, with the rule by which Carrel calls a candidate best;
`tests/evaluation/power_simulation.py` prints them. A run that may stop early pays for its looks: in the end it finds
fewer leads than a run that looks once. Its tables come from 300 to 2,000
tournaments a cell, and what it saves from 500.
"""

from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from carrel.evaluation.ranking.contrasts import DECIDES_FROM
from carrel.evaluation.ranking.stopping import LEAST_DOCUMENTS

DOCUMENTS = (5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100)
CANDIDATES = (2, 3, 4, 5, 6, 8, 10, 15)
SAVING_DOCUMENTS = (13, 20, 30, 50, 100)
SAVING_CANDIDATES = (2, 3, 5, 8, 15)
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
    2: (0.341, 0.472, 0.523, 0.673, 0.750, 0.876, 0.935, 0.992, 1.000),
    3: (0.461, 0.548, 0.675, 0.780, 0.845, 0.928, 0.965, 0.992, 1.000),
    4: (0.545, 0.610, 0.744, 0.817, 0.880, 0.952, 0.980, 0.998, 1.000),
    5: (0.616, 0.679, 0.798, 0.867, 0.906, 0.951, 0.981, 0.995, 1.000),
    6: (0.664, 0.712, 0.829, 0.881, 0.925, 0.963, 0.990, 0.998, 1.000),
    8: (0.762, 0.813, 0.876, 0.915, 0.938, 0.971, 0.992, 0.998, 1.000),
    10: (0.793, 0.839, 0.900, 0.931, 0.954, 0.985, 0.990, 0.999, 1.000),
    15: (0.918, 0.904, 0.926, 0.946, 0.969, 0.991, 0.996, 1.000, 1.000),
}


# The parts of the answers and of the comparisons that such a run does not need on average (columns: SAVING_DOCUMENTS).
_SAVED: dict[int, tuple[tuple[float, float], ...]] = {
    2: ((0.04, 0.04), (0.08, 0.08), (0.19, 0.19), (0.35, 0.35), (0.59, 0.59)),
    3: ((0.09, 0.12), (0.20, 0.27), (0.33, 0.42), (0.50, 0.59), (0.69, 0.73)),
    5: ((0.15, 0.19), (0.31, 0.39), (0.47, 0.56), (0.63, 0.70), (0.75, 0.79)),
    8: ((0.19, 0.22), (0.41, 0.47), (0.56, 0.63), (0.70, 0.76), (0.79, 0.80)),
    15: ((0.22, 0.23), (0.47, 0.49), (0.63, 0.66), (0.76, 0.79), (0.80, 0.80)),
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
    2: (0.205, 0.233, 0.222, 0.340, 0.442, 0.573, 0.653, 0.863, 0.950),
    3: (0.207, 0.242, 0.357, 0.435, 0.565, 0.673, 0.768, 0.887, 0.978),
    4: (0.173, 0.228, 0.327, 0.450, 0.512, 0.710, 0.793, 0.907, 0.980),
    5: (0.155, 0.212, 0.352, 0.452, 0.523, 0.705, 0.818, 0.918, 0.978),
    6: (0.103, 0.187, 0.333, 0.433, 0.568, 0.717, 0.852, 0.915, 0.968),
    8: (0.090, 0.147, 0.307, 0.423, 0.503, 0.707, 0.817, 0.953, 0.980),
    10: (0.110, 0.163, 0.293, 0.387, 0.527, 0.703, 0.823, 0.933, 0.980),
    15: (0.053, 0.100, 0.267, 0.383, 0.503, 0.710, 0.850, 0.933, 0.987),
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


def saved(documents: int, candidates: int) -> tuple[float, float]:
    """The parts of its answers and of its comparisons that a run that may stop early does not need on average."""
    if documents < LEAST_DOCUMENTS or candidates < 2:
        return 0.0, 0.0
    low, high, part = _between(SAVING_CANDIDATES, candidates)
    column, following, along = _between(SAVING_DOCUMENTS, documents)

    def cell(kind: int) -> float:
        ends = [
            (1.0 - along) * _SAVED[SAVING_CANDIDATES[k]][column][kind]
            + along * _SAVED[SAVING_CANDIDATES[k]][following][kind]
            for k in (low, high)
        ]
        return (1.0 - part) * ends[0] + part * ends[1]

    return cell(0), cell(1)


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
