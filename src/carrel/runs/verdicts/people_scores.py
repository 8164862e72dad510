"""Scores that voters gave by the run's criteria, beside those of the judges. They move neither ranking nor verdict."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec

from carrel.evaluation.judges import agreement
from carrel.evaluation.records import Score
from carrel.evaluation.statistics.intervals import rounded, rounded_or_none
from carrel.evaluation.statistics.means import mean, weighted_mean
from carrel.http.requests.schema import In
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, as_json
from carrel.providers.base import Criterion
from carrel.runs.model.plan import Presented, answer_repeat
from carrel.runs.model.setup import Setup

_Answer = tuple[str, str, int]
"""Document, candidate and the number of its answer."""
_ByVoter = Mapping[_Answer, Mapping[str, list[float]]]


class PairScores(In, frozen=True):
    """Scores of the answer that stands first and of the second, by the name of the criterion. Any may be left out."""

    first: dict[str, float] = msgspec.field(default_factory=dict)
    second: dict[str, float] = msgspec.field(default_factory=dict)


class ScoresOfPeople(msgspec.Struct, frozen=True, kw_only=True):
    """What voters scored by one criterion: the mean over `answers`, which count alike, each by the mean of its voters.

    `judges` is the mean of the judges on those of the answers that they scored, and `apart` how far the two are from
    each other on one answer; both are null where the judges scored none. `alpha` is how far several voters agree.
    """

    criterion: str
    answers: int
    people: float
    judges: float | None
    apart: float | None
    alpha: float | None


class _Scored(NamedTuple):
    document: int
    candidate: int
    opponent: int
    repeat: int
    presented: Presented
    voter: str
    scores: PairScores


_scored = Select(_Scored)


def fit(scores: PairScores, criteria: Sequence[Criterion]) -> bool:
    """Whether each score is by one of the criteria, and on its scale."""
    scales = {one.name: (one.minimum, one.maximum) for one in criteria}
    return all(
        name in scales and scales[name][0] <= value <= scales[name][1]
        for name, value in chain(scores.first.items(), scores.second.items())
    )


def text(scores: PairScores | None) -> str | None:
    """The scores as their column holds them; `None` where nothing was scored."""
    return as_json(scores) if scores is not None and (scores.first or scores.second) else None


def compare(conn: Connection, setup: Setup, by_judges: Sequence[Score]) -> tuple[ScoresOfPeople, ...]:
    """The criteria of the setup's round that voters scored, beside the judges' scores. Unbounded: to be scanned."""
    given: defaultdict[str, defaultdict[_Answer, defaultdict[str, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    repeats = {one.ordinal: (one.label, one.repeats) for one in setup.candidates}
    for row in _scored.each(
        conn, "FROM run_votes WHERE run = ? AND scores NOT NULL AND word NOT NULL AND NOT withdrawn", setup.seq
    ):
        pair = (row.candidate, row.opponent)
        shown = pair if row.presented == "ab" else pair[::-1]
        for ordinal, scores in zip(shown, (row.scores.first, row.scores.second), strict=True):
            label, of = repeats[ordinal]
            answer = (f"d{row.document}", label, answer_repeat(of, row.repeat))
            for criterion, value in scores.items():
                given[criterion][answer][row.voter].append(value)
    if not given:
        return ()
    theirs = _of_judges(setup, by_judges)
    return tuple(
        _beside(one.name, given[one.name], theirs.get(one.name, {}))
        for one in setup.round.criteria
        if one.name in given
    )


def _of_judges(setup: Setup, scores: Sequence[Score]) -> dict[str, dict[_Answer, float]]:
    """Criterion → answer → the judges' mean by their weights. What a rule scored is no judge's."""
    judges = {one.name: (one.scoring_weight or 0.0, one.score_repeats) for one in setup.round.judges}
    found: defaultdict[str, defaultdict[_Answer, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for score in scores:
        weight, times = judges[score.judge]
        if score.fate == "given" and weight > 0:
            answer = (score.document, score.candidate, 1 + (score.repeat - 1) // times)
            for criterion, value in score.values.items():
                found[criterion][answer].append((weight, value))
    return {
        criterion: {answer: weighted_mean(values) for answer, values in answers.items()}
        for criterion, answers in found.items()
    }


def _beside(criterion: str, given: _ByVoter, theirs: Mapping[_Answer, float]) -> ScoresOfPeople:
    units = {answer: [mean(values) for values in voters.values()] for answer, voters in given.items()}
    people = {answer: mean(unit) for answer, unit in units.items()}
    both = [(value, theirs[answer]) for answer, value in people.items() if answer in theirs]
    return ScoresOfPeople(
        criterion=criterion,
        answers=len(people),
        people=rounded(mean(list(people.values()))),
        judges=rounded(mean([judged for _, judged in both])) if both else None,
        apart=rounded(mean([abs(ours - judged) for ours, judged in both])) if both else None,
        alpha=rounded_or_none(agreement.alpha(units.values(), "ordinal")[0]),
    )
