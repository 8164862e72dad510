"""Written by `sdk/generate.py` from `carrel_sdk.evaluation`. Change that, and run it again."""

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.models import Leaderboard


class AsyncEvaluation:
    """The routes under `/evaluation` that only read."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def leaderboard(self, *, like: str | None = None) -> Leaderboard:
        """The runs with the same inputs and judges as the run `like`, or as the newest finished run."""
        return await self._calls.get("/evaluation/leaderboard", Leaderboard, {"like": like})
