"""The rule of win shares: the part of its comparisons that a candidate won on each document, and over all documents.

To change how Carrel computes win shares, or when two of them are level, change this module and no other.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from carrel.evaluation.ranking.table import PairTable, PairTally, groups
from carrel.evaluation.statistics import intervals
from carrel.evaluation.statistics.clusters import Sample
from carrel.evaluation.statistics.intervals import Estimate
from carrel.evaluation.statistics.means import mean

LEVEL = 1e-9
"""Shares closer than this are level: so small a difference comes from arithmetic, not from evidence."""


class ShareOrder(NamedTuple):
    """Members by falling win share, as `estimates` has them; members that are level are in plan order.

    `places` count from 1; members that are level share a place. `leaders` share the first place; there are none when
    the members fall into groups that never met.
    """

    estimates: dict[int, Estimate]
    shares: dict[int, float]
    order: tuple[int, ...]
    places: dict[int, int]
    leaders: tuple[int, ...]


def on_document(pairs: Sequence[PairTally]) -> dict[int, float]:
    """s_da: each candidate's mean over the opponents that it met on this document."""
    won: defaultdict[int, list[float]] = defaultdict(list)
    for a, b, y in pairs:
        won[a].append(y)
        won[b].append(1.0 - y)
    return {candidate: mean(values) for candidate, values in won.items()}


def estimates(table: PairTable, *, by_opponent: bool = False) -> dict[int, Estimate]:
    """Each member's win share over the documents on which it met anyone.

    With `by_opponent`, every opponent weighs the same, however many documents the two met on. So the share means the
    same for those that met everybody to the end and for those that were beaten before.
    """
    values = _by_opponent(table) if by_opponent else _by_document(table)
    samples = {candidate: table.sample(values[candidate]) for candidate in table.members}
    return {candidate: intervals.share(*sample) for candidate, sample in samples.items()}


def _by_document(table: PairTable) -> Mapping[int, Mapping[int, float]]:
    values: defaultdict[int, dict[int, float]] = defaultdict(dict)
    for document, pairs in enumerate(table.documents):
        for candidate, won in on_document(pairs).items():
            values[candidate][document] = won
    return values


def _by_opponent(table: PairTable) -> Mapping[int, Mapping[int, float]]:
    """Values by document whose mean is the mean over opponents, and whose deviation is that of this mean."""
    met: defaultdict[int, defaultdict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for document, pairs in enumerate(table.documents):
        for a, b, y in pairs:
            met[a][b][document] = y
            met[b][a][document] = 1.0 - y
    found: dict[int, dict[int, float]] = {}
    for candidate, opponents in met.items():
        usual = {opponent: mean(list(values.values())) for opponent, values in opponents.items()}
        share = mean(list(usual.values()))
        documents = sorted({document for values in opponents.values() for document in values})
        found[candidate] = {
            document: share
            + math.fsum(
                (values[document] - usual[opponent]) * len(documents) / len(values)
                for opponent, values in opponents.items()
                if document in values
            )
            / len(opponents)
            for document in documents
        }
    return found


def leads(table: PairTable, a: int) -> dict[int, Sample]:
    """For every other member, a's win share minus its, on each document that can tell.

    On a document, both are measured by the same opponents: by each other, if they met, and by every third member that
    both met. So a verdict between two others that is missing costs nothing, and one of their own takes one opponent. A
    document weighs as much as the square root of the number of opponents, because more of them say it more surely; the
    weights are in the differences, and their mean is 1.
    """
    found: dict[int, dict[int, tuple[float, int]]] = {b: {} for b in table.members if b != a}
    for document, pairs in enumerate(table.documents):
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
                values[document] = mean(terms), len(terms)
    return {b: table.sample(_weighted(values)) for b, values in found.items()}


def _weighted(values: Mapping[int, tuple[float, int]]) -> dict[int, float]:
    if len({opponents for _, opponents in values.values()}) < 2:
        return {document: value for document, (value, _) in values.items()}
    usual = mean([math.sqrt(opponents) for _, opponents in values.values()])
    return {document: value * math.sqrt(opponents) / usual for document, (value, opponents) in values.items()}


def head_to_head(table: PairTable, a: int) -> dict[int, tuple[float, int]]:
    """a's share of its direct meetings with each member that it met, and on how many documents they met."""
    met: defaultdict[int, list[float]] = defaultdict(list)
    for pairs in table.documents:
        for i, j, y in pairs:
            if i == a:
                met[j].append(y)
            elif j == a:
                met[i].append(1.0 - y)
    return {b: (mean(values), len(values)) for b, values in met.items()}


def standing(table: PairTable, beaten: Mapping[int, int] | None = None) -> ShareOrder:
    """The order by win share; it says nothing about how certain the order is.

    Those that were `beaten` at a look, after so many documents, come after all others, the last to be beaten first.
    """
    out = beaten or {}
    found = estimates(table, by_opponent=bool(out))
    shares = {candidate: one.mean for candidate, one in found.items()}

    def behind(candidate: int) -> tuple[bool, int]:
        return candidate in out, -out.get(candidate, 0)

    order = tuple(sorted(shares, key=lambda candidate: (behind(candidate), -round(shares[candidate], 9), candidate)))
    places = {
        i: 1
        + sum(1 for j in shares if behind(j) < behind(i) or (behind(j) == behind(i) and shares[j] - shares[i] > LEVEL))
        for i in order
    }
    leaders = tuple(i for i in order if places[i] == 1) if len(groups(table)) == 1 else ()
    return ShareOrder(found, shares, order, places, leaders)
