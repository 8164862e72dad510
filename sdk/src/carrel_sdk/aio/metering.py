"""Written by `sdk/generate.py` from `carrel_sdk.metering`. Change that, and run it again."""

from collections.abc import AsyncIterator, Sequence

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.models import CallRow, UsageReport


class AsyncMetering:
    """The routes under `/metering`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def usage(
        self, *, since: str | None = None, until: str | None = None, group_by: Sequence[str] = ()
    ) -> UsageReport:
        """Sums over the days from `since` on and before `until` (`2026-11-21`), by day, model, provider, run, phase."""
        query = {"from": since, "to": until, "group_by": ",".join(group_by) or None}
        return await self._calls.get("/metering/usage", UsageReport, query)

    def calls(self, *, run_id: str | None = None, model: str | None = None) -> AsyncIterator[CallRow]:
        """Every attempt to call a model, newest first."""
        return self._calls.each("/metering/calls", CallRow, {"run_id": run_id, "model": model})
