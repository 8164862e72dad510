"""Win shares: how much of its comparisons a candidate won on each document, and what follows for the whole set."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from carrel.evaluation import intervals
from carrel.evaluation.intervals import Estimate
from carrel.evaluation.table import Pair, Table, groups, mean

_LEVEL = 1e-9
"""Shares closer than this are level: what lies between them is arithmetic, not evidence."""


class Standing(NamedTuple):
    """Members from the greatest win share down, those that are level in plan order.

    `leaders` share the first place; there are none when the members fall into groups that never met.
    """

    shares: dict[int, float]
    order: tuple[int, ...]
    leaders: tuple[int, ...]


def on_document(pairs: Sequence[Pair]) -> dict[int, float]:
    """s_da: each candidate's mean over the opponents that it met on this document."""
    won: defaultdict[int, list[float]] = defaultdict(list)
    for a, b, y in pairs:
        won[a].append(y)
        won[b].append(1.0 - y)
    return {candidate: mean(values) for candidate, values in won.items()}


def estimates(table: Table) -> dict[int, Estimate]:
    """Each member's win share over the documents on which it met anyone."""
    values: defaultdict[int, list[float]] = defaultdict(list)
    for pairs in table.documents:
        for candidate, won in on_document(pairs).items():
            values[candidate].append(won)
    return {candidate: intervals.share(values[candidate]) for candidate in table.members}


def contrast(table: Table, a: int, b: int) -> Estimate:
    """a's win share minus b's, by document; only meaningful on a complete table."""
    by_document = [on_document(pairs) for pairs in table.documents]
    return intervals.difference([won[a] - won[b] for won in by_document])


def standing(table: Table) -> Standing:
    """Who is ahead by win share, without any claim of how surely."""
    shares = {candidate: found.mean for candidate, found in estimates(table).items()}
    order = tuple(sorted(shares, key=lambda candidate: (-round(shares[candidate], 9), candidate)))
    if len(groups(table)) > 1:
        return Standing(shares, order, ())
    return Standing(shares, order, tuple(i for i in order if shares[order[0]] - shares[i] < _LEVEL))
