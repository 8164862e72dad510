"""Computes the ranking and verdict of a round from what its judges said. Pure, and fit for the worker process."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import structs
from msgspec.structs import astuple

from carrel.evaluation import verdict
from carrel.evaluation.judges import human, trust
from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.people import people
from carrel.evaluation.people.people import PeopleVerdict
from carrel.evaluation.ranking import by_checks, grouping, ranking
from carrel.evaluation.ranking.grouping import Groups
from carrel.evaluation.ranking.ranking import Measure, Ranking
from carrel.evaluation.ranking.stopping import Decision, Look
from carrel.evaluation.records import HumanVote, Mark, Score, ScoreFate, Side, Verdict, Word
from carrel.providers.base import Criterion

R = TypeVar("R", Verdict, Score, Mark)


class Evidence(msgspec.Struct, frozen=True):
    """The input of every statistic about one round. Candidates are their labels, documents `d1`, `d2`, …

    `votes` are people's, by judge `human`; rankings leave them out unless a client asks for them. `exploratory`: the
    judges have other weights than in an earlier round whose results the user could see. `look` is for a round that may
    stop early. `families` are those of the candidates, `judge_families` those of judges that are models.
    `same` names the first document with the same text and reference for each later one, and `groups` says which
    documents belong together. `checked`: the run makes checks, which need no judge. `built_in` are judges that count
    words, `failed` those whose newest check says that they judge badly.
    """

    candidates: tuple[str, ...]
    verdicts: list[Verdict]
    scores: list[Score]
    criteria: tuple[Criterion, ...]
    comparison_weights: dict[str, float]
    scoring_weights: dict[str, float]
    votes: list[HumanVote] = []
    exploratory: bool = False
    look: Look | None = None
    families: dict[str, str | None] = {}
    judge_families: dict[str, str | None] = {}
    same: dict[str, str] = {}
    groups: Groups = Groups()
    checked: bool = False
    built_in: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    marks: list[Mark] = []
    measure: Measure | None = None


class Conclusion(msgspec.Struct, frozen=True):
    """A ranking, what people's votes say beside it, and what people would say."""

    ranking: Ranking
    human: HumanCheck | None
    people: PeopleVerdict | None


_COPIES = 1_000_000
"""A number above all repeats of runs, so that repeats on a copy of a document have numbers of their own."""
_PIECE = 200


class _Verdict(NamedTuple):
    """A verdict whose names are their places in the list of names."""

    document: int
    judge: int
    a: int
    b: int
    repeat: int
    ab: Word
    ba: Word
    by_rule: Side | None
    a_length: int | None
    b_length: int | None


class _Score(NamedTuple):
    """A score, likewise."""

    document: int
    judge: int
    candidate: int
    repeat: int
    values: dict[str, float]
    fate: ScoreFate


class _Mark(NamedTuple):
    """What the checks say of an answer, likewise."""

    document: int
    candidate: int
    repeat: int
    value: float | None
    expected: int | None
    answer: int | None


_rest = msgspec.msgpack.Decoder(Evidence)
_verdict_lines = msgspec.msgpack.Decoder(list[_Verdict])
_score_lines = msgspec.msgpack.Decoder(list[_Score])
_mark_lines = msgspec.msgpack.Decoder(list[_Mark])


class PackedEvidence(NamedTuple):
    """Evidence on its way to another process. Encoding a large one in one piece would block the event loop for long.

    Verdicts, scores and marks have numbers for `names`: otherwise each record would bring names of its own, and the
    process would hold three times as much.
    """

    rest: bytes
    judges: frozenset[str]
    names: list[str]
    verdicts: list[bytes]
    scores: list[bytes]
    marks: list[bytes]


class Ending(NamedTuple):
    """The end of a round: its ranking, the verdict in words, and whether there was anything to rank."""

    ranking: Ranking
    verdict: str
    ranked: bool


def pack(evidence: Evidence) -> PackedEvidence:
    """Pack the evidence in many small pieces, so that a thread that packs lets other threads run in between."""
    bare = structs.replace(evidence, verdicts=[], scores=[], marks=[])
    return pack_each(bare, evidence.verdicts, evidence.scores, evidence.marks)


def pack_each(
    rest: Evidence, verdicts: Iterable[Verdict], scores: Iterable[Score], marks: Iterable[Mark] = ()
) -> PackedEvidence:
    """Pack records as they come, so that memory holds them only packed. `rest` is without them."""
    judges = rest.scoring_weights.keys() | rest.comparison_weights.keys()
    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
    lines = (
        _Verdict(numbers[v.document], numbers[v.judge], numbers[v.a], numbers[v.b], *astuple(v)[4:]) for v in verdicts
    )
    scored = (_Score(numbers[s.document], numbers[s.judge], numbers[s.candidate], *astuple(s)[3:]) for s in scores)
    checked = (_Mark(numbers[m.document], numbers[m.candidate], *astuple(m)[2:]) for m in marks)
    packed = _pieces(lines), _pieces(scored), _pieces(checked)
    return PackedEvidence(msgspec.msgpack.encode(rest), frozenset(judges), list(numbers), *packed)


def unpack(packed: PackedEvidence) -> Evidence:
    """Unpack the evidence."""
    return structs.replace(
        rest(packed), verdicts=list(verdicts(packed)), scores=list(scores(packed)), marks=list(marks(packed))
    )


def rest(packed: PackedEvidence) -> Evidence:
    """The evidence without its records."""
    return _rest.decode(packed.rest)


def verdicts(packed: PackedEvidence) -> Iterator[Verdict]:
    """The verdicts, unpacked as they are asked for."""
    names = packed.names
    for line in chain.from_iterable(map(_verdict_lines.decode, packed.verdicts)):
        yield Verdict(
            document=names[line.document],
            judge=names[line.judge],
            a=names[line.a],
            b=names[line.b],
            repeat=line.repeat,
            ab=line.ab,
            ba=line.ba,
            by_rule=line.by_rule,
            a_length=line.a_length,
            b_length=line.b_length,
        )


def scores(packed: PackedEvidence) -> Iterator[Score]:
    """The scores, likewise."""
    names = packed.names
    for line in chain.from_iterable(map(_score_lines.decode, packed.scores)):
        yield Score(
            document=names[line.document],
            judge=names[line.judge],
            candidate=names[line.candidate],
            repeat=line.repeat,
            values=line.values,
            fate=line.fate,
        )


def marks(packed: PackedEvidence) -> Iterator[Mark]:
    """What the checks say, likewise."""
    names = packed.names
    for line in chain.from_iterable(map(_mark_lines.decode, packed.marks)):
        yield Mark(
            document=names[line.document],
            candidate=names[line.candidate],
            repeat=line.repeat,
            value=line.value,
            expected=line.expected,
            answer=line.answer,
        )


def _pieces(rows: Iterable[object]) -> list[bytes]:
    left = iter(rows)
    return [msgspec.msgpack.encode(piece) for piece in iter(lambda: list(islice(left, _PIECE)), [])]


def answer(
    packed: PackedEvidence, kept: Ranking | None, weights: Mapping[str, float] | None, with_human: bool = False
) -> Conclusion:
    """The ranking, unless it is `kept` already, together with the votes."""
    evidence = once(unpack(packed))
    found = rank(evidence, weights, with_human=with_human) if kept is None else voted(evidence, kept)
    return Conclusion(found, check(evidence), say(evidence))


def once(evidence: Evidence) -> Evidence:
    """With each text as one document: what was said of its copies are further repeats. Again, this changes nothing."""
    if not evidence.same:
        return evidence

    def moved(record: R) -> R:
        first = evidence.same.get(record.document)
        if first is None:
            return record
        return structs.replace(record, document=first, repeat=record.repeat + int(record.document[1:]) * _COPIES)

    return structs.replace(
        evidence,
        verdicts=[moved(verdict) for verdict in evidence.verdicts],
        scores=[moved(score) for score in evidence.scores],
        marks=[moved(mark) for mark in evidence.marks],
        votes=[structs.replace(vote, verdict=moved(vote.verdict)) for vote in evidence.votes],
        same={},
        groups=grouping.moved(evidence.groups, evidence.same),
    )


def voted(evidence: Evidence, kept: Ranking) -> Ranking:
    """The ranking as it was when the round ended, if votes and checks since then let its judges be trusted."""
    if kept.basis == "checks" or not (evidence.votes or evidence.failed):
        return kept
    return _weighed(once(evidence), kept, {})


def check(evidence: Evidence) -> HumanCheck | None:
    """Compare the votes with the judges; `None` if nobody voted."""
    evidence = once(evidence)
    voters = len({vote.voter for vote in evidence.votes})
    return human.check(evidence.candidates, evidence.verdicts, _votes(evidence), evidence.comparison_weights, voters)


def say(evidence: Evidence) -> PeopleVerdict | None:
    """What people would say; `None` if nobody voted."""
    evidence = once(evidence)
    return people.say(
        evidence.candidates,
        evidence.verdicts,
        evidence.votes,
        evidence.comparison_weights,
        evidence.groups.joined,
    )


def _votes(evidence: Evidence) -> list[Verdict]:
    return [vote.verdict for vote in evidence.votes]


def rank(evidence: Evidence, weights: Mapping[str, float] | None = None, *, with_human: bool = False) -> Ranking:
    """The ranking. With other `weights` than the run's, or with a person among the judges, it is exploratory."""
    evidence = once(evidence)
    found = ranking.rank(
        evidence.candidates,
        [*evidence.verdicts, *_votes(evidence)] if with_human else evidence.verdicts,
        scored=evidence.scores,
        criteria=evidence.criteria,
        weights=evidence.comparison_weights | dict(weights or {}),
        score_weights=evidence.scoring_weights | dict(weights or {}),
        exploratory=weights is not None or with_human or evidence.exploratory,
        look=evidence.look,
        grouped=evidence.groups,
    )
    found = _weighed(evidence, found, weights or {}, with_human=with_human)
    if evidence.measure is None:
        return found
    return trust.of_checks(
        by_checks.rank(evidence.candidates, evidence.marks, evidence.measure, found, evidence.groups)
    )


def _weighed(evidence: Evidence, found: Ranking, weights: Mapping[str, float], *, with_human: bool = False) -> Ranking:
    verdicts = [*evidence.verdicts, *_votes(evidence)] if with_human else evidence.verdicts
    own, scoring = evidence.comparison_weights | dict(weights), evidence.scoring_weights | dict(weights)
    scored = [one for one in evidence.scores if scoring.get(one.judge, 1.0) > 0]
    heard = [one for one in verdicts if own.get(one.judge, 1.0) > 0]
    by_scores = found.basis == "scores"

    def again(without: Mapping[str, float]) -> Decision:
        if not by_scores:
            return ranking.decide(evidence.candidates, verdicts, own | dict(without), evidence.look, evidence.groups)
        left = ranking.rank(
            evidence.candidates,
            [],
            scored=evidence.scores,
            criteria=evidence.criteria,
            score_weights=scoring | dict(without),
            grouped=evidence.groups,
        )
        return Decision(left.best, decides=True)

    trusted = trust.weighed(
        found,
        trust.preferred(scored, evidence.criteria, found.leaders, _votes(evidence)) if by_scores else heard,
        _votes(evidence),
        evidence.families,
        evidence.judge_families,
        again,
        evidence.groups.joined,
    )
    if not (evidence.comparison_weights or evidence.scoring_weights or with_human or evidence.verdicts):
        return structs.replace(found, basis="checks" if evidence.checked else "answers")
    if trusted is found:
        # One that was weighed before, and in which nobody leads, has no other reasons.
        trusted = structs.replace(found, distrust=())
    return trust.checked(trust.malformed(trusted, heard, scored), evidence.built_in, evidence.failed)


def decide(packed: PackedEvidence) -> Decision:
    """What the present look of a round finds that may stop early.

    Judges whom nobody should believe beat nobody. A person's votes do not count, because they may come at any time and
    the choice must not depend on when.
    """
    evidence = structs.replace(once(unpack(packed)), votes=[])
    if evidence.look is None:
        return Decision()
    found = ranking.decide(
        evidence.candidates, evidence.verdicts, evidence.comparison_weights, evidence.look, evidence.groups
    )
    if found.beaten and any(one.decisive for one in rank(evidence).distrust):
        return Decision(found.leader)
    return found


def conclude(packed: PackedEvidence) -> Ending:
    """The ranking of a round that is over, in figures and in words."""
    evidence = unpack(packed)
    found = rank(evidence)
    ranked = bool(found.groups) or any(row.score is not None for row in found.rows)
    return Ending(found, verdict.state(found).text, ranked)
