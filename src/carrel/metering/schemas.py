"""What goes over the wire about metering. Costs are US dollars as decimal strings; null means unknown, never 0."""

from typing import Literal

import msgspec

from carrel.kit.clock import Time
from carrel.kit.ids import Id
from carrel.kit.money import DollarsText
from carrel.metering.calls import Outcome

Grouping = Literal["day", "model", "provider", "run", "phase"]


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over calls that have ended. `cost` adds up the known costs; the calls without one are `unknown_calls`.

    `charged` is what these calls took of the user's credits.
    """

    calls: int
    unknown_calls: int
    input_tokens: int
    cached_read_tokens: int
    cached_write_tokens: int
    output_tokens: int
    cost: DollarsText
    charged: str


class UsageItem(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one group. A field that was not grouped by is null; so is `run_id` of calls outside of runs.

    Where calls are grouped by model, those at another host are another group; `host` is null at the provider's own.
    """

    totals: Totals
    day: str | None = None
    model: str | None = None
    host: str | None = None
    provider: str | None = None
    run_id: Id | None = None
    phase: str | None = None


class UsageReport(msgspec.Struct, frozen=True):
    """The groups in order, and the total, which equals the sum of the groups to the millionth."""

    items: list[UsageItem]
    total: Totals


class CallRow(msgspec.Struct, frozen=True):
    """One attempt to call a model. Tokens are null if the provider did not report them.

    `host` is the host that was called, null if it is the provider's own. `price_id` names the price that was used;
    `told` means that the provider said itself what the call cost.
    `reserved` and `charged` are credits; they are null if no credits pay.
    `charged` is also null for a moment after a call whose cost is unknown, until it is decided who pays.
    """

    id: Id
    run_id: Id | None
    task_key: str | None
    phase: str | None
    attempt: int
    provider: str
    model: str
    host: str | None
    outcome: Outcome | Literal["running"]
    code: str | None
    input_tokens: int | None
    cached_read_tokens: int | None
    cached_write_tokens: int | None
    output_tokens: int | None
    price_id: str | None
    cost: DollarsText | None
    reserved: str | None
    charged: str | None
    latency_ms: int | None
    started_at: Time
    finished_at: Time | None
