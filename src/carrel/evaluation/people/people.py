"""What people would say about the candidates, beside what the judges say: shares, intervals and words.

The judges' verdict and this one never mix: no vote moves the ranking, and where judges and people differ, this one goes
by the people.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from carrel.evaluation import records
from carrel.evaluation.judges import agreement
from carrel.evaluation.judges.agreement import Alpha
from carrel.evaluation.people import corrections, drawing, stand_in
from carrel.evaluation.people.corrections import LEAST_DOCUMENTS, Corrected, Heard, Judged, Measured
from carrel.evaluation.people.stand_in import StandIn
from carrel.evaluation.records import REPEATS, HumanVote, Verdict
from carrel.evaluation.statistics.intervals import rounded
from carrel.evaluation.statistics.means import weighted_mean
from carrel.evaluation.words import counted, listed, percent

_LEVEL = 1e-9
_OPEN = 0.5
"""Stands for what the judges say where they say nothing. Any number is right; a good one makes intervals narrow."""

_Pair = tuple[int, int]
_Key = tuple[str, _Pair, int]
"""A comparison: the document, the pair and the repeat."""


class PeopleShare(msgspec.Struct, frozen=True, kw_only=True):
    """The share of comparisons that people would give to a candidate, with a 95 % interval.

    `alone` is the same from the votes alone, and `judges` what the judges say on all documents. `reliance` is the part
    of the judges' word that the estimate uses: 0 leaves them out. There is no share with votes on fewer than ten of its
    `documents`, or of their groups.
    """

    candidate: str
    share: float | None = None
    low: float | None = None
    high: float | None = None
    alone: float | None = None
    alone_low: float | None = None
    alone_high: float | None = None
    judges: float | None = None
    reliance: float | None = None
    documents: int = 0
    is_best: bool = False


class PeoplePair(msgspec.Struct, frozen=True, kw_only=True):
    """The share of `first` against `second` that people would give, as in `PeopleShare`."""

    first: str
    second: str
    share: float | None = None
    low: float | None = None
    high: float | None = None
    judges: float | None = None
    documents: int = 0


class PeopleVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What people would say about `documents`, in words and figures, best first. They voted on `voted` of these.

    `best` beats every other candidate at 95 %. `agreement` is that of several voters with each other; `stand_ins` says,
    from three voters on, which judge may stand in for one of them.
    """

    sentence: str
    notes: tuple[str, ...]
    best: str | None
    leaders: tuple[str, ...]
    voted: int
    documents: int
    votes: int
    voters: int
    rows: tuple[PeopleShare, ...]
    pairs: tuple[PeoplePair, ...]
    agreement: Alpha | None
    stand_ins: tuple[StandIn, ...]


def say(
    candidates: Sequence[str],
    verdicts: Sequence[Verdict],
    votes: Sequence[HumanVote],
    weights: Mapping[str, float],
    groups: Mapping[str, str] | None = None,
) -> PeopleVerdict | None:
    """What people would say, from all verdicts and the votes in the order of their draw; `None` if nobody voted.

    The judges count together, by their weights. `groups` are those of documents that belong together.
    """
    if not votes:
        return None
    heard = [verdict for verdict in verdicts if weights.get(verdict.judge, 1.0) > 0]
    field = _field(candidates, heard, votes, weights)._replace(groups=groups or {})
    shares = {member: measured for member in field.members if (measured := _of_candidate(field, member)) is not None}
    found = {member: corrections.correct(measured, 0.0, 1.0) for member, measured in shares.items()}
    estimates = {member: estimate for member, estimate in found.items() if estimate is not None}
    leaders = _leaders(estimates, field.members)
    rivals = _not_beaten(leaders[0], shares, field.members) if len(leaders) == 1 else ()
    best = leaders[0] if len(leaders) == 1 and not rivals and len(field.members) > 1 else None
    voters = sorted({vote.voter for vote in votes})
    order = sorted(field.members, key=lambda i: (-round(estimates[i].mean, 9) if i in estimates else 1.0, i))
    seen = {i: field.voted(pair for pair in field.pairs if i in pair) for i in field.members}
    rows = tuple(_row(candidates[i], shares.get(i), estimates.get(i), seen[i], is_best=i == best) for i in order)
    voted = len({vote.verdict.document for vote in votes})
    return PeopleVerdict(
        sentence=_sentence(
            voted,
            rows,
            [candidates[i] for i in leaders],
            [candidates[i] for i in rivals],
            f"{LEAST_DOCUMENTS} groups of documents" if field.come_in_groups else f"{LEAST_DOCUMENTS}",
        ),
        notes=_notes(candidates, shares, leaders),
        best=None if best is None else candidates[best],
        leaders=tuple(candidates[i] for i in leaders),
        voted=voted,
        documents=len({document for document, _ in field.pairs_on}),
        votes=len(votes),
        voters=len(voters),
        rows=rows,
        pairs=tuple(_pair(field, candidates, pair) for pair in sorted(field.pairs)),
        agreement=_among(votes) if len(voters) > 1 else None,
        stand_ins=stand_in.test(heard, votes),
    )


class _Comparison(NamedTuple):
    """One comparison from the side of the pair's first candidate, and what the judges said together."""

    document: str
    pair: _Pair
    judges: float
    fixed: bool


class _Ballot(NamedTuple):
    comparison: _Comparison
    weight: float
    people: float


class _Field(NamedTuple):
    """All comparisons and votes. `repeats` and `opponents` say how many share a document's equal weight."""

    members: tuple[int, ...]
    pairs: dict[_Pair, list[_Comparison]]
    ballots: dict[_Pair, list[_Ballot]]
    repeats: dict[tuple[str, _Pair], int]
    opponents: dict[tuple[str, int], int]
    pairs_on: dict[drawing.Place, int]
    groups: Mapping[str, str] = {}

    def unit(self, document: str) -> str:
        """The document's group, which is drawn as a whole; the document itself where it stands alone."""
        return self.groups.get(document, document)

    @property
    def come_in_groups(self) -> bool:
        """Whether any of the documents belong together."""
        documents = {document for document, _ in self.pairs_on}
        return len({self.unit(document) for document in documents}) < len(documents)

    def voted(self, pairs: Iterable[_Pair]) -> int:
        """On how many documents people voted on one of the pairs."""
        return len({ballot.comparison.document for pair in pairs for ballot in self.ballots.get(pair, ())})


def _field(
    candidates: Sequence[str], verdicts: Sequence[Verdict], votes: Sequence[HumanVote], weights: Mapping[str, float]
) -> _Field:
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
        compared[key] = _Comparison(key[0], key[1], judges, key in fixed)
    pairs: defaultdict[_Pair, list[_Comparison]] = defaultdict(list)
    repeats: defaultdict[tuple[str, _Pair], int] = defaultdict(int)
    pairs_on: defaultdict[drawing.Place, int] = defaultdict(int)
    for (document, _, repeat), one in compared.items():
        pairs[one.pair].append(one)
        repeats[one.document, one.pair] += 1
        pairs_on[document, repeat // REPEATS] += not one.fixed
    opponents: defaultdict[tuple[str, int], int] = defaultdict(int)
    for document, pair in repeats:
        for member in pair:
            opponents[document, member] += 1
    ballots: defaultdict[_Pair, list[_Ballot]] = defaultdict(list)
    for (key, y), weight in zip(voted, drawing.weights(votes, pairs_on), strict=True):
        if y is not None:
            ballots[key[1]].append(_Ballot(compared[key], weight, y))
    members = tuple(sorted({member for pair in pairs for member in pair}))
    return _Field(members, dict(pairs), dict(ballots), dict(repeats), dict(opponents), dict(pairs_on))


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


def _of_candidate(field: _Field, member: int) -> Measured | None:
    """Each document weighs the same, and so does each opponent on it."""
    documents = sum(1 for _, other in field.opponents if other == member)
    return _measured(
        field,
        [pair for pair in field.pairs if member in pair],
        lambda one: 1.0 / (documents * field.opponents[one.document, member] * field.repeats[one.document, one.pair]),
        member,
    )


def _of_pair(field: _Field, pair: _Pair) -> Measured | None:
    documents = len({one.document for one in field.pairs[pair]})
    return _measured(field, [pair], lambda one: 1.0 / (documents * field.repeats[one.document, pair]), pair[0])


def _measured(
    field: _Field, pairs: Iterable[_Pair], part: Callable[[_Comparison], float], member: int
) -> Measured | None:
    sides = [(pair, pair[0] == member) for pair in pairs]
    units = field.groups
    judged = [
        Judged(
            units.get(one.document, one.document),
            part(one),
            one.judges if is_first else 1.0 - one.judges,
            one.fixed,
        )
        for pair, is_first in sides
        for one in field.pairs[pair]
    ]
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
    return corrections.measure(judged, heard)


def _turned(y: float, is_first: bool) -> float:
    return y if is_first else 1.0 - y


def _leaders(estimates: Mapping[int, Corrected], members: Sequence[int]) -> tuple[int, ...]:
    """Nobody leads while a candidate has votes on too few documents."""
    if not members or len(estimates) < len(members):
        return ()
    greatest = max(estimate.mean for estimate in estimates.values())
    return tuple(member for member in members if greatest - estimates[member].mean < _LEVEL)


def _not_beaten(leader: int, shares: Mapping[int, Measured], members: Sequence[int]) -> tuple[int, ...]:
    """The rivals that could be as good as the leader.

    To beat one, the interval of the lead must exclude 0. The votes alone must show a lead, too: no judge makes a
    candidate best that people do not prefer.
    """
    open_rivals = []
    for rival in members:
        if rival != leader:
            lead = corrections.correct(shares[leader].minus(shares[rival]), -1.0, 1.0)
            if lead is None or lead.low <= 0 or lead.alone <= 0:
                open_rivals.append(rival)
    return tuple(open_rivals)


def _row(
    candidate: str, measured: Measured | None, found: Corrected | None, documents: int, *, is_best: bool
) -> PeopleShare:
    judges = None if measured is None else rounded(measured.everywhere)
    if found is None:
        return PeopleShare(candidate=candidate, judges=judges, documents=documents)
    return PeopleShare(
        candidate=candidate,
        share=rounded(found.mean),
        low=rounded(found.low),
        high=rounded(found.high),
        alone=rounded(found.alone),
        alone_low=rounded(found.alone_low),
        alone_high=rounded(found.alone_high),
        judges=judges,
        reliance=rounded(found.reliance),
        documents=documents,
        is_best=is_best,
    )


def _pair(field: _Field, candidates: Sequence[str], pair: _Pair) -> PeoplePair:
    measured = _of_pair(field, pair)
    found = None if measured is None else corrections.correct(measured, 0.0, 1.0)
    return PeoplePair(
        first=candidates[pair[0]],
        second=candidates[pair[1]],
        share=None if found is None else rounded(found.mean),
        low=None if found is None else rounded(found.low),
        high=None if found is None else rounded(found.high),
        judges=None if measured is None else rounded(measured.everywhere),
        documents=field.voted([pair]),
    )


def _among(votes: Sequence[HumanVote]) -> Alpha:
    """How far the voters agree with each other, each as if a judge."""
    return agreement.agreement([stand_in.by_voter(vote) for vote in votes], [], []).verdicts


def _sentence(
    voted: int, rows: Sequence[PeopleShare], leaders: Sequence[str], rivals: Sequence[str], needed: str
) -> str:
    if not leaders:
        return (
            f"People voted on {counted(voted, 'document')}: too few to say what people would say."
            f" Every candidate needs votes on {needed}."
        )
    basis = f"By votes on {counted(voted, 'document')},"
    if any(row.reliance for row in rows):
        basis = f"{basis} corrected by the judges on all,"
    if len(leaders) > 1:
        return f"{basis} people would call {listed(leaders)} level."
    if rivals:
        return f"{basis} people would put {leaders[0]} first, but {listed(rivals)} cannot be ruled out."
    row = rows[0]
    if row.share is None or row.low is None or row.high is None or len(rows) == 1:
        return f"{basis} people would put {leaders[0]} first."
    return (
        f"{basis} people would call {leaders[0]} best: they would prefer it in {percent(row.share)} of its comparisons"
        f" (95 % interval {percent(row.low)} to {percent(row.high)})."
    )


def _notes(candidates: Sequence[str], shares: Mapping[int, Measured], leaders: Sequence[int]) -> tuple[str, ...]:
    """A note where the judges put somebody else first than people would."""
    if not leaders:
        return ()
    greatest = max(measured.everywhere for measured in shares.values())
    first = [member for member in shares if greatest - shares[member].everywhere < _LEVEL]
    if set(first) & set(leaders):
        return ()
    return (f"The judges alone put {listed([candidates[i] for i in first])} first.",)
