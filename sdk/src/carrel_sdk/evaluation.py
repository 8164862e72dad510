"""Results over several finished runs. Fields that a newer service adds are ignored."""

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.ranking import Figures, HumanCheck, JudgeAgreement, Statement


class BoardRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run on a leaderboard."""

    id: str
    name: str
    finished_at: str | None = None


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """Another leaderboard. Request it with the id of one of its runs."""

    runs: list[BoardRun]
    documents: int
    judges: list[str]


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that share inputs and judges, ranked as if they were one. Never show the verdict without `note`."""

    runs: list[BoardRun]
    documents: int
    judges: list[str]
    verdict: Statement | None
    ranking: Figures | None
    note: str | None
    others: list[Board]
    human: HumanCheck | None = None


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


class JudgeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One judge over `runs` runs."""

    judge: str
    family: str | None
    runs: int
    health: JudgeHealth
    agreement: list[JudgeAgreement]


class _Records(msgspec.Struct, frozen=True):
    items: list[JudgeRecord]
    runs: int = 0


class Evaluation:
    """The routes under `/evaluation` that only read."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def leaderboard(self, *, like: str | None = None) -> Leaderboard:
        """The runs with the same inputs and judges as the run `like`, or as the newest finished run."""
        return self._calls.get("/evaluation/leaderboard", Leaderboard, {"like": like})

    def judges(self) -> list[JudgeRecord]:
        """Every judge of the newest finished runs, ordered by name."""
        return self._calls.get("/evaluation/judges", _Records).items
