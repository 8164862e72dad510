"""The ranking by what checks say of answers: the rule of scores, with the values of checks in their place."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from carrel.evaluation.ranking import grouping, ranking, scores
from carrel.evaluation.ranking.grouping import Groups
from carrel.evaluation.ranking.ranking import Measure, Ranking, Row
from carrel.evaluation.records import Mark, Score
from carrel.evaluation.statistics import clusters, rates
from carrel.providers.base import Criterion

_CHECKS: Final = "checks"
_VALUE: Final = Criterion(name="value", description="", minimum=0.0, maximum=1.0)


def rank(
    candidates: Sequence[str], marks: Sequence[Mark], measure: Measure, judged: Ranking, groups: Groups
) -> Ranking:
    """Rank by the values of checks. What the judges said stays beside it, from their own ranking."""
    scored = [_score(mark) for mark in marks]
    cells = scores.tabulate(scored, (_VALUE,), {})
    joined = groups.joined
    found = ranking.by_scores(candidates, judged.counts, scored, cells, (_VALUE,), {}, joined, exploratory=False)
    rows = {row.candidate: row for row in judged.rows}
    rated = {one: clusters.sampled(scores.on_documents(cells, one, {}), joined) for one in candidates}
    return replace(
        found,
        rows=tuple(_row(rows[row.candidate], row, rated[row.candidate]) for row in found.rows),
        judges=judged.judges,
        score_leaders=judged.score_leaders,
        basis="checks",
        grouping=grouping.seen(groups, cells.keys()),
        measure=measure,
        judged_leaders=judged.leaders,
    )


def _score(mark: Mark) -> Score:
    given = mark.value is not None
    return Score(
        document=mark.document,
        judge=_CHECKS,
        candidate=mark.candidate,
        repeat=mark.repeat,
        values={} if mark.value is None else {_VALUE.name: mark.value},
        fate="given" if given else "missing",
    )


def _row(judged: Row, checked: Row, sample: clusters.Sample) -> Row:
    """The row of the judges with what the checks say; the rate has the interval that it has wherever it is shown."""
    rate = rates.rate(sample.values, sample.groups)
    return replace(
        judged,
        place=checked.place,
        score=rate.share,
        score_low=rate.low,
        score_high=rate.high,
        documents=checked.documents,
        is_best=checked.is_best,
    )
