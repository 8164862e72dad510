"""Results over several finished runs. Fields that a newer service adds are ignored."""

from carrel_sdk.calls import Calls
from carrel_sdk.models import Leaderboard


class Evaluation:
    """The routes under `/evaluation` that only read."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def leaderboard(self, *, like: str | None = None) -> Leaderboard:
        """The runs with the same inputs and judges as the run `like`, or as the newest finished run."""
        return self._calls.get("/evaluation/leaderboard", Leaderboard, {"like": like})
