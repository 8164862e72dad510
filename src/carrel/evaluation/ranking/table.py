"""The table of a tournament: one number between 0 and 1, y_dab, for every document and pair of candidates."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from carrel.evaluation import records
from carrel.evaluation.records import Verdict
from carrel.evaluation.statistics.clusters import Sample
from carrel.evaluation.statistics.means import mean, weighted_mean


class PairTally(NamedTuple):
    """Candidates as positions in the plan, a < b, and the share of a's win over b on one document."""

    a: int
    b: int
    y: float


class PairTable(NamedTuple):
    """Every document with a decided pair, and its pairs; both in a fixed order.

    `members` are the candidates that met at least one other, in plan order. `groups` are the numbers of the documents'
    groups, empty where every document stands alone.
    """

    candidates: tuple[str, ...]
    members: tuple[int, ...]
    documents: tuple[tuple[PairTally, ...], ...]
    groups: tuple[int, ...] = ()

    def sample(self, values: Mapping[int, float]) -> Sample:
        """Values by the document's position, with the documents' groups."""
        return Sample(list(values.values()), [self.groups[document] for document in values] if self.groups else [])


def tabulate(candidates: Sequence[str], verdicts: Iterable[Verdict], weights: Mapping[str, float]) -> PairTable:
    """Average over repeats, then over the judges present, by their weights; a judge without a weight has 1.

    `math.fsum` rounds sums exactly, so the order of the verdicts cannot change the result.

    Raises:
        ValueError: a verdict names a candidate that is not in the plan, or one candidate twice; a weight is not a
            finite number ≥ 0.
    """
    check_weights(weights)
    place = {candidate: i for i, candidate in enumerate(candidates)}
    heard: defaultdict[tuple[str, int, int], defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for verdict in verdicts:
        a, b = place.get(verdict.a), place.get(verdict.b)
        if a is None or b is None or a == b:
            raise ValueError("a verdict must name two different candidates of the plan")
        y = records.value(verdict)
        if y is None or weights.get(verdict.judge, 1.0) == 0:
            continue
        if a > b:
            a, b, y = b, a, 1.0 - y
        heard[verdict.document, a, b][verdict.judge].append(y)
    rows: defaultdict[str, list[PairTally]] = defaultdict(list)
    for (document, a, b), by_judge in sorted(heard.items()):
        y = weighted_mean([(weights.get(j, 1.0), mean(values)) for j, values in sorted(by_judge.items())])
        rows[document].append(PairTally(a, b, y))
    documents = tuple(tuple(pairs) for _, pairs in sorted(rows.items()))
    members = sorted({i for pairs in documents for pair in pairs for i in pair[:2]})
    return PairTable(tuple(candidates), tuple(members), documents)


def groups(table: PairTable) -> tuple[tuple[int, ...], ...]:
    """The members in groups that never met; with one group, all members can be ranked together."""
    return parted((a, b) for pairs in table.documents for a, b, _ in pairs)


def parted(together: Iterable[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """All named members in groups that are connected, directly or through others; in a fixed order."""
    group: dict[int, set[int]] = {}
    # Each meeting once: a run has the same few in every document.
    for members in dict.fromkeys(map(tuple, together)):
        joined = {i for member in members for i in group.get(member, {member})}
        group |= dict.fromkeys(joined, joined)
    return tuple(sorted({tuple(sorted(members)) for members in group.values()}))


def check_weights(weights: Mapping[str, float]) -> None:
    """Refuse weights that allow no average.

    Raises:
        ValueError: a weight is not a finite number ≥ 0.
    """
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights.values()):
        raise ValueError("a weight must be a finite number, 0 or more")
