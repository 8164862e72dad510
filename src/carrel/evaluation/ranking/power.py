"""The chance that a planned number of documents can decide, known before anything is spent.

The tables assume that one judge truly prefers the first candidate to the second in 69 % of cases (0.8 logits). More
judges, more repeats or a greater lead decide more often; a closer second decides less often. How often also depends on
how much the judge agrees with itself, which nobody knows before the run. So there are two tables, and the chance is a
range between them: for a judge that decides each of the two orders anew, and for one that always says the same in both.
Which of them finds more depends on the numbers: for the second, the same 69 % are documents that go one way or the
other as a whole; with few documents the leads of the first are so narrow that failures may have been missed. A
simulation made the tables, with the rule by which Carrel calls a candidate best; `tests/evaluation/power_simulation.py`
prints them. Cells of up to six candidates have 1,000 to 4,000 tournaments, larger ones 250 to 1,000. A run that may
stop early pays for its looks: in the end it finds fewer leads than a run that looks once. Its tables come from 400 to
1,500 tournaments a cell, from 125 to 400 with 8 candidates or more, and what it saves from 150 to 400.
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
    2: (0.000, 0.075, 0.175, 0.282, 0.346, 0.441, 0.586, 0.716, 0.797, 0.893, 0.948, 0.991, 1.000),
    3: (0.000, 0.048, 0.182, 0.350, 0.453, 0.585, 0.742, 0.830, 0.914, 0.967, 0.988, 0.997, 1.000),
    4: (0.000, 0.004, 0.102, 0.321, 0.479, 0.664, 0.822, 0.911, 0.943, 0.990, 0.998, 1.000, 1.000),
    5: (0.000, 0.000, 0.044, 0.235, 0.462, 0.697, 0.892, 0.944, 0.978, 0.999, 1.000, 1.000, 1.000),
    6: (0.000, 0.000, 0.015, 0.150, 0.415, 0.716, 0.915, 0.968, 0.990, 1.000, 1.000, 1.000, 1.000),
    8: (0.000, 0.000, 0.000, 0.094, 0.312, 0.692, 0.937, 0.988, 0.998, 1.000, 1.000, 1.000, 1.000),
    10: (0.000, 0.000, 0.000, 0.032, 0.241, 0.639, 0.937, 0.991, 0.999, 1.000, 1.000, 1.000, 1.000),
    15: (0.000, 0.000, 0.000, 0.005, 0.135, 0.586, 0.942, 0.999, 1.000, 1.000, 1.000, 1.000, 1.000),
}

# The same for runs that may stop early (columns as in EARLY_DOCUMENTS).
_EARLY: dict[int, tuple[float, ...]] = {
    2: (0.387, 0.468, 0.593, 0.672, 0.757, 0.873, 0.933, 0.988, 0.999),
    3: (0.469, 0.549, 0.697, 0.785, 0.856, 0.932, 0.970, 0.992, 1.000),
    4: (0.480, 0.626, 0.790, 0.848, 0.902, 0.948, 0.976, 0.995, 0.998),
    5: (0.444, 0.687, 0.840, 0.914, 0.931, 0.973, 0.988, 0.998, 1.000),
    6: (0.394, 0.585, 0.853, 0.931, 0.954, 0.981, 0.993, 1.000, 1.000),
    8: (0.268, 0.497, 0.865, 0.965, 0.973, 0.990, 0.998, 1.000, 1.000),
    10: (0.217, 0.497, 0.885, 0.970, 0.985, 0.998, 1.000, 1.000, 1.000),
    15: (0.092, 0.372, 0.844, 0.984, 0.996, 1.000, 1.000, 1.000, 1.000),
}


# The parts of the answers and of the comparisons that such a run does not need on average (columns: SAVING_DOCUMENTS).
_SAVED: dict[int, tuple[tuple[float, float], ...]] = {
    2: ((0.02, 0.02), (0.07, 0.07), (0.15, 0.15), (0.35, 0.35), (0.59, 0.59)),
    3: ((0.01, 0.02), (0.11, 0.14), (0.25, 0.31), (0.45, 0.51), (0.67, 0.72)),
    5: ((0.00, 0.00), (0.10, 0.15), (0.29, 0.34), (0.51, 0.56), (0.72, 0.76)),
    8: ((0.00, 0.00), (0.09, 0.14), (0.29, 0.33), (0.52, 0.56), (0.72, 0.75)),
    15: ((0.00, 0.00), (0.05, 0.08), (0.30, 0.33), (0.52, 0.55), (0.71, 0.74)),
}

# The same two for a judge that is sure of itself.
_SURE: dict[int, tuple[float, ...]] = {
    2: (0.000, 0.102, 0.049, 0.136, 0.226, 0.266, 0.388, 0.470, 0.532, 0.644, 0.730, 0.887, 0.968),
    3: (0.000, 0.034, 0.052, 0.092, 0.137, 0.246, 0.384, 0.481, 0.579, 0.736, 0.836, 0.943, 0.988),
    4: (0.000, 0.009, 0.052, 0.101, 0.141, 0.233, 0.367, 0.492, 0.600, 0.780, 0.865, 0.958, 0.992),
    5: (0.000, 0.005, 0.037, 0.086, 0.144, 0.218, 0.340, 0.499, 0.623, 0.803, 0.890, 0.949, 0.996),
    6: (0.000, 0.002, 0.025, 0.066, 0.122, 0.212, 0.359, 0.516, 0.612, 0.810, 0.909, 0.972, 0.994),
    8: (0.000, 0.001, 0.016, 0.049, 0.112, 0.187, 0.345, 0.522, 0.645, 0.803, 0.919, 0.980, 0.998),
    10: (0.000, 0.000, 0.008, 0.034, 0.090, 0.171, 0.355, 0.517, 0.663, 0.830, 0.926, 0.976, 1.000),
    15: (0.000, 0.000, 0.001, 0.015, 0.058, 0.151, 0.310, 0.512, 0.672, 0.858, 0.938, 1.000, 0.996),
}
_SURE_EARLY: dict[int, tuple[float, ...]] = {
    2: (0.175, 0.267, 0.370, 0.341, 0.414, 0.577, 0.679, 0.849, 0.933),
    3: (0.209, 0.275, 0.367, 0.472, 0.532, 0.691, 0.770, 0.893, 0.984),
    4: (0.188, 0.234, 0.345, 0.479, 0.544, 0.704, 0.800, 0.907, 0.975),
    5: (0.158, 0.230, 0.346, 0.480, 0.565, 0.748, 0.826, 0.910, 0.980),
    6: (0.145, 0.195, 0.370, 0.468, 0.571, 0.730, 0.830, 0.940, 0.978),
    8: (0.122, 0.168, 0.362, 0.472, 0.635, 0.765, 0.860, 0.950, 1.000),
    10: (0.095, 0.168, 0.323, 0.412, 0.588, 0.762, 0.858, 0.970, 0.975),
    15: (0.032, 0.136, 0.280, 0.484, 0.592, 0.800, 0.912, 0.960, 0.992),
}


UNJUDGED = "No judge scores or compares the answers, so nobody will be called best. Judges can judge them later."

BY_CHECKS = "Checks give the verdict. How many documents would decide depends on how often the candidates pass them."


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
    documents: int,
    candidates: int,
    *,
    early: bool = False,
    judges: int = 1,
    independent: int | None = None,
    checked: bool = False,
) -> Power:
    """The chance to find a true lead of 69 %, to two digits and never 1.

    `early` is for a run that may stop early. Several judges who all say the same tell no more than one does, and judges
    who decide anew as much as one on (1 + judges)/2 times as many documents. Documents that belong together tell as
    much as `independent` ones. Without any judge nothing is decided, unless by checks, for which there is no table.
    """
    if judges == 0 or checked:
        return Power(
            documents=documents,
            candidates=candidates,
            chance=0.0,
            chance_high=0.0,
            documents_enough=None,
            documents_enough_low=None,
            sentence=BY_CHECKS if checked else UNJUDGED,
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
        found = f"{found}: how many depends on how much the judge agrees with itself"
    if enough and documents >= enough[-1]:
        return f"{found}."
    return f"{found}. {about[0].upper()}{about[1:]} documents would find it in 80."


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"
