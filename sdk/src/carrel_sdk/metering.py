"""What calls of models took and cost. Costs are US dollars as decimal strings; `None` means unknown, never 0."""

from collections.abc import Iterator, Sequence

from carrel_sdk.calls import Calls
from carrel_sdk.models import CallRow, UsageReport


class Metering:
    """The routes under `/metering`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def usage(self, *, since: str | None = None, until: str | None = None, group_by: Sequence[str] = ()) -> UsageReport:
        """Sums over the days from `since` on and before `until` (`2026-11-21`), by day, model, provider, run, phase."""
        query = {"from": since, "to": until, "group_by": ",".join(group_by) or None}
        return self._calls.get("/metering/usage", UsageReport, query)

    def calls(self, *, run_id: str | None = None, model: str | None = None) -> Iterator[CallRow]:
        """Every attempt to call a model, newest first."""
        return self._calls.each("/metering/calls", CallRow, {"run_id": run_id, "model": model})
