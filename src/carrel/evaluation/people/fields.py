"""All comparisons of a run and the votes on some of them, and the means of one candidate or pair over them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from carrel.evaluation import records
from carrel.evaluation.people import corrections, drawing
from carrel.evaluation.people.corrections import MeanEstimates, Parts, WeightedVote
from carrel.evaluation.records import REPEATS, HumanVote, Verdict
from carrel.evaluation.statistics.means import weighted_mean

if TYPE_CHECKING:
    from carrel.evaluation.ranking.cells import Array, Flags, Places

_OPEN = 0.5
"""Stands for what the judges say where they say nothing. Any number is right; a good one makes intervals narrow."""

Pair = tuple[int, int]


class PairVerdicts(NamedTuple):
    """What the judges said of one pair, by comparison: the places of documents and units, and parts of a document."""

    document: Places
    unit: Places
    y: Array
    fixed: Flags
    part: Array


class VoteSample(NamedTuple):
    """One vote, how many comparisons it stands for, and what the judges said, from the side of the pair's first one.

    `place` is the document's, and `repeats` are how many comparisons of the pair share its weight.
    """

    document: str
    place: int
    repeats: int
    judges: float
    weight: float
    people: float


class Field(NamedTuple):
    """All comparisons, in `said`, and votes. `units` are the groups of documents, or the documents themselves.

    `pairs_on` is how many pairs can be drawn at a place, and `rivals` how many opponents a member has, by document.
    """

    members: tuple[int, ...]
    said: dict[Pair, PairVerdicts]
    ballots: dict[Pair, list[VoteSample]]
    pairs_on: dict[drawing.Place, int]
    groups: Mapping[str, str]
    units: tuple[str, ...]
    rivals: dict[int, Array]

    def unit(self, document: str) -> str:
        """The document's group, which is drawn as a whole; the document itself where it stands alone."""
        return self.groups.get(document, document)

    @property
    def come_in_groups(self) -> bool:
        """Whether any of the documents belong together."""
        documents = {document for document, _ in self.pairs_on}
        return len({self.unit(document) for document in documents}) < len(documents)

    def voted(self, pairs: Iterable[Pair]) -> int:
        """On how many documents people voted on one of the pairs."""
        return len({ballot.document for pair in pairs for ballot in self.ballots.get(pair, ())})


def gathered(
    candidates: Sequence[str],
    verdicts: Sequence[Verdict],
    votes: Sequence[HumanVote],
    weights: Mapping[str, float],
    groups: Mapping[str, str],
) -> Field:
    """Put verdicts of judges with a weight and votes together, as `people.say` says."""
    import numpy as np

    place = {candidate: i for i, candidate in enumerate(candidates)}
    heard = [*verdicts, *(vote.verdict for vote in votes)]
    names = sorted({one.document for one in heard})
    at = {name: i for i, name in enumerate(names)}
    a = np.array([place[one.a] for one in heard])
    b = np.array([place[one.b] for one in heard])
    y = np.array([records.value(one) for one in heard], dtype=float)
    y = np.where(a < b, y, 1.0 - y)
    columns = np.array([at[one.document] for one in heard]), np.minimum(a, b), np.maximum(a, b)
    document, first, second, repeat, of = _distinct(*columns, np.array([one.repeat for one in heard]))
    by_vote = np.arange(len(heard)) >= len(verdicts)
    by_rule = np.array([one.by_rule is not None for one in heard])
    is_said = ~np.isnan(y) & ~by_vote
    words = np.flatnonzero(is_said & ~by_rule)
    judges = _together(of[words], y[words], [weights.get(heard[i].judge, 1.0) for i in words], len(document))
    fixed = np.zeros(len(document), dtype=bool)
    ruled = np.flatnonzero(is_said & by_rule)
    fixed[of[ruled]] = True
    # What a rule decided is open again once somebody voted on it.
    fixed[of[by_vote]] = False
    judges[of[ruled]] = np.where(fixed[of[ruled]], y[ruled], judges[of[ruled]])
    return _field(
        _Comparisons(names, document, first, second, repeat, judges, fixed),
        [(int(of[len(verdicts) + i]), float(y[len(verdicts) + i])) for i in range(len(votes))],
        votes,
        groups,
    )


class _Comparisons(NamedTuple):
    """The comparisons as columns, in the order of documents, pairs and repeats; `names` are the documents'."""

    names: Sequence[str]
    document: Places
    first: Places
    second: Places
    repeat: Places
    judges: Array
    fixed: Flags


def _distinct(*columns: Places) -> tuple[Places, ...]:
    """The different rows in order, column by column, and last which of them each given row is."""
    import numpy as np

    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = np.any([column[1:] != column[:-1] for column in ordered], axis=0)
    of = np.empty(len(order), dtype=np.int64)
    of[order] = np.cumsum(begins) - 1
    return *(column[begins] for column in ordered), of


def _together(of: Places, y: Array, weights: Sequence[float], comparisons: int) -> Array:
    """What the judges say together of each comparison; a single one says it alone."""
    import numpy as np

    found = np.full(comparisons, _OPEN)
    found[of] = y
    times = np.bincount(of, minlength=comparisons)
    several: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for i in np.flatnonzero(times[of] > 1).tolist():
        several[int(of[i])].append((weights[i], float(y[i])))
    for comparison, words in several.items():
        found[comparison] = weighted_mean(sorted(words))
    return found


def _field(
    compared: _Comparisons, voted: Sequence[tuple[int, float]], votes: Sequence[HumanVote], groups: Mapping[str, str]
) -> Field:
    """`voted` are the comparison of each of `votes`, and its outcome."""
    import numpy as np

    names = compared.names
    first, second, document, meeting = _distinct(compared.first, compared.second, compared.document)
    repeats = np.bincount(meeting)[meeting]
    rivals = np.zeros((int(second.max()) + 1, len(names)))
    for member in (first, second):
        np.add.at(rivals, (member, document), 1.0)
    members = tuple(sorted({*first.tolist(), *second.tolist()}))
    units: dict[str, int] = {}
    unit_of = np.array([units.setdefault(groups.get(name, name), len(units)) for name in names])
    said = {}
    *_, pair_of = _distinct(compared.first, compared.second)
    by_pair = np.split(np.argsort(pair_of, kind="stable"), np.cumsum(np.bincount(pair_of))[:-1])
    for here in sorted(by_pair, key=lambda rows: int(rows[0])):
        documents = compared.document[here]
        said[int(compared.first[here[0]]), int(compared.second[here[0]])] = PairVerdicts(
            documents, unit_of[documents], compared.judges[here], compared.fixed[here], 1.0 / repeats[here]
        )
    *wheres, place = _distinct(compared.document, compared.repeat // REPEATS)
    opened = np.bincount(place, ~compared.fixed).astype(int)
    columns = (column.tolist() for column in (*wheres, opened))
    pairs_on = {(names[i], where): count for i, where, count in zip(*columns, strict=True)}
    ballots: defaultdict[Pair, list[VoteSample]] = defaultdict(list)
    for (i, y), weight in zip(voted, drawing.weights(votes, pairs_on), strict=True):
        if y == y:
            where = int(compared.document[i])
            pair = int(compared.first[i]), int(compared.second[i])
            ballot = VoteSample(names[where], where, int(repeats[i]), float(compared.judges[i]), weight, y)
            ballots[pair].append(ballot)
    return Field(members, said, dict(ballots), pairs_on, groups, tuple(units), dict(enumerate(rivals)))


def of_candidate(field: Field, member: int) -> MeanEstimates | None:
    """Each document weighs the same, and so does each opponent on it."""
    rivals = field.rivals[member]
    documents = int((rivals > 0).sum())
    opponents = rivals.tolist()
    return _measured(
        field,
        [pair for pair in field.said if member in pair],
        lambda said: said.part / (documents * rivals[said.document]),
        lambda one: 1.0 / (documents * opponents[one.place] * one.repeats),
        member,
    )


def of_pair(field: Field, pair: Pair) -> MeanEstimates | None:
    """The share of the pair's first candidate; each document weighs the same."""
    documents = len(set(field.said[pair].document.tolist()))
    return _measured(
        field,
        [pair],
        lambda said: said.part / documents,
        lambda one: 1.0 / (documents * one.repeats),
        pair[0],
    )


def _measured(
    field: Field,
    pairs: Iterable[Pair],
    parts: Callable[[PairVerdicts], Array],
    part: Callable[[VoteSample], float],
    member: int,
) -> MeanEstimates | None:
    sides = [(pair, pair[0] == member) for pair in pairs]
    heard = [
        WeightedVote(
            field.unit(ballot.document),
            part(ballot) * ballot.weight,
            _turned(ballot.people, is_first),
            _turned(ballot.judges, is_first),
        )
        for pair, is_first in sides
        for ballot in field.ballots.get(pair, ())
    ]
    return corrections.measure(_added_up(field, sides, parts), heard)


def _added_up(
    field: Field, sides: Sequence[tuple[Pair, bool]], parts: Callable[[PairVerdicts], Array]
) -> dict[str, Parts]:
    """As `corrections.parts`, of all comparisons of these pairs at once."""
    import numpy as np

    said = [(field.said[pair], is_first) for pair, is_first in sides]
    unit = np.concatenate([one.unit for one, _ in said])
    y = np.concatenate([one.y if is_first else 1.0 - one.y for one, is_first in said])
    is_fixed = np.concatenate([one.fixed for one, _ in said])
    part = np.concatenate([parts(one) for one, _ in said])

    def added(values: Array) -> list[float]:
        found: list[float] = np.bincount(unit, values, len(field.units)).tolist()
        return found

    columns = [added(np.where(chosen, values, 0.0)) for chosen in (~is_fixed, is_fixed) for values in (part, part * y)]
    found = zip(field.units, map(Parts, *columns), strict=True)
    return {name: one for name, one in found if one.open_part or one.ruled_part}


def _turned(y: float, is_first: bool) -> float:
    return y if is_first else 1.0 - y
