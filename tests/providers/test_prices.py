"""What calls cost: exact to the millionth, rounded up, and unknown where nobody knows."""

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.providers import registry
from carrel.providers.base import Usage
from carrel.providers.prices import Price, PriceTier, context_tokens, price_of

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()
TOKENS = st.integers(0, 3_000_000)
RATE = st.decimals(0, 1_000, places=6)


def test_the_parts_of_a_call_are_priced_each_by_itself() -> None:
    price = Price("p", "s", None, (PriceTier(0, Decimal("0.25"), Decimal("0.025"), Decimal("0.3125"), Decimal(2)),))
    usage = Usage(input_tokens=100, cached_tokens=1_000, written_tokens=16, output_tokens=7)
    assert price.cost_micros(usage) == 25 + 25 + 5 + 14
    assert price.cost_micros(Usage(input_tokens=1)) == 1, "what costs something is never free"
    assert price.cost_micros(Usage()) == 0


def test_a_long_prompt_has_its_own_rates_for_all_of_it() -> None:
    one, two = Decimal(1), Decimal(2)
    price = Price("p", "s", None, (PriceTier(0, one, one, one, one), PriceTier(200, two, two, two, two)))
    assert price.cost_micros(Usage(input_tokens=150, cached_tokens=50, output_tokens=1)) == 201
    assert price.cost_micros(Usage(input_tokens=150, cached_tokens=51, output_tokens=1)) == 404


@given(st.lists(RATE, min_size=4, max_size=4), st.lists(TOKENS, min_size=4, max_size=4))
def test_the_cost_is_the_exact_sum_rounded_up_and_never_more_than_the_most(
    rates: list[Decimal], tokens: list[int]
) -> None:
    price = Price("p", "s", None, (PriceTier(0, *rates),))
    usage = Usage(input_tokens=tokens[0], cached_tokens=tokens[1], written_tokens=tokens[2], output_tokens=tokens[3])
    exact = sum((Fraction(rate) * count for rate, count in zip(rates, tokens, strict=True)), Fraction())
    assert 0 <= price.cost_micros(usage) - exact < 1
    assert price.cost_micros(usage) <= price.most_micros(usage.read_tokens, usage.output_tokens)


@pytest.mark.parametrize("model", ["openai:no-such-model-0", "ollama:llama3", "vllm:gpt-5-mini", "nobody:x", "openai:"])
def test_what_nobody_knows_is_unknown(model: str) -> None:
    assert price_of(model, NOW) is None
    assert context_tokens(model) is None


@pytest.mark.parametrize(
    "model",
    ["openai:gpt-5-mini", "anthropic:claude-sonnet-4-5", "google:gemini-2.5-flash", "mistral:mistral-large-latest",
     "groq:llama-3.3-70b-versatile", "xai:grok-4", "deepseek:deepseek-chat", "openrouter:openai/gpt-5-mini",
     "azure:gpt-4o"],
)  # fmt: skip
def test_every_provider_with_a_list_has_prices(model: str) -> None:
    price = price_of(model, NOW)
    assert price is not None
    assert price.cost_micros(Usage(input_tokens=1_000_000, output_tokens=1_000_000)) > 0


def test_built_in_models_cost_nothing() -> None:
    price = price_of("local:lexrank", NOW)
    assert price is not None
    assert price.cost_micros(Usage(input_tokens=10**9, output_tokens=10**9)) == 0


def test_only_a_provider_that_is_registered_as_free_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_free", {"local"})
    assert price_of("mine:model", NOW) is None
    registry.register_free("mine")
    price = price_of("mine:model", NOW)
    assert price is not None
    assert price.cost_micros(Usage(input_tokens=10**9)) == 0


def test_no_number_of_tokens_that_a_server_says_is_too_much_for_the_books() -> None:
    price = price_of("openai:gpt-5-mini", NOW)
    assert price is not None
    absurd = Usage(input_tokens=1 << 40, output_tokens=1 << 40, cached_tokens=1 << 40, written_tokens=1 << 40)
    assert price.cost_micros(absurd) * 4_000_000 < 1 << 63


def test_prices_are_not_read_at_the_start() -> None:
    code = "import sys, carrel.app.wiring; sys.exit('genai_prices' in sys.modules or 'pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
