"""One call of a model, measured: how long it took, what it cost, and what the limiter learns from it.

The caller takes a permit before the call and records the call before and after it.
"""

from collections.abc import Awaitable
from typing import NamedTuple

from carrel.kit import logs, meters, traces
from carrel.kit.clock import Clock
from carrel.kit.money import MICROS
from carrel.providers.base import Answer, ProviderError, Usage
from carrel.providers.catalogue import is_own_name
from carrel.providers.prices import Price
from carrel.providers.registry import is_free, lane_of, needs_key, provider_of
from carrel.rate_limits.limiter import Limiter


class MeteredCall(NamedTuple):
    """How a call ended. `cost_micros` is `None` where the price or the tokens are unknown."""

    outcome: Answer | ProviderError
    cost_micros: int | None
    latency_ms: int
    is_told: bool = False
    """The cost is the provider's own word."""

    @property
    def usage(self) -> Usage | None:
        """The tokens as the provider counted them."""
        return self.outcome.usage if isinstance(self.outcome, Answer) else None


async def call(
    work: Awaitable[Answer],
    *,
    user: str,
    model: str,
    price: Price | None,
    limiter: Limiter,
    clock: Clock,
    by_list: bool = False,
) -> MeteredCall:
    """Await `work`, which calls `model` (`provider:name`) at this `price`, and report its end to the limiter.

    `by_list`: the price decides what the call costs, also where the provider says so itself, because credits pay.
    A `ProviderError` is an outcome. Any other exception of `work` passes through, and the limiter hears nothing of it.
    """
    with traces.span("call", "CLIENT"):
        lane, begun = lane_of(model), clock.monotonic()
        outcome: Answer | ProviderError
        try:
            outcome = await work
        except ProviderError as error:
            # Its traceback would keep this frame, which keeps the error, and with it what the call has read.
            outcome = error.with_traceback(None)
            limiter.failed(user, lane, error, begun)
        else:
            usage = outcome.usage
            limiter.answered(user, lane, None if usage is None else usage.read_tokens + usage.output_tokens)
        seconds = clock.monotonic() - begun
        latency_ms = round(seconds * 1000)
        is_paid = not is_free(model) and (price is None or not price.is_nothing)
        if is_paid and not by_list and isinstance(outcome, Answer) and outcome.told_micros is not None:
            made = MeteredCall(outcome, outcome.told_micros, latency_ms, is_told=True)
        else:
            made = MeteredCall(outcome, _cost_micros(outcome, price) if is_paid else 0, latency_ms)
        _count(made, model, seconds, by_list=by_list)
        return made


def _count(made: MeteredCall, model: str, seconds: float, *, by_list: bool) -> None:
    provider = provider_of(model)
    if is_own_name(provider) and needs_key(model):
        # A server of a user's own has a name that the user chose.
        provider = "own"
    code = made.outcome.code if isinstance(made.outcome, ProviderError) else "answered"
    traces.note(f"call {provider}", {"carrel.provider": provider, "carrel.outcome": code}, failed=code != "answered")
    meters.CALLS.labels(provider, code).inc()
    meters.CALL_SECONDS.labels(provider).observe(seconds)
    meters.COST.labels(provider).inc((made.cost_micros or 0) / MICROS)
    if by_list and code == "provider-key-rejected":
        logs.warning("system-key-rejected", provider=provider)


def _cost_micros(outcome: Answer | ProviderError, price: Price | None) -> int | None:
    if isinstance(outcome, ProviderError):
        return 0 if outcome.unbilled else None
    return None if price is None or outcome.usage is None else price.cost_micros(outcome.usage)
