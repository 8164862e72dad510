"""What could overturn a ranking: missing verdicts, a single judge, a preference for longer texts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from carrel.evaluation import records
from carrel.evaluation.ranking import scores, shares
from carrel.evaluation.ranking.table import tabulate
from carrel.evaluation.records import Score, Side, Verdict
from carrel.evaluation.statistics import intervals
from carrel.evaluation.statistics.intervals import rounded, rounded_or_none
from carrel.evaluation.statistics.means import mean
from carrel.providers.base import Criterion


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The leader's win share with every verdict that is missing or invalid against it, and for it (Manski 1990).

    Where scores are all there is, it is the leader's mean score, and open scores stand in the place of verdicts.
    `overturned_by` are the candidates that could be level or ahead if all of them had gone the wrong way, and
    `overturning` the number of the leader's and those candidates' verdicts that are open.
    """

    open_verdicts: int
    share_worst: float
    share_best: float
    overturned_by: tuple[str, ...]
    overturning: int


class WithoutJudge(msgspec.Struct, frozen=True, kw_only=True):
    """Who leads when one judge is left out; several if they are level, nobody if the rest does not connect them."""

    judge: str
    leaders: tuple[str, ...]


class Distrust(msgspec.Struct, frozen=True, kw_only=True):
    """A reason not to trust the judges; a `decisive` one takes the word *best* away.

    `chance`: a judge is no better than a coin. `opposed`: the judges contradict each other. `family`: all are of the
    leader's family. `length`: the longer text nearly always won. `missing`: verdicts about the leader are missing more
    often than others.
    """

    kind: Literal["chance", "opposed", "family", "length", "missing"]
    sentence: str
    decisive: bool


class LongerText(msgspec.Struct, frozen=True, kw_only=True):
    """How often the longer text won, where one won and one was longer; `share` gives each document one voice."""

    won: int
    of: int
    documents: int
    share: float | None
    low: float | None
    high: float | None


def bounds(candidates: Sequence[str], verdicts: Sequence[Verdict], weights: Mapping[str, float], leader: str) -> Bounds:
    """Refit with the open verdicts at their worst and best for the leader; each rival has a refit that favours it."""
    heard = [verdict for verdict in verdicts if weights.get(verdict.judge, 1.0) > 0]
    still_open = [verdict for verdict in heard if records.value(verdict) is None]
    overturned_by = []
    for rival in candidates:
        if rival == leader:
            continue
        settled = [_settled(verdict, losers=(leader,), winners=(rival,)) for verdict in heard]
        found = shares.standing(tabulate(candidates, settled, weights))
        place = candidates.index(rival)
        if place in found.shares and not found.is_ahead(candidates.index(leader), place):
            overturned_by.append(rival)
    involved = {leader, *overturned_by}
    return Bounds(
        open_verdicts=len(still_open),
        share_worst=rounded(_share(candidates, heard, weights, leader, loses=True)),
        share_best=rounded(_share(candidates, heard, weights, leader, loses=False)),
        overturned_by=tuple(overturned_by),
        overturning=sum(1 for v in still_open if v.a in involved or v.b in involved) if overturned_by else 0,
    )


def without_each_judge(
    candidates: Sequence[str], verdicts: Sequence[Verdict], weights: Mapping[str, float]
) -> tuple[WithoutJudge, ...]:
    """The leader without each judge in turn; empty when there is only one judge, because nothing is left without it."""
    judges = sorted({verdict.judge for verdict in verdicts if weights.get(verdict.judge, 1.0) > 0})
    if len(judges) < 2:
        return ()
    found = []
    for judge in judges:
        others = [verdict for verdict in verdicts if verdict.judge != judge]
        leaders = shares.standing(tabulate(candidates, others, weights)).leaders
        found.append(WithoutJudge(judge=judge, leaders=tuple(candidates[i] for i in leaders)))
    return tuple(found)


def score_bounds(
    candidates: Sequence[str],
    scored: Sequence[Score],
    criteria: Sequence[Criterion],
    weights: Mapping[str, float],
    leader: str,
) -> Bounds:
    """The same for scores: open scores get the least or the greatest value that the scales allow."""
    heard = [score for score in scored if weights.get(score.judge, 1.0) > 0]
    still_open = [score for score in heard if scores.normalised(score, criteria) is None]

    def leads(low: str | None, high: str | None) -> scores.ScoreStanding:
        settled = [_filled(score, criteria, low, high) for score in heard]
        return scores.standing(candidates, settled, criteria, weights)

    first = candidates.index(leader)
    overturned_by = []
    for place, rival in enumerate(candidates):
        if (
            rival != leader
            and (found := leads(leader, rival)).places.get(place, len(candidates)) <= found.places[first]
        ):
            overturned_by.append(rival)
    involved = {leader, *overturned_by}
    return Bounds(
        open_verdicts=len(still_open),
        share_worst=rounded(leads(leader, None).means[first] or 0.0),
        share_best=rounded(leads(None, leader).means[first] or 0.0),
        overturned_by=tuple(overturned_by),
        overturning=sum(1 for score in still_open if score.candidate in involved) if overturned_by else 0,
    )


def without_each_scorer(
    candidates: Sequence[str], scored: Sequence[Score], criteria: Sequence[Criterion], weights: Mapping[str, float]
) -> tuple[WithoutJudge, ...]:
    """The leader by scores without each scoring judge in turn."""
    judges = sorted({score.judge for score in scored if weights.get(score.judge, 1.0) > 0})
    if len(judges) < 2:
        return ()
    found = []
    for judge in judges:
        cells = scores.tabulate([score for score in scored if score.judge != judge], criteria, weights)
        leaders = scores.standing_of(cells, candidates, weights).leaders
        connected = len(scores.groups(cells, candidates)) == 1
        names = tuple(candidates[i] for i in leaders) if connected else ()
        found.append(WithoutJudge(judge=judge, leaders=names))
    return tuple(found)


def longer_text(verdicts: Sequence[Verdict]) -> LongerText:
    """The longer text won x of y, by the judges' own clear verdicts; the interval takes the document as the unit."""
    by_document: defaultdict[str, list[float]] = defaultdict(list)
    for verdict in verdicts:
        y = records.value(verdict)
        a, b = verdict.a_length, verdict.b_length
        if verdict.by_rule is None and y in (0.0, 1.0) and a is not None and b is not None and a != b:
            by_document[verdict.document].append(float((y == 1.0) == (a > b)))
    won = int(sum(sum(values) for values in by_document.values()))
    of = sum(len(values) for values in by_document.values())
    if not of:
        return LongerText(won=0, of=0, documents=0, share=None, low=None, high=None)
    found = intervals.share([mean(values) for _, values in sorted(by_document.items())])
    low, high = found.bounds(0.975, 0.0, 1.0)
    return LongerText(
        won=won,
        of=of,
        documents=len(by_document),
        share=rounded(found.mean),
        low=rounded_or_none(low),
        high=rounded_or_none(high),
    )


def _share(
    candidates: Sequence[str], verdicts: Sequence[Verdict], weights: Mapping[str, float], leader: str, *, loses: bool
) -> float:
    settled = [_settled(v, losers=(leader,) if loses else (), winners=() if loses else (leader,)) for v in verdicts]
    return shares.standing(tabulate(candidates, settled, weights)).shares[candidates.index(leader)]


def _settled(verdict: Verdict, *, losers: tuple[str, ...], winners: tuple[str, ...]) -> Verdict:
    """An open verdict, settled as if the losers had lost and the winners had won; it stays open between others."""
    if records.value(verdict) is not None:
        return verdict
    side: Side
    if verdict.a in losers or verdict.b in winners:
        side = "b"
    elif verdict.b in losers or verdict.a in winners:
        side = "a"
    else:
        return verdict
    return msgspec.structs.replace(verdict, by_rule=side)


def _filled(score: Score, criteria: Sequence[Criterion], low: str | None, high: str | None) -> Score:
    """An open score, settled as if one candidate had got the least and another the most."""
    if scores.normalised(score, criteria) is not None or score.candidate not in (low, high):
        return score
    if score.candidate == low:
        return msgspec.structs.replace(score, fate="by_rule")
    greatest = {criterion.name: criterion.maximum for criterion in criteria}
    return msgspec.structs.replace(score, fate="given", values=greatest)
