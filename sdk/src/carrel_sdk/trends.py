"""One candidate over the runs of a preset. Fields that a newer service adds are ignored."""

import msgspec

from carrel_sdk.gate import Change
from carrel_sdk.ranking import PassRate


class CheckRate(msgspec.Struct, frozen=True, kw_only=True):
    """How often the candidate passes one check."""

    check: str
    rate: PassRate


class TrendPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `preferred` is the candidate's win share or mean score in it, `against` how far it is from the baseline.

    `changed` names what is not as in the run before, `fell` the checks that are clearly below the last good run before.
    `good` is None if nobody can say. Costs are in US dollars.
    """

    run: str
    name: str
    created_at: str
    changed: list[str]
    documents: int
    outcome: str
    basis: str
    cost: str
    unknown_calls: int
    finished_at: str | None = None
    data_set_version: int | None = None
    best: str | None = None
    preferred: PassRate | None = None
    passes: PassRate | None = None
    checks: list[CheckRate] = []
    cost_per_answer: str | None = None
    median_latency_ms: int | None = None
    gate: str | None = None
    against: Change | None = None
    fell: list[str] = []
    good: bool | None = None


class Trends(msgspec.Struct, frozen=True, kw_only=True):
    """The newest finished runs, the newest first. `rule` says when one is good, `last_good` is the newest such run."""

    preset_id: str
    candidate: str | None
    baseline: str | None
    margin: float
    candidates: list[str]
    checks: list[str]
    points: list[TrendPoint]
    last_good: str | None
    rule: str
    left_out: int
