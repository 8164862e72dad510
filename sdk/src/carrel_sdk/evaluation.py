"""Results over several finished runs. Fields that a newer service adds are ignored."""

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.ranking import Figures, HumanCheck, PeopleVerdict, Statement


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
    """Runs that share inputs and judges, ranked as if they were one. Never show the verdict without `note`.

    `people` is what people would say, from the votes in all of these runs.
    """

    runs: list[BoardRun]
    documents: int
    judges: list[str]
    verdict: Statement | None
    ranking: Figures | None
    note: str | None
    others: list[Board]
    human: HumanCheck | None = None
    people: PeopleVerdict | None = None


class Evaluation:
    """The routes under `/evaluation` that only read."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def leaderboard(self, *, like: str | None = None) -> Leaderboard:
        """The runs with the same inputs and judges as the run `like`, or as the newest finished run."""
        return self._calls.get("/evaluation/leaderboard", Leaderboard, {"like": like})
