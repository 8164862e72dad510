"""Written by `sdk/generate.py` from `carrel_sdk.judges`. Change that, and run it again."""

from collections.abc import Sequence
from urllib.parse import quote

import msgspec

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.judges import _CHECK_SECONDS
from carrel_sdk.models import DefaultJudges, JudgeCheck, JudgeCheckCost, JudgePassport, JudgePassports
from carrel_sdk.transport import Request


class AsyncJudges:
    """The routes under `/evaluation/judges`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def list(self) -> list[JudgePassport]:
        """Every judge of the newest finished runs, and every judge that was checked."""
        return (await self._calls.get("/evaluation/judges", JudgePassports)).items

    async def get(self, model: str, *, host: str | None = None) -> JudgePassport:
        """The passport of one model, at this host or else at the one that its stored key names."""
        return await self._calls.get(f"/evaluation/judges/{quote(model, safe='/:')}", JudgePassport, {"host": host})

    async def default(self, candidates: Sequence[str] = ()) -> DefaultJudges:
        """Who judges these candidates, by their models, unless the user chooses others; with nobody, why."""
        return await self._calls.get("/evaluation/judges/default", DefaultJudges, {"candidate": [*candidates]})

    async def check_cost(self, model: str) -> JudgeCheckCost:
        """What a check of this judge costs, before anything is spent."""
        return await self._calls.get("/evaluation/judges/check-cost", JudgeCheckCost, {"model": model})

    async def check(self, model: str, *, timeout_seconds: int = 120) -> JudgeCheck:
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
        return (await self._calls.send(request)).decode(JudgeCheck)
