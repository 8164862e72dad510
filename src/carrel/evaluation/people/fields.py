"""All comparisons of a run and the votes on some of them, and the means of one candidate or pair over them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from carrel.evaluation import records
from carrel.evaluation.people import corrections, drawing
from carrel.evaluation.people.corrections import Heard, Measured, Parts
from carrel.evaluation.records import REPEATS, HumanVote, Verdict
from carrel.evaluation.statistics.means import weighted_mean

if TYPE_CHECKING:
    from carrel.evaluation.ranking.cells import Array, Flags, Places

_OPEN = 0.5
"""Stands for what the judges say where they say nothing. Any number is right; a good one makes intervals narrow."""

Pair = tuple[int, int]
_Key = tuple[str, Pair, int]
"""A comparison: the document, the pair and the repeat."""


class Comparison(NamedTuple):
    """One comparison from the side of the pair's first candidate, and what the judges said together."""

    document: str
    pair: Pair
    judges: float
    fixed: bool


class Said(NamedTuple):
    """What the judges said of one pair, by comparison: the places of documents and units, and parts of a document."""

    document: Places
    unit: Places
    y: Array
    fixed: Flags
    part: Array


class Ballot(NamedTuple):
    """One vote on a comparison, and how many comparisons it stands for."""

    comparison: Comparison
    weight: float
    people: float


class Field(NamedTuple):
    """All comparisons and votes. `repeats` and `opponents` say how many share a document's equal weight."""

    members: tuple[int, ...]
    pairs: dict[Pair, list[Comparison]]
    ballots: dict[Pair, list[Ballot]]
    repeats: dict[tuple[str, Pair], int]
    opponents: dict[tuple[str, int], int]
    pairs_on: dict[drawing.Place, int]
    groups: Mapping[str, str]
    units: tuple[str, ...]
    said: dict[Pair, Said]
    rivals: dict[int, Array]
    """How many opponents each member has, by document."""

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
        return len({ballot.comparison.document for pair in pairs for ballot in self.ballots.get(pair, ())})


def gathered(
    candidates: Sequence[str],
    verdicts: Sequence[Verdict],
    votes: Sequence[HumanVote],
    weights: Mapping[str, float],
    groups: Mapping[str, str],
) -> Field:
    """Put verdicts of judges with a weight and votes together, as `people.say` says."""
    place = {candidate: i for i, candidate in enumerate(candidates)}
    said: defaultdict[_Key, list[tuple[float, float]]] = defaultdict(list)
    fixed = {}
    for verdict in verdicts:
        key, y = _told(place, verdict)
        words = said[key]
        if verdict.by_rule is not None and y is not None:
            fixed[key] = y
        elif y is not None:
            words.append((weights.get(verdict.judge, 1.0), y))
    voted = [_told(place, vote.verdict) for vote in votes]
    for key, _ in voted:
        said[key].extend(())
        fixed.pop(key, None)
    compared = {}
    for key, words in sorted(said.items()):
        judges = fixed[key] if key in fixed else _together(words)
        compared[key] = Comparison(key[0], key[1], judges, key in fixed)
    pairs: defaultdict[Pair, list[Comparison]] = defaultdict(list)
    repeats: defaultdict[tuple[str, Pair], int] = defaultdict(int)
    pairs_on: defaultdict[drawing.Place, int] = defaultdict(int)
    for (document, _, repeat), one in compared.items():
        pairs[one.pair].append(one)
        repeats[one.document, one.pair] += 1
        pairs_on[document, repeat // REPEATS] += not one.fixed
    opponents: defaultdict[tuple[str, int], int] = defaultdict(int)
    for document, pair in repeats:
        for member in pair:
            opponents[document, member] += 1
    ballots: defaultdict[Pair, list[Ballot]] = defaultdict(list)
    for (key, y), weight in zip(voted, drawing.weights(votes, pairs_on), strict=True):
        if y is not None:
            ballots[key[1]].append(Ballot(compared[key], weight, y))
    members = tuple(sorted({member for pair in pairs for member in pair}))
    return Field(
        members,
        dict(pairs),
        dict(ballots),
        dict(repeats),
        dict(opponents),
        dict(pairs_on),
        groups,
        *_arrays(members, pairs, repeats, opponents, groups),
    )


def _arrays(
    members: Sequence[int],
    pairs: Mapping[Pair, Sequence[Comparison]],
    repeats: Mapping[tuple[str, Pair], int],
    opponents: Mapping[tuple[str, int], int],
    groups: Mapping[str, str],
) -> tuple[tuple[str, ...], dict[Pair, Said], dict[int, Array]]:
    """The units, what was said and the rivals of a `Field`."""
    import numpy as np

    documents = {document: i for i, document in enumerate(dict.fromkeys(document for document, _ in repeats))}
    units: dict[str, int] = {}
    unit_of = [units.setdefault(groups.get(document, document), len(units)) for document in documents]
    rivals = {member: np.zeros(len(documents)) for member in members}
    for (document, member), count in opponents.items():
        rivals[member][documents[document]] = count
    said_of = {}
    for pair, compared_here in pairs.items():
        places = [documents[one.document] for one in compared_here]
        said_of[pair] = Said(
            np.array(places),
            np.array([unit_of[document] for document in places]),
            np.array([one.judges for one in compared_here]),
            np.array([one.fixed for one in compared_here]),
            np.array([1.0 / repeats[one.document, pair] for one in compared_here]),
        )
    return tuple(units), said_of, rivals


def _told(place: Mapping[str, int], verdict: Verdict) -> tuple[_Key, float | None]:
    """What was compared, and the outcome from the side of the pair's first candidate."""
    a, b, y = place[verdict.a], place[verdict.b], records.value(verdict)
    if a < b:
        return (verdict.document, (a, b), verdict.repeat), y
    return (verdict.document, (b, a), verdict.repeat), y if y is None else 1.0 - y


def _together(words: list[tuple[float, float]]) -> float:
    """What the judges say together; a single one says it alone."""
    if len(words) == 1:
        return words[0][1]
    return weighted_mean(sorted(words)) if words else _OPEN


def of_candidate(field: Field, member: int) -> Measured | None:
    """Each document weighs the same, and so does each opponent on it."""
    rivals = field.rivals[member]
    documents = int((rivals > 0).sum())
    return _measured(
        field,
        [pair for pair in field.pairs if member in pair],
        lambda said: said.part / (documents * rivals[said.document]),
        lambda one: 1.0 / (documents * field.opponents[one.document, member] * field.repeats[one.document, one.pair]),
        member,
    )


def of_pair(field: Field, pair: Pair) -> Measured | None:
    """The share of the pair's first candidate; each document weighs the same."""
    documents = len(set(field.said[pair].document.tolist()))
    return _measured(
        field,
        [pair],
        lambda said: said.part / documents,
        lambda one: 1.0 / (documents * field.repeats[one.document, pair]),
        pair[0],
    )


def _measured(
    field: Field,
    pairs: Iterable[Pair],
    parts: Callable[[Said], Array],
    part: Callable[[Comparison], float],
    member: int,
) -> Measured | None:
    sides = [(pair, pair[0] == member) for pair in pairs]
    heard = [
        Heard(
            field.unit(ballot.comparison.document),
            part(ballot.comparison) * ballot.weight,
            _turned(ballot.people, is_first),
            _turned(ballot.comparison.judges, is_first),
        )
        for pair, is_first in sides
        for ballot in field.ballots.get(pair, ())
    ]
    return corrections.measure(_added_up(field, sides, parts), heard)


def _added_up(field: Field, sides: Sequence[tuple[Pair, bool]], parts: Callable[[Said], Array]) -> dict[str, Parts]:
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
