"""The results of a run by the values of one column: shares and pass rates for each part of its rows. Pure.

A part has fewer rows than the run, and there are many parts, so that nothing here decides anything.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from carrel.evaluation import records
from carrel.evaluation.passing import CheckColumn, CheckResults
from carrel.evaluation.ranking import cells, missing, scores, shares, stopping
from carrel.evaluation.ranking.stopping import Look
from carrel.evaluation.records import Score, Verdict
from carrel.evaluation.statistics import clusters, intervals
from carrel.evaluation.statistics.intervals import Estimate, rounded, rounded_or_none
from carrel.evaluation.statistics.rates import PassRate
from carrel.evaluation.words import counted
from carrel.providers.base import Criterion

FEW_ROWS: Final = 20
"""A part with fewer rows says little; `notes` counts such parts."""

PartKind = Literal["value", "none", "others"]
Basis = Literal["comparisons", "scores", "none"]


class SplitRow(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate on the rows of a part.

    `preferred` is its win share, or its mean score where nothing was compared; null where no judge said anything.
    `passes` is how often it passes every required check, or the mean of all checks where none is required; null
    without checks. `rates` has the rate of each check.
    """

    candidate: str
    preferred: PassRate | None
    passes: PassRate | None
    rates: tuple[PassRate, ...]


class SplitPart(msgspec.Struct, frozen=True, kw_only=True):
    """The rows with one value; or those without a value (`none`); or those of all rarer values together (`others`).

    `values` counts the values. Of the `planned` verdicts, `missing` ones were never said or could not be read.
    """

    kind: PartKind
    value: str | None
    values: int
    documents: int
    few: bool
    planned: int
    missing: int
    rows: tuple[SplitRow, ...]


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a run by the values of a column. Exploratory: `notes` say why.

    `columns` are those that the run can be split by. `checks` are those of `rates`.
    """

    column: str | None
    columns: tuple[str, ...]
    basis: Basis
    checks: tuple[CheckColumn, ...]
    parts: tuple[SplitPart, ...]
    notes: tuple[str, ...]


class PartEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What the judges said of the rows of a part; `groups` has the group of rows that belong together."""

    verdicts: Sequence[Verdict]
    scores: Sequence[Score]
    groups: dict[str, str]


class Judging(msgspec.Struct, frozen=True, kw_only=True):
    """How the run was judged: the same for all of its parts."""

    candidates: tuple[str, ...]
    comparison_weights: dict[str, float]
    scoring_weights: dict[str, float]
    criteria: tuple[Criterion, ...]
    look: Look | None

    @property
    def basis(self) -> Basis:
        """What shares are of."""
        if self.comparison_weights:
            return "comparisons"
        return "scores" if self.scoring_weights else "none"


def part(
    kind: PartKind,
    value: str | None,
    values: int,
    documents: int,
    judging: Judging,
    said: PartEvidence,
    checks: CheckResults | None,
) -> SplitPart:
    """The results on the rows of a part. `documents` counts its rows, also those of the same text."""
    heard = [one for one in said.verdicts if judging.comparison_weights.get(one.judge, 1.0) > 0]
    if judging.basis == "comparisons":
        found = _compared(judging, heard, said.groups)
    elif judging.basis == "scores":
        found = _scored(judging, said)
    else:
        found = [None] * len(judging.candidates)
    by_candidate = {} if checks is None else {row.candidate: row for row in checks.rows}
    rows = []
    for candidate, preferred in zip(judging.candidates, found, strict=True):
        rates = by_candidate.get(candidate)
        rows.append(
            SplitRow(
                candidate=candidate,
                preferred=preferred,
                passes=None if rates is None else rates.required or rates.mean,
                rates=() if rates is None else rates.rates,
            )
        )
    return SplitPart(
        kind=kind,
        value=value,
        values=values,
        documents=documents,
        few=documents < FEW_ROWS,
        planned=len(heard),
        missing=sum(1 for one in heard if records.fate(one) in ("missing", "invalid")),
        rows=tuple(rows),
    )


def _compared(judging: Judging, heard: Sequence[Verdict], groups: dict[str, str]) -> list[PassRate | None]:
    """Win shares as in the ranking, with intervals that also reach as far as verdicts are missing."""
    if not heard:
        return [None] * len(judging.candidates)
    arrays = cells.gathered(judging.candidates, heard, judging.comparison_weights, groups)
    table = cells.table_of(arrays, cells.averaged(arrays))
    by_opponent = judging.look is not None and bool(judging.look.beaten)
    found = shares.estimates(table, by_opponent=by_opponent)
    reaches = missing.reaches(arrays, by_opponent=by_opponent)
    p = intervals.probability(stopping.part_of(judging.look))
    documents = len(arrays.documents)
    return [
        _rate(found[place], p, documents, reaches[place]) if place in found else None
        for place in range(len(judging.candidates))
    ]


def _scored(judging: Judging, said: PartEvidence) -> list[PassRate | None]:
    weights = judging.scoring_weights
    found = scores.tabulate(said.scores, judging.criteria, weights)
    rates: list[PassRate | None] = []
    for candidate in judging.candidates:
        values = scores.on_documents(found, candidate, weights)
        sample = clusters.sampled(values, said.groups)
        rates.append(_rate(intervals.share(*sample), intervals.probability(), len(found)) if values else None)
    return rates


def _rate(found: Estimate, p: float, documents: int, reach: tuple[float, float] = (0.0, 0.0)) -> PassRate:
    low, high = found.bounds(p, 0.0, 1.0)
    return PassRate(
        share=rounded(found.mean),
        low=rounded_or_none(None if low is None else max(0.0, low - reach[0])),
        high=rounded_or_none(None if high is None else min(1.0, high + reach[1])),
        documents=found.documents,
        missing=documents - found.documents,
    )


def notes(parts: Sequence[SplitPart]) -> tuple[str, ...]:
    """Why nothing may be concluded from a split alone."""
    if not parts:
        return ()
    shown = [rate for one in parts for row in one.rows for rate in (row.preferred, row.passes) if rate]
    certain = sum(1 for rate in shown if rate.low is not None)
    told = ["Exploratory: the run compares candidates on all its rows. A part may lead another way by chance."]
    if certain > 1:
        missed = max(1, round(0.05 * certain))
        told.append(
            f"{certain:,} intervals are shown, and each holds at 95 % by itself: about {missed:,} of them would miss"
            " by chance even if no part were different."
        )
    few = sum(1 for one in parts if one.few)
    if few:
        of = "Every part has" if few == len(parts) else f"{counted(few, 'part')} {'has' if few == 1 else 'have'}"
        says = "says" if few in (1, len(parts)) else "say"
        told.append(f"{of} fewer than {FEW_ROWS} rows and {says} little.")
    return tuple(told)
