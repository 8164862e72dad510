"""What tokens cost: the list prices that genai-prices carries, looked up offline and never over the network.

A US dollar for a million tokens is a millionth of a dollar for one, so prices keep the numbers that providers publish.
They are `Decimal`s throughout. The cost of a call is a whole number of millionths, rounded up, so a call that costs
anything never counts as free.
"""

import asyncio
import importlib
import time
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from carrel.providers.base import Usage
from carrel.providers.catalogue import find
from carrel.providers.registry import is_free, name_of, provider_of

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, ModelPrice, Provider

_LONGEST_NAME = 200
_MOST_MICROS = 10**12
"""The limit keeps sums over millions of calls within SQLite's integers."""


class PriceTier(NamedTuple):
    """US dollars for a million tokens of each kind. These rates hold once a call reads more than `above_tokens`."""

    above_tokens: int
    input: Decimal
    cached_read: Decimal
    cached_write: Decimal
    output: Decimal


class Price(NamedTuple):
    """What a model's tokens cost at some time. `id` is final; `effective_date` is `None` if the price always held."""

    id: str
    source: str
    effective_date: str | None
    rates: tuple[PriceTier, ...]

    @property
    def of_batches(self) -> "Price":
        """The price of calls that are sent in batches: half of it, at every provider that takes batches."""
        halved = tuple(PriceTier(one.above_tokens, *(rate / 2 for rate in one[1:])) for one in self.rates)
        return self._replace(id=f"{self.id}/batch", rates=halved)

    @property
    def is_nothing(self) -> bool:
        """Whether a call costs nothing, however many tokens it takes and however it ends."""
        return all(rate == 0 for rates in self.rates for rate in rates[1:])

    def cost_micros(self, usage: Usage) -> int:
        """What a call cost, in millionths of a dollar.

        It is never more than a million dollars, whatever a server reports.
        """
        rates = self._at(usage.read_tokens)
        exact = (
            rates.input * usage.input_tokens
            + rates.cached_read * usage.cached_tokens
            + rates.cached_write * usage.written_tokens
            + rates.output * usage.output_tokens
        )
        return min(int(exact.to_integral_value(ROUND_CEILING)), _MOST_MICROS)

    def most_micros(self, input_tokens: int, output_tokens: int) -> int:
        """The most that a call of this size can cost, with any part of it read from a cache or written to one."""
        rates = self._at(input_tokens)
        exact = max(rates.input, rates.cached_read, rates.cached_write) * input_tokens + rates.output * output_tokens
        return int(exact.to_integral_value(ROUND_CEILING))

    def _at(self, read_tokens: int) -> PriceTier:
        return next((rates for rates in reversed(self.rates) if read_tokens > rates.above_tokens), self.rates[0])


_ZERO = Decimal(0)
_NOTHING = Price("built-in", "built-in", None, (PriceTier(0, _ZERO, _ZERO, _ZERO, _ZERO),))


def price_of(model: str, at_seconds: float) -> Price | None:
    """The price of `provider:name` at that time; `None` if the list has none. The first call takes half a second."""
    if is_free(model):
        return _NOTHING
    found = _find(model)
    if found is None:
        return None
    provider, info = found
    at = datetime.fromtimestamp(at_seconds, UTC)
    prices = info.get_prices(at)
    rates = _rates(prices)
    if rates is None:
        return None
    since = _since(info, prices)
    # Some prices change with the hour of the day, so the number is part of the id.
    number = zlib.crc32(repr(rates).encode())
    return Price(f"{_source()}/{provider.id}/{info.id}@{since or 'ever'}#{number:08x}", _source(), since, rates)


def is_priced(model: str) -> bool:
    """Whether the list has a price for calls of the model."""
    return price_of(model, time.time()) is not None


async def ready() -> None:
    """Read the list now, in a thread, if nobody has read it yet: on the event loop it would block every request."""
    if not _snapshot.cache_info().currsize:
        await asyncio.to_thread(_snapshot)


def context_tokens(model: str) -> int | None:
    """How much the model reads at most, if the list says it. The first call takes half a second."""
    found = None if is_free(model) else _find(model)
    return None if found is None else found[1].context_window


@lru_cache(maxsize=2_000)
def _find(model: str) -> "tuple[Provider, ModelInfo] | None":
    known = find(provider_of(model))
    name = name_of(model)
    if known is None or known.price_list is None or not name or len(name) > _LONGEST_NAME:
        return None
    try:
        return _snapshot().find_provider_model(name, None, known.price_list, None)
    except LookupError:
        return None


@lru_cache(maxsize=1)
def _snapshot() -> "DataSnapshot":
    # The import takes a third of a second and thirty megabytes, and many services never need it.
    found: DataSnapshot = importlib.import_module("genai_prices.data_snapshot").get_snapshot()
    return found


@lru_cache(maxsize=1)
def _source() -> str:
    return f"genai-prices-{importlib.import_module('genai_prices').__version__}"


def _rates(prices: "ModelPrice") -> tuple[PriceTier, ...] | None:
    """The rates at each threshold; `None` if the model has no prices for tokens of text in and text out."""
    steps = sorted({0, *_thresholds(prices)})
    found = [_rates_above(prices, step) for step in steps]
    return tuple(rates for rates in found if rates is not None) if None not in found else None


def _thresholds(prices: "ModelPrice") -> Iterator[int]:
    for part in (prices.input_mtok, prices.cache_read_mtok, prices.cache_write_mtok, prices.output_mtok):
        if part is not None and not isinstance(part, Decimal):
            yield from (tier.start for tier in part.tiers)


def _rates_above(prices: "ModelPrice", tokens: int) -> PriceTier | None:
    def above(part: object) -> Decimal | None:
        if part is None or isinstance(part, Decimal):
            return part
        at: Decimal = part.base  # type: ignore[attr-defined]  # the list has nothing but decimals and tiers
        for tier in part.tiers:  # type: ignore[attr-defined]  # the same
            at = tier.price if tier.start <= tokens else at
        return at

    read, written = above(prices.input_mtok), above(prices.output_mtok)
    if read is None or written is None:
        return None
    cached, stored = above(prices.cache_read_mtok), above(prices.cache_write_mtok)
    return PriceTier(tokens, read, read if cached is None else cached, read if stored is None else stored, written)


def _since(info: "ModelInfo", prices: "ModelPrice") -> str | None:
    """The day since which these prices hold, where the list names it."""
    if not isinstance(info.prices, list):
        return None
    for one in info.prices:
        start = getattr(one.constraint, "start_date", None)
        if one.prices is prices and start is not None:
            return str(start)
    return None
