"""One candidate over the runs of a preset, and the last run in which it was good. Pure."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from carrel.evaluation.statistics.noninferiority import Change, Outcome
from carrel.evaluation.statistics.rates import PassRate
from carrel.evaluation.verdict import Outcome as VerdictOutcome
from carrel.kit.clock import Time
from carrel.kit.money import DollarsText
from carrel.providers.endings import ModelEnding
from carrel.runs.model.setup import RunId
from carrel.vault.ids import PresetId

Aspect = Literal["documents", "answers", "prompts", "candidates", "judging", "checks"]
Basis = Literal["comparisons", "scores", "checks", "answers"]


class CheckRate(msgspec.Struct, frozen=True, kw_only=True):
    """How often the candidate passes one check, by its name."""

    check: str
    rate: PassRate


class TrendPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One run. What it does not know of the candidate is null, and so is everything if the candidate is not in it.

    `changed` names what is not as in the run before; `answers` are those that existed before the run. `outcome` is that
    of the verdict, which names `best` if it is decided. `preferred` is the candidate's win share in this run, or its
    mean score where nothing was compared: with other candidates in the run it means something else. `passes` is how
    often it passes every required check, or the mean of all checks. `cost` is the whole run's. `gate` says whether it
    is worse than the baseline, and `against` by how much, by judges. `fell` names the checks that are clearly below the
    last good run before. `good` follows from `gate` or from `fell`; null if nobody can say.
    """

    run: RunId
    name: str
    created_at: Time
    finished_at: Time | None
    changed: tuple[Aspect, ...]
    data_set_version: int | None
    documents: int
    outcome: VerdictOutcome
    best: str | None
    basis: Basis
    preferred: PassRate | None = None
    passes: PassRate | None = None
    checks: tuple[CheckRate, ...] = ()
    cost: DollarsText
    unknown_calls: int
    cost_per_answer: DollarsText | None = None
    median_latency_ms: int | None = None
    gate: Outcome | None = None
    against: Change | None = None
    fell: tuple[str, ...] = ()
    good: bool | None = None


class Trends(msgspec.Struct, frozen=True, kw_only=True):
    """The newest finished runs of a preset, the newest first, and what each says of one candidate.

    `rule` says in words when a run is good, and `last_good` is the newest such run. `candidates` are all labels in
    these runs, `checks` the names of all checks. `left_out` older runs are not shown. `endings` are models of the
    newest run that are switched off within 60 days, or were.
    """

    preset_id: PresetId
    candidate: str | None
    baseline: str | None
    margin: float
    candidates: tuple[str, ...]
    checks: tuple[str, ...]
    points: tuple[TrendPoint, ...]
    last_good: RunId | None
    rule: str
    left_out: int
    endings: tuple[ModelEnding, ...] = ()


def rule(candidate: str | None, baseline: str | None, margin: float, *, checked: bool) -> str:
    """When a run is good, in words."""
    if baseline is not None:
        points = f"{100 * margin:g} points"
        return (
            f"A run is good if it shows that {candidate} is better than {baseline}, or not worse by {points} or more,"
            " by judges and by checks."
        )
    if checked:
        return (
            f"A run is good if no check of {candidate} is clearly below the last good run before it: the intervals of"
            " 95 % do not overlap. The first run with checks counts as good."
        )
    return "Without a baseline and without checks, nobody can say which run is good."


def judged(points: Sequence[TrendPoint], *, by_gate: bool) -> tuple[TrendPoint, ...]:
    """The points, the newest first, with what is good and what fell."""
    if by_gate:
        good = {"better": True, "not_worse": True, "worse": False, "undecided": None}
        return tuple(replace(one, good=None if one.gate is None else good[one.gate]) for one in points)
    found: list[TrendPoint] = []
    last: TrendPoint | None = None
    for one in reversed(points):
        rates = _rates(one)
        if not any(rate.share is not None for rate in rates.values()):
            found.append(one)
            continue
        before = {} if last is None else _rates(last)
        fell = tuple(name for name, rate in rates.items() if name in before and _is_below(rate, before[name]))
        point = replace(one, fell=fell, good=not fell)
        if point.good:
            last = point
        found.append(point)
    return tuple(reversed(found))


def last_good(points: Sequence[TrendPoint]) -> RunId | None:
    """The newest run that is good."""
    return next((one.run for one in points if one.good), None)


def _rates(point: TrendPoint) -> dict[str, PassRate]:
    """What may fall: each check by itself."""
    return {one.check: one.rate for one in point.checks}


def _is_below(rate: PassRate, before: PassRate) -> bool:
    return rate.high is not None and before.low is not None and rate.high < before.low
