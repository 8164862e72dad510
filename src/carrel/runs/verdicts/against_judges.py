"""What people's votes say against the judges: how often both came to the same outcome, and where they did not."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final, get_args

import msgspec

from carrel.evaluation import records
from carrel.evaluation.judges import human
from carrel.evaluation.people import halves
from carrel.evaluation.people.halves import Changed, SinceRound
from carrel.evaluation.ranking import grouping
from carrel.evaluation.records import Fate, HumanVote, Side, Verdict
from carrel.evaluation.statistics import clusters, rates
from carrel.evaluation.statistics.means import mean
from carrel.evaluation.statistics.rates import PassRate
from carrel.kit.sqlite.database import Connection
from carrel.providers.base import Parameters
from carrel.runs.model import run_transitions, states
from carrel.runs.model import setup as setups
from carrel.runs.model.plan import Presented, comparison_key
from carrel.runs.model.setup import Round, RunId, Setup
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
    from those who scored the answers besides. `since` is null for a round that is still judged or compared nothing, and
    without an earlier round that compared.
    """

    votes: int
    both_bad: int
    judged: int
    same: int
    agreement: PassRate
    disagreements: tuple[Disagreement, ...]
    scores: tuple[ScoresOfPeople, ...]
    since: SinceRound | None


class _Judges:
    """The judges of a round together, by their weights."""

    def __init__(self, conn: Connection, setup: Setup) -> None:
        self._candidates = [candidate.label for candidate in setup.candidates]
        self._weights = {j.name: j.comparison_weight for j in setup.round.judges if j.comparison_weight is not None}
        self._meetings: defaultdict[tuple[str, str, str, int], list[Verdict]] = defaultdict(list)
        for verdict in evidence.compared(conn, setup):
            self._meetings[verdict.document, verdict.a, verdict.b, verdict.repeat].append(verdict)
        self._known: dict[object, Side | None] = {}

    def on(self, pair: Verdict) -> list[Verdict]:
        return self._meetings.get((pair.document, pair.a, pair.b, pair.repeat), [])

    def side(self, pair: Verdict) -> Side | None:
        """Their outcome: that of the vote with which they would agree."""
        about = self.on(pair)
        words = tuple((judged.judge, judged.ab, judged.ba, judged.by_rule) for judged in about)
        if words not in self._known:
            sides: tuple[Side, ...] = get_args(Side)
            asked = ((side, human.vote(pair.document, pair.a, pair.b, pair.repeat, side)) for side in sides)
            self._known[words] = next((side for side, vote in asked if self._agree(about, vote)), None)
        return self._known[words]

    def _agree(self, about: list[Verdict], vote: Verdict) -> bool:
        found = human.check(self._candidates, about, [vote], self._weights)
        return found is not None and found.sided > 0

    def agreement(self, vote: Verdict) -> float | None:
        """1 or 0, and a half where they have no opinion; `None` where nobody who counts answered."""
        if all(records.fate(one) == "missing" or not self._weights[one.judge] for one in self.on(vote)):
            return None
        theirs = self.side(vote)
        return 0.5 if theirs is None else float(theirs == _side(vote))

    @property
    def has_compared(self) -> bool:
        return any(records.fate(one) != "missing" for about in self._meetings.values() for one in about)


def compare(conn: Connection, run_id: RunId, round_number: int | None = None) -> AgainstJudges:
    """All votes of a run against the judges of a round, of the present one if none is named. Unbounded: to be scanned.

    Raises:
        NotFound: there is no such run, or it has no such round.
    """
    setup = setups.require(conn, run_id, round_number)
    run = setup.seq
    said = evidence.rest(conn, setup)
    groups = grouping.with_copies(said.groups, said.same)
    judges = _Judges(conn, setup)
    outcomes: defaultdict[str, list[float]] = defaultdict(list)
    apart: list[tuple[HumanVote, Side, list[Verdict]]] = []
    for vote in said.votes:
        one = vote.verdict
        theirs = judges.side(one)
        if theirs is not None:
            outcomes[said.same.get(one.document, one.document)].append(float(_side(one) == theirs))
            if _side(one) != theirs:
                apart.append((vote, theirs, judges.on(one)))
    return AgainstJudges(
        votes=len(said.votes),
        both_bad=conn.value("SELECT count(*) FROM run_votes WHERE run = ? AND both_bad AND NOT withdrawn", run),
        judged=sum(map(len, outcomes.values())),
        same=round(sum(map(sum, outcomes.values()))),
        agreement=rates.rate([mean(of_one) for of_one in outcomes.values()], clusters.numbers(outcomes, groups)),
        disagreements=tuple(_disagreement(conn, setup, *one) for one in apart[:MAX_DISAGREEMENTS]),
        scores=people_scores.compare(conn, setup, list(evidence.scored(conn, setup))),
        since=_since(conn, setup, judges, said, groups) if said.votes else None,
    )


def _since(
    conn: Connection, setup: Setup, judges: _Judges, said: Evidence, groups: Mapping[str, str]
) -> SinceRound | None:
    now = setup.round
    run = run_transitions.present(conn, setup.id)
    is_judged = run.round > now.number or run.state in states.ENDED
    before = _compared_before(conn, setup) if is_judged and judges.has_compared else None
    if before is None:
        return None
    earlier, theirs = before
    kept = halves.halve(setup.seed, setup.documents, groups).testing
    found: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for vote in said.votes:
        one = vote.verdict
        here, there = (by.agreement(one) if one.document in kept else None for by in (judges, theirs))
        if here is not None and there is not None:
            found[said.same.get(one.document, one.document)].append((here, there))
    return halves.compare((now.number, earlier.number), _changed(now, earlier), found, kept, groups)


def _compared_before(conn: Connection, setup: Setup) -> tuple[Round, _Judges] | None:
    for number in range(setup.round.number - 1, 0, -1):
        earlier = setups.require(conn, setup.id, number)
        judges = _Judges(conn, earlier)
        if judges.has_compared:
            return earlier.round, judges
    return None


def _changed(now: Round, earlier: Round) -> tuple[Changed, ...]:
    """In how they compare: what is only scored is another question."""
    told: list[tuple[Changed, bool]] = [
        ("criteria", _asked_for(now) != _asked_for(earlier)),
        ("instructions", now.comparison_instructions != earlier.comparison_instructions),
        ("judges", _bench(now) != _bench(earlier)),
    ]
    return tuple(name for name, is_other in told if is_other)


def _asked_for(of: Round) -> list[tuple[str, str, float]]:
    return [(one.name, one.description, one.weight) for one in of.criteria]


def _bench(of: Round) -> dict[str, tuple[Parameters, float]]:
    return {j.name: (j.parameters, j.comparison_weight) for j in of.judges if j.comparison_weight is not None}


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
