"""The chance that a planned number of documents can decide, known before anything is spent.

The tables assume that one judge truly prefers the first candidate to the second in 69 % of cases (0.8 logits). More
judges, more repeats or a greater lead decide more often; a closer second decides less often. How often also depends on
how much the judge agrees with itself, which nobody knows before the run. So there are two tables, and the chance is a
range between them: for a judge that decides each of the two orders anew, and for one that always says the same in both.
The second finds less, because the same 69 % then are documents that go one way or the other as a whole. A simulation
made the tables, with the rule by which Carrel calls a candidate best; `tests/evaluation/power_simulation.py` prints
them. Cells of up to six candidates have 1,000 to 4,000 tournaments, larger ones 300 to 2,000. A run that may stop early
pays for its looks: in the end it finds fewer leads than a run that looks once. Its tables come from 1,000 to 2,000
tournaments a cell, from 300 to 500 with 8 candidates or more, and what it saves from 150 to 500.
"""

from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from carrel.evaluation.ranking.contrasts import DECIDES_FROM
from carrel.evaluation.ranking.stopping import LEAST_DOCUMENTS
from carrel.evaluation.words import counted

DOCUMENTS = (5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100)
CANDIDATES = (2, 3, 4, 5, 6, 8, 10, 15)
SAVING_DOCUMENTS = (13, 20, 30, 50, 100)
SAVING_CANDIDATES = (2, 3, 5, 8, 15)
EARLY_DOCUMENTS = (13, 15, 20, 25, 30, 40, 50, 70, 100)
ENOUGH = 0.8

# Chance by number of candidates (rows) and documents (columns, as in DOCUMENTS).
_TABLE: dict[int, tuple[float, ...]] = {
    2: (0.000, 0.072, 0.180, 0.268, 0.353, 0.449, 0.589, 0.706, 0.782, 0.890, 0.949, 0.991, 1.000),
    3: (0.052, 0.140, 0.256, 0.369, 0.476, 0.601, 0.750, 0.854, 0.910, 0.973, 0.988, 0.998, 1.000),
    4: (0.047, 0.133, 0.305, 0.445, 0.573, 0.698, 0.841, 0.925, 0.959, 0.990, 0.998, 1.000, 1.000),
    5: (0.047, 0.152, 0.377, 0.561, 0.667, 0.802, 0.904, 0.963, 0.983, 0.999, 1.000, 1.000, 1.000),
    6: (0.050, 0.175, 0.434, 0.613, 0.736, 0.848, 0.939, 0.977, 0.993, 0.999, 1.000, 1.000, 1.000),
    8: (0.067, 0.228, 0.557, 0.724, 0.824, 0.904, 0.976, 0.991, 0.997, 1.000, 1.000, 1.000, 1.000),
    10: (0.084, 0.272, 0.646, 0.792, 0.900, 0.932, 0.990, 0.996, 0.998, 1.000, 1.000, 1.000, 1.000),
    15: (0.113, 0.400, 0.773, 0.930, 0.970, 0.980, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000),
}

# The same for runs that may stop early (columns as in EARLY_DOCUMENTS).
_EARLY: dict[int, tuple[float, ...]] = {
    2: (0.392, 0.455, 0.589, 0.688, 0.742, 0.871, 0.935, 0.987, 0.999),
    3: (0.493, 0.585, 0.711, 0.818, 0.864, 0.935, 0.963, 0.990, 1.000),
    4: (0.577, 0.667, 0.767, 0.806, 0.885, 0.948, 0.980, 0.999, 1.000),
    5: (0.626, 0.742, 0.830, 0.903, 0.921, 0.958, 0.982, 0.992, 1.000),
    6: (0.707, 0.759, 0.845, 0.893, 0.937, 0.967, 0.987, 0.995, 1.000),
    8: (0.796, 0.824, 0.890, 0.914, 0.952, 0.964, 0.992, 0.996, 1.000),
    10: (0.778, 0.876, 0.918, 0.934, 0.970, 0.988, 0.998, 1.000, 1.000),
    15: (0.893, 0.957, 0.967, 0.970, 0.970, 0.987, 0.997, 1.000, 1.000),
}


# The parts of the answers and of the comparisons that such a run does not need on average (columns: SAVING_DOCUMENTS).
_SAVED: dict[int, tuple[tuple[float, float], ...]] = {
    2: ((0.02, 0.02), (0.06, 0.06), (0.17, 0.17), (0.35, 0.35), (0.59, 0.59)),
    3: ((0.05, 0.08), (0.17, 0.23), (0.31, 0.39), (0.50, 0.58), (0.69, 0.73)),
    5: ((0.11, 0.16), (0.27, 0.35), (0.44, 0.53), (0.62, 0.70), (0.75, 0.79)),
    8: ((0.16, 0.20), (0.37, 0.44), (0.54, 0.60), (0.70, 0.75), (0.79, 0.80)),
    15: ((0.21, 0.23), (0.44, 0.49), (0.61, 0.65), (0.74, 0.78), (0.80, 0.80)),
}

# The same two for a judge that is sure of itself.
_SURE: dict[int, tuple[float, ...]] = {
    2: (0.000, 0.106, 0.051, 0.133, 0.236, 0.264, 0.376, 0.467, 0.540, 0.654, 0.741, 0.890, 0.963),
    3: (0.054, 0.041, 0.098, 0.167, 0.191, 0.280, 0.385, 0.521, 0.590, 0.735, 0.833, 0.941, 0.987),
    4: (0.024, 0.016, 0.074, 0.114, 0.167, 0.267, 0.402, 0.519, 0.618, 0.778, 0.860, 0.958, 0.991),
    5: (0.014, 0.006, 0.054, 0.103, 0.165, 0.282, 0.386, 0.540, 0.658, 0.808, 0.895, 0.960, 0.998),
    6: (0.010, 0.009, 0.064, 0.100, 0.162, 0.247, 0.426, 0.533, 0.640, 0.816, 0.893, 0.973, 0.990),
    8: (0.003, 0.003, 0.039, 0.073, 0.134, 0.230, 0.427, 0.534, 0.679, 0.799, 0.896, 0.985, 0.997),
    10: (0.000, 0.004, 0.032, 0.092, 0.134, 0.190, 0.386, 0.490, 0.654, 0.862, 0.936, 0.986, 0.992),
    15: (0.000, 0.000, 0.010, 0.050, 0.083, 0.153, 0.340, 0.537, 0.647, 0.830, 0.933, 0.980, 1.000),
}
_SURE_EARLY: dict[int, tuple[float, ...]] = {
    2: (0.173, 0.260, 0.368, 0.333, 0.418, 0.570, 0.678, 0.856, 0.944),
    3: (0.209, 0.284, 0.377, 0.482, 0.546, 0.694, 0.747, 0.896, 0.975),
    4: (0.192, 0.257, 0.354, 0.483, 0.541, 0.697, 0.795, 0.909, 0.975),
    5: (0.169, 0.255, 0.366, 0.488, 0.550, 0.730, 0.808, 0.917, 0.980),
    6: (0.150, 0.234, 0.379, 0.457, 0.572, 0.716, 0.800, 0.933, 0.973),
    8: (0.148, 0.204, 0.368, 0.478, 0.592, 0.728, 0.818, 0.930, 0.988),
    10: (0.134, 0.194, 0.338, 0.428, 0.570, 0.730, 0.842, 0.938, 0.970),
    15: (0.073, 0.160, 0.287, 0.447, 0.523, 0.737, 0.847, 0.927, 0.987),
}


UNJUDGED = "No judge scores or compares the answers, so nobody will be called best. Judges can judge them later."


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


def power(
    documents: int, candidates: int, *, early: bool = False, judges: int = 1, independent: int | None = None
) -> Power:
    """The chance to find a true lead of 69 %, to two digits and never 1.

    `early` is for a run that may stop early. Several judges who all say the same tell no more than one does, and judges
    who decide anew as much as one on (1 + judges)/2 times as many documents. Documents that belong together tell as
    much as `independent` ones. Without any judge nothing is decided.
    """
    if judges == 0:
        return Power(
            documents=documents,
            candidates=candidates,
            chance=0.0,
            chance_high=0.0,
            documents_enough=None,
            documents_enough_low=None,
            sentence=UNJUDGED,
        )
    units = documents if independent is None else min(independent, documents)
    more = (1 + judges) / 2

    def chances(number: int) -> list[float]:
        told = units * number // documents if documents else 0
        if told < DECIDES_FROM:
            return [0.0, 0.0]
        ends = [(told, True), (round(told * more), False), (told, False)]
        return sorted(chance_to_decide(d, candidates, early=early, sure=sure) for d, sure in ends)

    low, *_, high = (round(min(0.99, chance), 2) for chance in chances(documents))
    numbers = range(LEAST_DOCUMENTS if early else DECIDES_FROM, DOCUMENTS[-1] + 1) if candidates > 1 else ()
    enough = [next((number for number in numbers if chances(number)[end] >= ENOUGH), None) for end in (-1, 0)]
    found = sorted(number for number in enough if number is not None)
    return Power(
        documents=documents,
        candidates=candidates,
        chance=low,
        chance_high=high,
        documents_enough=found[-1] if len(found) == 2 else None,
        documents_enough_low=found[0] if found else None,
        sentence=_sentence(documents, units, low, high, found)
        if candidates > 1
        else "One candidate alone: there is nothing to decide.",
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


def _between(grid: Sequence[int], number: int) -> tuple[int, int, float]:
    """The two grid positions around a number, and the number's relative distance between them."""
    number = min(max(number, grid[0]), grid[-1])
    low = min(bisect_right(grid, number) - 1, len(grid) - 2)
    return low, low + 1, (number - grid[low]) / (grid[low + 1] - grid[low])


def _sentence(documents: int, groups: int, low: float, high: float, enough: Sequence[int]) -> str:
    number = counted(documents, "document")
    if groups < documents:
        number = f"{number} in {counted(groups, 'group')}"
    lead = "a candidate that judges prefer to the second in 69 % of pairs"
    about = f"about {_range(enough[0], enough[-1])}" if enough else f"more than {DOCUMENTS[-1]}"
    if groups < DECIDES_FROM:
        return f"{number} cannot decide. With {about} documents, 80 of 100 runs would find {lead}."
    found = f"With {number}, about {_range(round(100 * low), round(100 * high))} of 100 runs would find {lead}"
    if low < high:
        found = f"{found}: fewer if judges always repeat their verdicts, more if they vary"
    if enough and documents >= enough[-1]:
        return f"{found}."
    return f"{found}. {about[0].upper()}{about[1:]} documents would find it in 80."


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"
