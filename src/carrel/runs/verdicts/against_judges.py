"""What people's votes say against the judges: how often both came to the same outcome, and where they did not."""

from collections import defaultdict
from typing import Final, get_args

import msgspec

from carrel.evaluation import records
from carrel.evaluation.judges import human
from carrel.evaluation.records import Fate, HumanVote, Side, Verdict
from carrel.evaluation.statistics import rates
from carrel.evaluation.statistics.means import mean
from carrel.evaluation.statistics.rates import PassRate
from carrel.kit.sqlite.database import Connection
from carrel.runs.model import setup as setups
from carrel.runs.model.plan import Presented, comparison_key
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.verdicts import evidence, people_scores
from carrel.runs.verdicts.judgement import Evidence
from carrel.runs.verdicts.people_scores import ScoresOfPeople

MAX_DISAGREEMENTS: Final = 100
"""In one answer, in the order of the documents."""


class JudgeSaid(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge said of a pair. `winner` is null for a tie and where the judge has no opinion, as after a flip.

    `reasons` are what it wrote, first in the order of the disagreement's `a` and `b`, then in the other.
    """

    judge: str
    fate: Fate
    winner: str | None
    reasons: list[str | None]


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A vote that came to another outcome than the judges together; a winner is null for a tie."""

    document: int
    document_name: str
    a: str
    b: str
    repeat: int
    voter: str
    winner: str | None
    judges_winner: str | None
    judges: tuple[JudgeSaid, ...]


class AgainstJudges(msgspec.Struct, frozen=True, kw_only=True):
    """Votes beside the judges together, by their weights.

    Of `judged` votes on which the judges have an opinion, `same` came to their outcome. `agreement` is the mean of that
    by document, with its interval at 95 %. `both_bad` votes found neither answer good enough. `scores` are by criteria,
    from those who scored the answers besides.
    """

    votes: int
    both_bad: int
    judged: int
    same: int
    agreement: PassRate
    disagreements: tuple[Disagreement, ...]
    scores: tuple[ScoresOfPeople, ...]


def compare(conn: Connection, run_id: RunId, round_number: int | None = None) -> AgainstJudges:
    """All votes of a run against the judges of a round, of the present one if none is named. Unbounded: to be scanned.

    Raises:
        NotFound: there is no such run, or it has no such round.
    """
    setup = setups.require(conn, run_id, round_number)
    run = setup.seq
    said = evidence.collect(conn, setup)
    meetings: defaultdict[tuple[str, str, str, int], list[Verdict]] = defaultdict(list)
    for verdict in said.verdicts:
        meetings[verdict.document, verdict.a, verdict.b, verdict.repeat].append(verdict)
    outcomes: defaultdict[str, list[float]] = defaultdict(list)
    apart: list[tuple[HumanVote, Side, list[Verdict]]] = []
    known: dict[object, Side | None] = {}
    for vote in said.votes:
        one = vote.verdict
        about = meetings[one.document, one.a, one.b, one.repeat]
        words = tuple((judged.judge, judged.ab, judged.ba, judged.by_rule) for judged in about)
        if words not in known:
            known[words] = _together(said, one, about)
        theirs = known[words]
        if theirs is not None:
            outcomes[one.document].append(float(_side(one) == theirs))
            if _side(one) != theirs:
                apart.append((vote, theirs, about))
    return AgainstJudges(
        votes=len(said.votes),
        both_bad=conn.value("SELECT count(*) FROM run_votes WHERE run = ? AND both_bad AND NOT withdrawn", run),
        judged=sum(map(len, outcomes.values())),
        same=round(sum(map(sum, outcomes.values()))),
        agreement=rates.rate([mean(of_one) for of_one in outcomes.values()], _groups(said, list(outcomes))),
        disagreements=tuple(_disagreement(conn, setup, *one) for one in apart[:MAX_DISAGREEMENTS]),
        scores=people_scores.compare(conn, setup, said.scores),
    )


def _groups(said: Evidence, documents: list[str]) -> list[int]:
    """The number of each document's group: copies, and documents that belong together, are one."""
    joined = said.groups.joined
    firsts = [said.same.get(document, document) for document in documents]
    names = [joined.get(first, first) for first in firsts]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return [numbers[name] for name in names]


def _together(said: Evidence, vote: Verdict, about: list[Verdict]) -> Side | None:
    """The judges' outcome by their weights: that of the vote with which they would agree."""
    sides: tuple[Side, ...] = get_args(Side)
    for side in sides:
        asked = human.vote(vote.document, vote.a, vote.b, vote.repeat, side)
        found = human.check(said.candidates, about, [asked], said.comparison_weights)
        if found is not None and found.sided:
            return side
    return None


def _side(vote: Verdict) -> Side:
    if vote.ab == "tie":
        return "tie"
    return "a" if vote.ab == "first" else "b"


def _disagreement(conn: Connection, setup: Setup, vote: HumanVote, theirs: Side, about: list[Verdict]) -> Disagreement:
    one = vote.verdict
    document = int(one.document.removeprefix("d"))
    names: dict[Side, str | None] = {"a": one.a, "b": one.b, "tie": None}
    labels = {candidate.label: candidate.ordinal for candidate in setup.candidates}
    numbers = {judge.name: number for number, judge in enumerate(setup.round.judges, 1)}

    def reason(judge: str, presented: Presented) -> str | None:
        # By its key, for which there is an index.
        key = comparison_key(
            setup.round.number, one.document, labels[one.a], labels[one.b], one.repeat, numbers[judge], presented
        )
        text: str | None = conn.value(
            "SELECT said FROM tasks JOIN comparisons ON task = seq WHERE run = ? AND key = ?", setup.seq, key
        )
        return text

    return Disagreement(
        document=document,
        document_name=conn.value("SELECT name FROM run_documents WHERE run = ? AND ordinal = ?", setup.seq, document),
        a=one.a,
        b=one.b,
        repeat=one.repeat,
        voter=vote.voter,
        winner=names[_side(one)],
        judges_winner=names[theirs],
        judges=tuple(
            JudgeSaid(
                judge=judged.judge,
                fate=records.fate(judged),
                winner={1.0: one.a, 0.0: one.b}.get(_value(judged)),
                reasons=[reason(judged.judge, "ab"), reason(judged.judge, "ba")],
            )
            for judged in about
        ),
    )


def _value(verdict: Verdict) -> float:
    value = records.value(verdict)
    return 0.5 if value is None else value
