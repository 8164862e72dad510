"""What one call took: time, cost, and what the limiter learned, however it ended."""

from decimal import Decimal

import pytest

from carrel.providers.base import Answer, ProviderError, Usage
from carrel.providers.prices import Price, PriceTier
from carrel.rate_limits.limiter import Limiter
from carrel.rate_limits.schemas import RateLimitIn
from carrel.single_calls import metered
from carrel.single_calls.metered import MeteredCall
from tests.support.clock import FakeClock

ONE = Decimal(1)
PRICE = Price("p", "s", None, (PriceTier(0, ONE, ONE, ONE, 2 * ONE),))
USAGE = Usage(input_tokens=10, cached_tokens=3, output_tokens=5)
REFILLED = 25
"""Tokens that come back in a second and a half, at a thousand a minute."""
UNBILLED = ProviderError("provider-key-rejected", retryable=False, unbilled=True)
OVERLOADED = ProviderError("provider-overloaded", retryable=True)
LIMITED = ProviderError("rate-limited", retryable=True, retry_after_seconds=30.0, unbilled=True)


class MeteredCalls:
    """One user with limits at two providers, and a call that takes a second and a half."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        limits = RateLimitIn(tokens_per_minute=1_000, concurrency=4)
        self.limiter = Limiter(self.clock, {"openai": limits, "local": limits})

    async def call(
        self, outcome: Answer | Exception, price: Price | None = PRICE, model: str = "openai:gpt-5-mini"
    ) -> MeteredCall:
        async def work() -> Answer:
            self.clock.advance(1.5)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        return await metered.call(work(), user="ada", model=model, price=price, limiter=self.limiter, clock=self.clock)

    def tokens_left(self) -> int:
        return next(one.left for one in self.limiter.standings("ada", "openai") if one.name == "tokens")


def said(usage: Usage | None) -> Answer:
    return Answer(text="Yes.", finish_reason="stop", usage=usage)


@pytest.mark.parametrize(
    ("outcome", "price", "model", "cost_micros"),
    [
        (said(USAGE), PRICE, "openai:gpt-5-mini", 23),
        (said(USAGE), None, "openai:gpt-5-mini", None),
        (said(None), PRICE, "openai:gpt-5-mini", None),
        (said(None), None, "local:lexrank", 0),
        (OVERLOADED, PRICE, "openai:gpt-5-mini", None),
        (OVERLOADED, PRICE, "local:lexrank", 0),
        (UNBILLED, PRICE, "openai:gpt-5-mini", 0),
        (UNBILLED, None, "openai:gpt-5-mini", 0),
    ],
)
async def test_a_cost_is_known_where_price_and_tokens_are_and_where_nothing_was_billed(
    outcome: Answer | ProviderError, price: Price | None, model: str, cost_micros: int | None
) -> None:
    made = await MeteredCalls().call(outcome, price, model)
    assert made == MeteredCall(outcome, cost_micros, 1_500)
    assert made.usage == (outcome.usage if isinstance(outcome, Answer) else None)


async def test_the_limiter_learns_how_many_tokens_an_answer_took() -> None:
    calls = MeteredCalls()
    calls.limiter.take("ada", "openai")
    before = calls.tokens_left()
    await calls.call(said(Usage(input_tokens=150, cached_tokens=30, output_tokens=20)))
    calls.limiter.release("ada", "openai", used=True)
    # The thousand that the call was expected to take are free again, less the 200 that it took.
    assert before == 0
    assert calls.tokens_left() == 1_000 - 200 + REFILLED


async def test_the_limiter_learns_that_the_provider_wants_to_be_left_alone() -> None:
    calls = MeteredCalls()
    calls.limiter.take("ada", "openai")
    await calls.call(LIMITED)
    calls.limiter.release("ada", "openai", used=True)
    assert calls.limiter.held_seconds("ada", "openai") == pytest.approx(30.0)
    assert calls.limiter.held_seconds("somebody else", "openai") == 0


async def test_what_is_no_error_of_the_provider_goes_through_and_nobody_learns_of_it() -> None:
    calls = MeteredCalls()
    calls.limiter.take("ada", "openai")
    with pytest.raises(ZeroDivisionError):
        await calls.call(ZeroDivisionError())
    assert calls.tokens_left() == REFILLED
    assert calls.limiter.held_seconds("ada", "openai") == 0
