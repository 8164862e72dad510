"""The models that candidates and judges can use."""

from collections.abc import Iterator
from urllib.parse import quote

import msgspec

from carrel_sdk.calls import Calls


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """The price of a million tokens if the prompt has more than `above_tokens`."""

    above_tokens: int
    input_per_million: str
    cached_read_per_million: str
    cached_write_per_million: str
    output_per_million: str


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """The price of a million tokens, in US dollars as decimal strings, its first day, and its source.

    The source is `own` if the user has set the price.
    """

    id: str = ""
    input_per_million: str
    cached_read_per_million: str = ""
    cached_write_per_million: str = ""
    output_per_million: str
    above: list[Rates] = []
    effective_date: str | None = None
    source: str = ""


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model under its full name `provider:name`. `reason` says why it is not `available`."""

    model: str
    provider: str
    family: str
    roles: list[str]
    available: bool
    description: str = ""
    reason: str | None = None
    context_tokens: int | None = None
    output_tokens: int | None = None
    prices: Prices | None = None


class ModelPrice(msgspec.Struct, frozen=True, kw_only=True):
    """What a million tokens cost by the user's own word, in US dollars as decimal strings.

    `model` is `provider:name`, or a provider alone: then the price is that of all its models whose price is not known
    otherwise. Only calls with the user's own keys cost this.
    """

    model: str
    input_per_million: str
    output_per_million: str
    updated_at: str


class _Set(msgspec.Struct, frozen=True):
    items: list[ModelPrice]


class Models:
    """The routes under `/models` and `/model-prices`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def each(self) -> Iterator[Model]:
        """Every model, both generators and judges."""
        return self._calls.each("/models", Model)

    def get(self, model: str) -> Model:
        """One model by its full name, which may hold slashes."""
        return self._calls.get(f"/models/{quote(model, safe='/:')}", Model)

    def prices(self) -> list[ModelPrice]:
        """Every price that the user has set, by model."""
        return self._calls.get("/model-prices", _Set).items

    def set_price(self, model: str, *, input_per_million: str, output_per_million: str) -> ModelPrice:
        """Say what a model costs with the user's own key, or all models of a provider whose price is not known.

        US dollars for a million tokens, as decimal strings; "0" is free. Calls that begin from now on cost this.
        """
        body = {"input_per_million": input_per_million, "output_per_million": output_per_million}
        return self._calls.put(f"/model-prices/{quote(model, safe='/:')}", ModelPrice, body)

    def unset_price(self, model: str) -> None:
        """Remove a price that the user has set. Calls that were made keep their costs."""
        self._calls.delete(f"/model-prices/{quote(model, safe='/:')}")
