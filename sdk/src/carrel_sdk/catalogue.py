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
    """The price of a million tokens, in US dollars as decimal strings, its first day, and its source."""

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


class Models:
    """The routes under `/models`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def each(self) -> Iterator[Model]:
        """Every model, both generators and judges."""
        return self._calls.each("/models", Model)

    def get(self, model: str) -> Model:
        """One model by its full name, which may hold slashes."""
        return self._calls.get(f"/models/{quote(model, safe='/:')}", Model)
