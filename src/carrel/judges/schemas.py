"""What goes over the wire about judges."""

from typing import Literal

import msgspec

from carrel.evaluation.judges.agreement import JudgeAgreement
from carrel.evaluation.judges.health import JudgeHealth
from carrel.evaluation.judges.passport import Passport, Rate
from carrel.http.requests.schema import In
from carrel.judges.bench import Trap
from carrel.kit.clock import Time
from carrel.kit.ids import Id
from carrel.kit.money import DollarsText
from carrel.providers.base import Parameters
from carrel.single_calls.schemas import SingleJudge

Grounds = Literal["check", "class", "demonstration"]


class CheckIn(In, frozen=True):
    """The judge to be checked."""

    judge: SingleJudge


class TrapResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge did on the pairs with one trap; without a lean it is right in both orders."""

    trap: Trap
    right: Rate


class JudgeCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge said on the built-in pairs. `asked` words of `of` are there; it is finished when all are.

    `host` is the host that answered, null if it is the provider's own.
    `right` is the agreement with the known better answers: a judge that flips is right by half. A finished check is
    `passed` with nine of ten words right, of all that were asked for. `cost` is null where a call's cost is unknown.
    """

    id: Id
    model: str
    host: str | None
    parameters: Parameters
    bench: str
    started_at: Time
    finished_at: Time | None
    passed: bool | None
    asked: int
    of: int
    right: Rate
    traps: list[TrapResult]
    passport: Passport
    cost: DollarsText | None


class JudgeCheckCost(msgspec.Struct, frozen=True, kw_only=True):
    """What a check of this judge costs: `likely` with short replies, `most` if every reply is as long as it may be.

    Both are null where the price is not known. A judge that thinks for long costs more than is likely.
    """

    model: str
    host: str | None
    calls: int
    likely: DollarsText | None
    most: DollarsText | None


class JudgePassport(msgspec.Struct, frozen=True, kw_only=True):
    """One model at one host as a judge: over the newest finished runs, and in its newest check.

    `host` is null if it is the provider's own.
    `in_runs` and `health` are null if it judged in none of `runs`. `agreement` is with each other judge of the same
    pairs. `cost_per_verdict` is what both orders cost, re-asks included.
    """

    model: str
    host: str | None
    family: str | None
    runs: int
    in_runs: Passport | None
    health: JudgeHealth | None
    agreement: list[JudgeAgreement]
    cost_per_verdict: DollarsText | None
    check: JudgeCheck | None


class JudgePassports(msgspec.Struct, frozen=True):
    """Every model that judged or was checked, by name and host. `runs` is how many finished runs were read."""

    items: list[JudgePassport]
    runs: int


class DefaultJudge(msgspec.Struct, frozen=True, kw_only=True):
    """A model that judges unless the user chooses others.

    `grounds` say why: it was right in the part `right` of its check, or a model of its class, which was `measured`, was
    right in that part of the pairs of LLMBar-Natural, as `source` says. A built-in judge is a `demonstration`.
    """

    model: str
    host: str | None
    family: str
    grounds: Grounds
    right: float | None
    measured: str | None
    source: str | None


class DefaultJudges(msgspec.Struct, frozen=True, kw_only=True):
    """Who judges these candidates by default, and a sentence that says why, or why nobody is good enough."""

    judges: list[DefaultJudge]
    sentence: str
