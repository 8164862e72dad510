"""The ranking by what checks say of answers: the rule of scores, with the values of checks in their place.

Macro F1 is no mean over documents. What each document adds to it (`f_scores`) takes the place of scores, in units of
the furthest that one document can move it, so that all values have ends as scores do.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from msgspec.structs import replace

from carrel.evaluation import classes
from carrel.evaluation.classes import MAJORITY
from carrel.evaluation.ranking import contrasts, grouping, missing, ranking, scores
from carrel.evaluation.ranking.contrasts import Contrast
from carrel.evaluation.ranking.grouping import Groups
from carrel.evaluation.ranking.ranking import Measure, Ranking
from carrel.evaluation.ranking.scores import Cells
from carrel.evaluation.records import Mark, Score
from carrel.evaluation.statistics import clusters, f_scores, rates
from carrel.evaluation.statistics.intervals import rounded
from carrel.evaluation.statistics.rates import PassRate
from carrel.providers.base import Criterion

_CHECKS: Final = "checks"
_VALUE: Final = Criterion(name="value", description="", minimum=0.0, maximum=1.0)


class _Measured(NamedTuple):
    """What every document says of each candidate, in units of `reach`, and what each candidate reaches in all."""

    cells: Cells
    reached: dict[str, PassRate]
    reach: float = 1.0


def rank(
    candidates: Sequence[str], marks: Sequence[Mark], measure: Measure, judged: Ranking, groups: Groups
) -> Ranking:
    """Rank by the values of checks. What the judges said stays beside it, from their own ranking."""
    joined = groups.joined
    known = [mark for mark in marks if mark.expected is not None]
    every = [*marks, *classes.constant(known, classes.majority(known))] if known else marks
    by_f1 = measure == "macro_f1"
    found = _by_f1(every, joined) if by_f1 else _by_values(every, joined)
    # What is missing cannot be bounded where each document counts by all others.
    scored = [_score(mark) for mark in marks if not by_f1 or mark.value is not None]
    cells = {document: {_CHECKS: _only(candidates, judges[_CHECKS])} for document, judges in found.cells.items()}
    cells = {document: judges for document, judges in cells.items() if judges[_CHECKS]}
    told = ranking.by_scores(
        candidates,
        judged.counts,
        scored,
        cells,
        (_VALUE,),
        {},
        joined,
        exploratory=False,
        at_worst=None if by_f1 else partial(missing.score_leads, scored, (_VALUE,), {}, joined, candidates),
    )
    leads = [*told.contrasts]
    if known and len(told.leaders) == 1:
        leads += contrasts.by_scores(found.cells, (told.leaders[0], MAJORITY), (0, 1), {}, joined)
    beats_all = told.best is not None and all(one.ahead for one in leads)
    rows = {row.candidate: row for row in judged.rows}
    majority = found.reached[MAJORITY].share if known else None
    return replace(
        told,
        rows=tuple(
            replace(
                rows[row.candidate],
                place=row.place,
                documents=row.documents,
                is_best=row.is_best and beats_all,
                **_as_score(found.reached.get(row.candidate)),
            )
            for row in told.rows
        ),
        best=told.best if beats_all else None,
        contrasts=tuple(_scaled(one, found.reach) for one in leads),
        judges=judged.judges,
        score_leaders=judged.score_leaders,
        bounds=None if by_f1 else told.bounds,
        basis="checks",
        grouping=grouping.seen(groups, cells.keys()),
        measure=measure,
        majority=majority,
        judged_leaders=judged.leaders,
    )


def differences(marks: Sequence[Mark], candidate: str, baseline: str) -> tuple[dict[str, float], float]:
    """What each document adds to the candidate's macro F1 beyond the baseline's, and how far from 0 that may lie."""
    found = _by_f1(marks, {})
    values = scores.differences(found.cells, candidate, baseline, {})
    return {document: found.reach * value for document, value in values.items()}, found.reach


def _only(candidates: Sequence[str], cell: Mapping[str, float]) -> dict[str, float]:
    return {one: cell[one] for one in candidates if one in cell}


def _by_values(marks: Sequence[Mark], groups: Mapping[str, str]) -> _Measured:
    cells = scores.tabulate([_score(mark) for mark in marks], (_VALUE,), {})
    values = _by_candidate(cells)
    return _Measured(cells, {one: rates.rate(*clusters.sampled(found, groups)) for one, found in values.items()})


def _by_f1(marks: Sequence[Mark], groups: Mapping[str, str]) -> _Measured:
    import numpy as np

    known = [mark for mark in marks if mark.expected is not None]
    number = 1 + max((mark.expected or 0 for mark in known), default=-1)
    found = classes.by_candidate(known, number)
    reach = max((f_scores.furthest(one.expected) for _, one in found.values()), default=1.0)
    # Of all alike, so that what documents add differs only by the answers; of the best, whose lead is asked for.
    own = [one.f1 for candidate, (_, one) in found.items() if candidate != MAJORITY]
    middle = np.mean(sorted(own, key=np.mean)[-2:], axis=0) if own else np.zeros(number)
    cells: Cells = {}
    reached = {}
    for candidate, (documents, one) in found.items():
        for document, value in zip(documents, one.around(middle).tolist(), strict=True):
            cells.setdefault(document, {_CHECKS: {}})[_CHECKS][candidate] = value / reach
        reached[candidate] = classes.macro(one, documents, groups)
    return _Measured(cells, reached, reach)


def _by_candidate(cells: Cells) -> dict[str, dict[str, float]]:
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for document, judges in cells.items():
        for candidate, value in judges[_CHECKS].items():
            found[candidate][document] = value
    return found


def _score(mark: Mark) -> Score:
    return Score(
        document=mark.document,
        judge=_CHECKS,
        candidate=mark.candidate,
        repeat=mark.repeat,
        values={} if mark.value is None else {_VALUE.name: mark.value},
        fate="missing" if mark.value is None else "given",
    )


def _as_score(reached: PassRate | None) -> dict[str, float | None]:
    """The rate has the interval that it has wherever it is shown."""
    if reached is None:
        return {}
    return {"score": reached.share, "score_low": reached.low, "score_high": reached.high}


def _scaled(contrast: Contrast, reach: float) -> Contrast:
    def back(value: float) -> float:
        return rounded(max(-1.0, min(1.0, reach * value)))

    low, high = contrast.low, contrast.high
    return replace(
        contrast,
        lead=back(contrast.lead),
        low=None if low is None else back(low),
        high=None if high is None else back(high),
    )
