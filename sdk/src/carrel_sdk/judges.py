"""Judges: the passport of each, and the check that a judge can take. Fields that a newer service adds are ignored."""

from typing import Final
from urllib.parse import quote

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.configuration import Parameters
from carrel_sdk.ranking import JudgeAgreement, LongerText
from carrel_sdk.transport import Request

_CHECK_SECONDS: Final = 900.0
"""How long a check may be silent: its calls are made four at a time, and the answer comes after the last."""


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """A share of `of` things with its 95 % interval; each document has one voice."""

    share: float | None
    low: float | None
    high: float | None
    of: int
    documents: int


class Leniency(msgspec.Struct, frozen=True, kw_only=True):
    """How much higher a judge scores than other judges of the same answers, on scales from 0 to 1."""

    difference: float | None
    low: float | None
    high: float | None
    documents: int


class Passport(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge behaves. `first`: how often a word for a winner named the answer shown first; one half is no lean."""

    verdicts: int
    invalid: int
    consistent: Rate
    flips: Rate
    first: Rate
    longer: LongerText
    with_people: Rate
    leniency: Leniency


class TrapResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge did on the pairs with one trap: `none`, `length`, `position` or `orders`."""

    trap: str
    right: Rate


class JudgeCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge said on the built-in pairs; `cost` is in US dollars.

    It is finished when `asked` is `of`; a flip is right by half.
    """

    id: str
    model: str
    parameters: Parameters
    bench: str
    started_at: str
    finished_at: str | None
    asked: int
    of: int
    right: Rate
    traps: list[TrapResult]
    passport: Passport
    cost: str | None


class OwnFamilyLift(msgspec.Struct, frozen=True, kw_only=True):
    """How much higher a judge puts its own family than judges of other families do; `reason` says why it is unknown."""

    lift: float | None
    low: float | None
    high: float | None
    documents: int
    reason: str | None


class JudgeHealth(msgspec.Struct, frozen=True, kw_only=True):
    """How many of a judge's verdicts and scores can be used. `flagged`: more than one in ten was malformed."""

    judge: str
    agreed: int
    flips: int
    flips_to_first: int
    inconsistent: int
    invalid: int
    missing: int
    scores_given: int
    scores_invalid: int
    scores_missing: int
    invalid_share: float | None
    flagged: bool
    own_family_lift: OwnFamilyLift


class JudgePassport(msgspec.Struct, frozen=True, kw_only=True):
    """One model as a judge: over the newest finished runs (`in_runs`, `health`), and in its newest check.

    `agreement` is with each other judge of the same pairs.
    """

    model: str
    family: str | None
    runs: int
    in_runs: Passport | None
    health: JudgeHealth | None = None
    agreement: list[JudgeAgreement] = []
    cost_per_verdict: str | None
    check: JudgeCheck | None


class JudgePassports(msgspec.Struct, frozen=True):
    """Every model that judged or was checked, by name. `runs` is how many finished runs were read."""

    items: list[JudgePassport]
    runs: int = 0


class Judges:
    """The routes under `/evaluation/judges`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(self) -> list[JudgePassport]:
        """Every judge of the newest finished runs, and every judge that was checked."""
        return self._calls.get("/evaluation/judges", JudgePassports).items

    def get(self, model: str) -> JudgePassport:
        """The passport of one model."""
        return self._calls.get(f"/evaluation/judges/{quote(model, safe='/:')}", JudgePassport)

    def check(self, model: str, *, timeout_seconds: int = 120) -> JudgeCheck:
        """Have a judge compare the built-in pairs in both orders, and wait for the result. Costs 24 calls or more.

        If it ends early, nothing that was paid for is lost: call it again, and it goes on.

        Raises:
            Conflict: there is no key, or the provider refuses such a call.
            TryLater: a rate limit is reached, or the provider did not answer.
        """
        content = msgspec.json.encode({"judge": {"model": model, "timeout_seconds": timeout_seconds}})
        headers = {"Content-Type": "application/json"}
        request = Request(
            "POST", "/evaluation/judges/check", headers=headers, content=content, read_seconds=_CHECK_SECONDS
        )
        return self._calls.send(request).decode(JudgeCheck)
