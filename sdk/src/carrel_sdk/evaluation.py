"""Results over several finished runs. Fields that a newer service adds are ignored."""

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.ranking import Figures, HumanCheck, PassRate, PeopleVerdict, Statement


class BoardRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run on a leaderboard. `preset_id` is None if the run has no preset, or none any more."""

    id: str
    name: str
    finished_at: str | None = None
    preset_id: str | None = None


class BoardCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate of a leaderboard, by its label in the ranking; `runs` are those that it took part in, newest first.

    `passes` is how often it passes the checks of the newest run that makes any. `cost_per_answer` is in US dollars, and
    None if a cost is unknown, or if its answers existed before. `p95_latency_ms` needs 20 calls.
    """

    candidate: str
    model: str | None
    runs: list[str]
    answers: int
    delivered: int
    mean_words: float | None = None
    passes: PassRate | None = None
    cost_per_answer: str | None = None
    median_latency_ms: int | None = None
    p95_latency_ms: int | None = None


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """Another leaderboard. Request it with the id of one of its runs; `labels` are those of its candidates."""

    runs: list[BoardRun]
    documents: int
    judges: list[str]
    labels: list[str] = []


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that share inputs and judges, ranked as if they were one. Never show the verdict without `note`.

    `people` is what people would say, from the votes in all of these runs. `left_out` older runs are on no leaderboard.
    """

    runs: list[BoardRun]
    documents: int
    judges: list[str]
    verdict: Statement | None
    ranking: Figures | None
    note: str | None
    others: list[Board]
    candidates: list[BoardCandidate] = []
    left_out: int = 0
    human: HumanCheck | None = None
    people: PeopleVerdict | None = None


class Evaluation:
    """The routes under `/evaluation` that only read."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def leaderboard(self, *, like: str | None = None) -> Leaderboard:
        """The runs with the same inputs and judges as the run `like`, or as the newest finished run."""
        return self._calls.get("/evaluation/leaderboard", Leaderboard, {"like": like})
