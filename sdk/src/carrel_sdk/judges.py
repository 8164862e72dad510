"""Judges: the passport of each, and the check that a judge can take. Fields that a newer service adds are ignored."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.models import DefaultJudges, JudgeCheck, JudgeCheckCost, JudgePassport, JudgePassports
from carrel_sdk.transport import Request

_CHECK_SECONDS: Final = 900.0
"""How long a check may be silent: its calls are made four at a time, and the answer comes after the last."""


class Judges:
    """The routes under `/evaluation/judges`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(self) -> list[JudgePassport]:
        """Every judge of the newest finished runs, and every judge that was checked."""
        return self._calls.get("/evaluation/judges", JudgePassports).items

    def get(self, model: str, *, host: str | None = None) -> JudgePassport:
        """The passport of one model, at this host or else at the one that its stored key names."""
        return self._calls.get(f"/evaluation/judges/{quote(model, safe='/:')}", JudgePassport, {"host": host})

    def default(self, candidates: Sequence[str] = ()) -> DefaultJudges:
        """Who judges these candidates, by their models, unless the user chooses others; with nobody, why."""
        return self._calls.get("/evaluation/judges/default", DefaultJudges, {"candidate": [*candidates]})

    def check_cost(self, model: str) -> JudgeCheckCost:
        """What a check of this judge costs, before anything is spent."""
        return self._calls.get("/evaluation/judges/check-cost", JudgeCheckCost, {"model": model})

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
