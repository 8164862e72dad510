"""The ranking of candidates: win shares, ratings, contrasts with the leader, and what could overturn them.

Plain functions of the records, made for tens of candidates and hundreds of documents. Keep the work off the event loop
unless the run is small: it fits a model for every document.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import msgspec

from carrel.evaluation.ranking import (
    bradley_terry,
    cells,
    contrasts,
    doubts,
    grouping,
    length,
    missing,
    own_power,
    panels,
    scores,
    shares,
    stopping,
)
from carrel.evaluation.ranking.bradley_terry import Ratings
from carrel.evaluation.ranking.cells import VerdictColumns
from carrel.evaluation.ranking.contrasts import AtWorst, Contrast
from carrel.evaluation.ranking.doubts import Bounds, Distrust, LongerText, WithoutJudge
from carrel.evaluation.ranking.grouping import Grouping, Groups
from carrel.evaluation.ranking.length import LengthAdjusted
from carrel.evaluation.ranking.scores import Cells, ScoreStanding
from carrel.evaluation.ranking.shares import ShareOrder
from carrel.evaluation.ranking.stopping import Decision, Look
from carrel.evaluation.ranking.table import PairTable, groups
from carrel.evaluation.records import HUMAN, Fate, Score, Verdict
from carrel.evaluation.statistics import clusters, intervals
from carrel.evaluation.statistics.intervals import rounded, rounded_or_none
from carrel.providers.base import Criterion

if TYPE_CHECKING:
    from carrel.evaluation.ranking.cells import Flags

Measure = Literal["required", "checks", "accuracy", "macro_f1"]
"""What a verdict by checks is about: the share of answers that pass every required check, the mean of all checks, the
share of answers that equal the expected ones, where that is all that is checked, or the mean F1 over the classes that
the expected answers are."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate. `place` counts from 1, equal for those that are level, `None` when it met nobody ("not compared").

    `rating` is in logits around a mean of 0: 0.8 ahead means preferred in 69 % of comparisons. Intervals hold at 95 %,
    where the run looks more than once at all its looks together. They are `None` for a single document, ratings also
    when the candidates fall into groups that never met. `score` is between 0 and 1, with an interval where scores are
    all there is to rank by. `documents` are those on which it met anyone (or was scored), `comparisons` the verdicts
    that counted: `won` in both orders, `tied` without a clear winner (a tie, a flip, a win and a tie), or lost. From
    three judges of equal weight on, `panel_low` to `panel_high` is an interval of the win share that also covers the
    choice of judges. `first_low` stands instead of `low` where somebody picks this candidate because it is first of
    three or more: luck helped to make it so. `widened`: an end of the win share's intervals reaches so much further for
    verdicts that are missing and that the others' do not explain; ratings are those of what was said.
    """

    candidate: str
    place: int | None = None
    win_share: float | None = None
    low: float | None = None
    high: float | None = None
    rating: float | None = None
    rating_low: float | None = None
    rating_high: float | None = None
    score: float | None = None
    score_low: float | None = None
    score_high: float | None = None
    documents: int = 0
    comparisons: int = 0
    won: int = 0
    tied: int = 0
    first_low: float | None = None
    panel_low: float | None = None
    panel_high: float | None = None
    widened: float = 0.0
    is_best: bool = False

    @property
    def shown_low(self) -> float | None:
        """The lower end of the interval to show beside the win share."""
        return self.low if self.first_low is None else self.first_low


class ComparisonCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the verdicts that were planned; `agreed` includes two ties."""

    planned: int
    agreed: int
    flip: int
    inconsistent: int
    by_rule: int
    invalid: int
    missing: int


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a report or an answer shows; the same evidence gives the same bytes.

    `basis` is `scores` when nothing was compared but something was scored: then leaders, contrasts, bounds and groups
    are about scores. It is `checks` when the verdict is by checks, and they are about what `measure` names; and
    `answers` when a run has neither judge nor check: then nobody leads. `majority` is what somebody reaches who always
    gives the most frequent of the expected answers, where they are classes: whoever is best is ahead of that, too.
    `judged_leaders` are those of the judges where the verdict is by checks. `leaders` have the greatest win share,
    several if they are level. `groups` has more than one entry when candidates never met, directly or through others:
    then nobody leads. `exploratory`: weights were moved after seeing results. `look` is `None` where a run looks once,
    at its end; else it is the one that this was found at, or that is next, and intervals and contrasts are as strict as
    that look is. `grouping` is there if documents belong together, or may do so: then all intervals are those of groups
    of documents. `found_chance` is the chance that judges who agree as these did would have found a true lead of 69 %
    on all documents of the run; for most kinds of judges it lies between `found_chance_low` and `found_chance_high` in
    four of five runs. `None` where nothing was compared, where there are too few documents, where some belong together,
    and where verdicts of only two candidates are missing.
    """

    rows: tuple[Row, ...]
    leaders: tuple[str, ...]
    best: str | None
    contrasts: tuple[Contrast, ...]
    documents: int
    judges: tuple[str, ...]
    counts: ComparisonCounts
    groups: tuple[tuple[str, ...], ...]
    score_leaders: tuple[str, ...]
    bounds: Bounds | None
    without_judge: tuple[WithoutJudge, ...]
    longer_text: LongerText
    checked_by_human: bool
    exploratory: bool
    basis: Literal["comparisons", "scores", "checks", "answers"] = "comparisons"
    length_adjusted: LengthAdjusted | None = None
    look: Look | None = None
    distrust: tuple[Distrust, ...] = ()
    grouping: Grouping | None = None
    found_chance: float | None = None
    found_chance_low: float | None = None
    found_chance_high: float | None = None
    measure: Measure | None = None
    majority: float | None = None
    judged_leaders: tuple[str, ...] = ()

    @property
    def by_score(self) -> bool:
        """Whether leaders, contrasts and groups are about scores or about what stands in their place."""
        return self.basis in ("scores", "checks")

    @property
    def independent(self) -> int:
        """How many documents, or groups of them, are independent of each other."""
        return self.documents if self.grouping is None else self.grouping.independent


class _Headline(NamedTuple):
    """The conclusions from the table alone. There are ratings if the candidates are connected."""

    parted: tuple[tuple[int, ...], ...]
    standing: ShareOrder
    ratings: Ratings | None
    contrasts: tuple[Contrast, ...]
    best: int | None


def rank(
    candidates: Sequence[str],
    verdicts: Sequence[Verdict],
    *,
    scored: Sequence[Score] = (),
    criteria: Sequence[Criterion] = (),
    weights: Mapping[str, float] | None = None,
    score_weights: Mapping[str, float] | None = None,
    exploratory: bool = False,
    look: Look | None = None,
    grouped: Groups | None = None,
) -> Ranking:
    """Rank candidates by win share, or by scores where nothing was compared.

    `weights` are the comparing judges', `score_weights` the scoring judges'; the default of each is 1. `look` is for a
    run that looks more than once, `grouped` for documents that belong together.

    Raises:
        ValueError: a verdict names a candidate that is not in `candidates`, or a weight is not a finite number ≥ 0.
    """
    by_judge = weights or {}
    of = grouped.joined if grouped is not None else {}
    heard = cells.gathered(candidates, verdicts, by_judge, of)
    y = cells.averaged(heard)
    table = cells.table_of(heard, y)
    parted, standing, ratings, leads, best = _headline(heard, table, look)
    p = intervals.probability(stopping.part_of(look))
    leaders = standing.leaders
    beaten = {candidates.index(one.candidate) for one in look.beaten} if look else set()
    by_judge_and_document = scores.tabulate(scored, criteria, score_weights or {})
    by_score = scores.standing_of(by_judge_and_document, candidates, score_weights or {})
    counts = ComparisonCounts(
        planned=sum(heard.fates.values()), **{fate: heard.fates.get(fate, 0) for fate in get_args(Fate)}
    )
    if not table.documents and by_judge_and_document:
        found = by_scores(
            candidates,
            counts,
            scored,
            by_judge_and_document,
            criteria,
            score_weights or {},
            of,
            exploratory=exploratory,
            at_worst=partial(missing.score_leads, scored, criteria, score_weights or {}, of, candidates),
        )
        return msgspec.structs.replace(found, grouping=grouping.seen(grouped, by_judge_and_document.keys()))
    belong = grouping.seen(grouped, {heard.documents[i] for i in set(heard.document[heard.said()].tolist())})
    planned = look.planned if look else len(table.documents)
    alone = belong is None or belong.independent == len(table.documents)
    # What is missing of two candidates counts against the leader, which the tables do not know.
    tells = alone and (len(table.members) > 2 or bool(heard.said().all()))
    chance = own_power.chance(y, planned, early=look is not None) if tells else None
    return Ranking(
        rows=_rows(table, standing, ratings, by_score.means, heard, best, p, by_opponent=bool(beaten)),
        leaders=tuple(candidates[i] for i in leaders),
        best=None if best is None else candidates[best],
        contrasts=leads,
        documents=len(table.documents),
        judges=heard.judges,
        counts=counts,
        groups=tuple(tuple(candidates[i] for i in group) for group in parted),
        score_leaders=tuple(candidates[i] for i in by_score.leaders),
        bounds=doubts.bounds(heard, leaders[0], by_opponent=bool(beaten)) if len(leaders) == 1 else None,
        without_judge=doubts.without_each_judge(heard, beaten),
        longer_text=doubts.longer_text(heard),
        checked_by_human=HUMAN in heard.judges
        and bool((heard.said() & ~heard.by_rule & (heard.judge == heard.judges.index(HUMAN))).any()),
        exploratory=exploratory,
        length_adjusted=length.adjusted(heard, p),
        look=look,
        grouping=belong,
        found_chance=None if chance is None else chance.likely,
        found_chance_low=None if chance is None else chance.low,
        found_chance_high=None if chance is None else chance.high,
    )


def decide(
    candidates: Sequence[str],
    verdicts: Sequence[Verdict],
    weights: Mapping[str, float],
    look: Look | None,
    grouped: Groups | None = None,
) -> Decision:
    """Whom `rank` would call best by comparisons, or else whom the leader has beaten since earlier looks.

    Raises:
        ValueError: as `rank` says.
    """
    of = grouped.joined if grouped is not None else {}
    heard = cells.gathered(candidates, verdicts, weights, of)
    found = _headline(heard, cells.table_of(heard, cells.averaged(heard)), look)
    if len(found.standing.leaders) != 1:
        return Decision()
    known = {one.candidate for one in look.beaten} if look else set()
    beaten = [one.candidate for one in found.contrasts if one.excludes_zero and one.candidate not in known]
    return Decision(candidates[found.standing.leaders[0]], tuple(beaten), found.best is not None)


def _headline(heard: VerdictColumns, table: PairTable, look: Look | None) -> _Headline:
    parted = groups(table)
    beaten = {table.candidates.index(one.candidate): one.documents for one in look.beaten} if look else {}
    standing = shares.standing(table, beaten)
    ratings = bradley_terry.ratings(table) if len(parted) == 1 else None
    leads = contrasts.by_shares(heard, table, standing.order, ratings, look) if ratings else ()
    decided = len(standing.leaders) == 1 and bool(leads) and all(lead.ahead for lead in leads)
    return _Headline(parted, standing, ratings, leads, standing.leaders[0] if decided else None)


def _rows(
    table: PairTable,
    standing: ShareOrder,
    ratings: Ratings | None,
    means: Sequence[float | None],
    heard: VerdictColumns,
    best: int | None,
    p: float,
    *,
    by_opponent: bool,
) -> tuple[Row, ...]:
    """First the compared candidates by win share, then the others in plan order."""
    met, tied = (_sums(heard, which, which) for which in (heard.said(), heard.y == 0.5))
    won = _sums(heard, heard.y == 1.0, heard.y == 0.0)
    found = standing.estimates
    every_judge = panels.by_judge(heard)
    reaches = missing.reaches(heard, by_opponent=by_opponent)
    rows = []
    for i in [*standing.order, *(i for i in range(len(table.candidates)) if i not in found)]:
        row = Row(candidate=table.candidates[i], score=rounded_or_none(means[i]))
        if i in found:
            below, above = reaches[i]
            low, high = _reaching(found[i].bounds(p, 0.0, 1.0), below, above)
            first_low = None
            if standing.places[i] == 1 and len(found) > 2:
                # One of K would be first by chance: the lower end has a K-th of the error (Bonferroni).
                first_low, _ = _reaching(found[i].bounds(1.0 - (1.0 - p) / len(found), 0.0, 1.0), below, above)
            panel_low, panel_high = _reaching(panels.bounds(every_judge, i, found[i], p), below, above)
            if panel_low is not None and panel_high is not None and low is not None and high is not None:
                panel_low, panel_high = min(panel_low, low), max(panel_high, high)
            rating = bradley_terry.estimate(table, found[i], ratings, i) if ratings else None
            rating_low, rating_high = rating.bounds(p, -math.inf, math.inf) if rating else (None, None)
            row = msgspec.structs.replace(
                row,
                place=standing.places[i],
                win_share=rounded(found[i].mean),
                low=rounded_or_none(low),
                high=rounded_or_none(high),
                rating=rounded(rating.mean) if rating else None,
                rating_low=rounded_or_none(rating_low),
                rating_high=rounded_or_none(rating_high),
                documents=found[i].documents,
                comparisons=met[i],
                won=won[i],
                first_low=rounded_or_none(first_low),
                panel_low=rounded_or_none(panel_low),
                panel_high=rounded_or_none(panel_high),
                tied=tied[i],
                widened=rounded(max(below, above)),
                is_best=i == best,
            )
        rows.append(row)
    return tuple(rows)


def _sums(heard: VerdictColumns, of_a: Flags, of_b: Flags) -> list[int]:
    """How many of these verdicts each candidate has as the first or as the second of a pair."""
    import numpy as np

    k = len(heard.candidates)
    found: list[int] = (np.bincount(heard.a[of_a], minlength=k) + np.bincount(heard.b[of_b], minlength=k)).tolist()
    return found


Ends = tuple[float, float] | tuple[None, None]


def _reaching(interval: Ends, below: float, above: float) -> Ends:
    low, high = interval
    return interval if low is None or high is None else (max(0.0, low - below), min(1.0, high + above))


def by_scores(
    candidates: Sequence[str],
    counts: ComparisonCounts,
    scored: Sequence[Score],
    found: Cells,
    criteria: Sequence[Criterion],
    weights: Mapping[str, float],
    groups_of: Mapping[str, str],
    *,
    exploratory: bool,
    at_worst: AtWorst | None = None,
) -> Ranking:
    """The same rules with scores instead of win shares: documents are the unit, and every lead must exclude 0."""
    standing = scores.standing_of(found, candidates, weights)
    parted = scores.groups(found, candidates)
    leaders = standing.leaders if len(parted) == 1 else ()
    leads = contrasts.by_scores(found, candidates, standing.order, weights, groups_of, at_worst) if leaders else ()
    decided = len(leaders) == 1 and bool(leads) and all(lead.ahead for lead in leads)
    best = leaders[0] if decided else None
    return Ranking(
        rows=_score_rows(found, candidates, standing, weights, groups_of, best),
        leaders=tuple(candidates[i] for i in leaders),
        best=None if best is None else candidates[best],
        contrasts=leads,
        documents=len(found),
        judges=tuple(sorted({judge for judges in found.values() for judge in judges})),
        counts=counts,
        groups=tuple(tuple(candidates[i] for i in group) for group in parted),
        score_leaders=tuple(candidates[i] for i in standing.leaders),
        bounds=doubts.score_bounds(candidates, scored, found, criteria, weights, candidates[leaders[0]])
        if len(leaders) == 1
        else None,
        without_judge=doubts.without_each_scorer(candidates, found, weights),
        longer_text=doubts.NO_LENGTHS,
        checked_by_human=False,
        exploratory=exploratory,
        basis="scores",
    )


def _score_rows(
    found: Cells,
    candidates: Sequence[str],
    standing: ScoreStanding,
    weights: Mapping[str, float],
    groups_of: Mapping[str, str],
    best: int | None,
) -> tuple[Row, ...]:
    rows = []
    for i in standing.order:
        share = intervals.share(*clusters.sampled(scores.on_documents(found, candidates[i], weights), groups_of))
        low, high = share.bounds(0.975, 0.0, 1.0)
        rows.append(
            Row(
                candidate=candidates[i],
                place=standing.places[i],
                score=rounded(share.mean),
                score_low=rounded_or_none(low),
                score_high=rounded_or_none(high),
                documents=share.documents,
                is_best=i == best,
            )
        )
    return (*rows, *(Row(candidate=candidate) for i, candidate in enumerate(candidates) if i not in standing.order))
