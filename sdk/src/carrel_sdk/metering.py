"""What calls of models took and cost. Costs are US dollars as decimal strings; `None` means unknown, never 0."""

from collections.abc import Iterator, Sequence

import msgspec

from carrel_sdk.calls import Calls


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over calls that have ended.

    `cost` adds up the known costs in US dollars; the calls without one are `unknown_calls`. `charged` is credits.
    """

    calls: int
    unknown_calls: int
    input_tokens: int
    cached_read_tokens: int
    cached_write_tokens: int
    output_tokens: int
    cost: str
    charged: str


class UsageItem(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one group; what was not grouped by is `None`."""

    totals: Totals
    day: str | None = None
    model: str | None = None
    provider: str | None = None
    run_id: str | None = None
    phase: str | None = None


class Usage(msgspec.Struct, frozen=True):
    """Groups in their order, and the sum of all."""

    items: list[UsageItem]
    total: Totals


class CallRow(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to call a model; `cost` is US dollars, `reserved` and `charged` are credits."""

    id: str
    run_id: str | None
    task_key: str | None
    phase: str | None
    attempt: int
    provider: str
    model: str
    outcome: str
    code: str | None
    input_tokens: int | None
    cached_read_tokens: int | None
    cached_write_tokens: int | None
    output_tokens: int | None
    price_id: str | None
    cost: str | None
    reserved: str | None
    charged: str | None
    latency_ms: int | None
    started_at: str
    finished_at: str | None


class WriteOffSum(msgspec.Struct, frozen=True):
    """Calls of which the host bore a part, and the credits that nobody was charged for them."""

    calls: int
    credits: str


class WriteOff(WriteOffSum, frozen=True, kw_only=True):
    """What the host bore on one UTC day."""

    day: str


class WriteOffs(msgspec.Struct, frozen=True):
    """What the host bore by UTC day, newest first, and in all."""

    items: list[WriteOff]
    total: WriteOffSum


class Metering:
    """The routes under `/metering`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def usage(self, *, since: str | None = None, until: str | None = None, group_by: Sequence[str] = ()) -> Usage:
        """Sums over the days from `since` on and before `until` (`2026-11-21`), by day, model, provider, run, phase."""
        query = {"from": since, "to": until, "group_by": ",".join(group_by) or None}
        return self._calls.get("/metering/usage", Usage, query)

    def calls(self, *, run_id: str | None = None, model: str | None = None) -> Iterator[CallRow]:
        """Every attempt to call a model, newest first."""
        return self._calls.each("/metering/calls", CallRow, {"run_id": run_id, "model": model})
