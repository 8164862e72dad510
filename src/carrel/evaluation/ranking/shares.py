"""The rule of win shares: the part of its comparisons that a candidate won on each document, and over all documents.

To change how Carrel computes win shares, or when two of them are level, change this module and no other.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from carrel.evaluation.ranking.table import Pair, Table, groups
from carrel.evaluation.statistics import intervals
from carrel.evaluation.statistics.intervals import Estimate
from carrel.evaluation.statistics.means import mean

LEVEL = 1e-9
"""Shares closer than this are level: so small a difference comes from arithmetic, not from evidence."""


class Standing(NamedTuple):
    """Members by falling win share; members that are level are in plan order.

    `places` count from 1; members that are level share a place. `leaders` share the first place; there are none when
    the members fall into groups that never met.
    """

    shares: dict[int, float]
    order: tuple[int, ...]
    places: dict[int, int]
    leaders: tuple[int, ...]

    def is_ahead(self, member: int, other: int) -> bool:
        """Whether `member` has a greater win share than `other`; False if they are level."""
        return self.shares[member] - self.shares[other] > LEVEL


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


def leads(table: Table, a: int) -> dict[int, list[float]]:
    """For every other member, a's win share minus its, on each document that can tell.

    On a document, both are measured by the same opponents: by each other, if they met, and by every third member that
    both met. So a verdict between two others that is missing costs nothing, and one of their own takes one opponent.
    """
    found: dict[int, list[float]] = {b: [] for b in table.members if b != a}
    for pairs in table.documents:
        won: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for i, j, y in pairs:
            won[i][j] = y
            won[j][i] = 1.0 - y
        ours = won[a]
        for b, values in found.items():
            theirs = won[b]
            terms = [ours[c] - theirs[c] for c in ours.keys() & theirs.keys()]
            if b in ours:
                terms.append(ours[b] - theirs[a])
            if terms:
                values.append(mean(terms))
    return found


def head_to_head(table: Table, a: int) -> dict[int, tuple[float, int]]:
    """a's share of its direct meetings with each member that it met, and on how many documents they met."""
    met: defaultdict[int, list[float]] = defaultdict(list)
    for pairs in table.documents:
        for i, j, y in pairs:
            if i == a:
                met[j].append(y)
            elif j == a:
                met[i].append(1.0 - y)
    return {b: (mean(values), len(values)) for b, values in met.items()}


def standing(table: Table) -> Standing:
    """The order by win share; it says nothing about how certain the order is."""
    shares = {candidate: found.mean for candidate, found in estimates(table).items()}
    order = tuple(sorted(shares, key=lambda candidate: (-round(shares[candidate], 9), candidate)))
    places = {i: 1 + sum(1 for share in shares.values() if share - shares[i] > LEVEL) for i in order}
    leaders = tuple(i for i in order if places[i] == 1) if len(groups(table)) == 1 else ()
    return Standing(shares, order, places, leaders)
