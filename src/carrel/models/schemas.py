"""What goes over the wire about models."""

import msgspec

from carrel.providers.base import Role


class Rates(msgspec.Struct, frozen=True):
    """US dollars for a million tokens, as decimal strings, once more than `above_tokens` are read."""

    above_tokens: int
    input_per_million: str
    cached_read_per_million: str
    cached_write_per_million: str
    output_per_million: str


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """What a million tokens cost, in US dollars as decimal strings, since when, and where that is known from.

    `above` are the dearer rates of long prompts; they hold for all tokens of such a call. `id` stands beside every call
    that was made at this price. `effective_date` is null where the price list knows no earlier price.
    """

    id: str
    input_per_million: str
    cached_read_per_million: str
    cached_write_per_million: str
    output_per_million: str
    above: list[Rates]
    effective_date: str | None
    source: str


class Model(msgspec.Struct, frozen=True):
    """A model under its full name `provider:name`.

    `reason` is the code of why it is not `available`. `context_tokens` and `output_tokens` are null where a model has
    no limit or none is known, `prices` where they are not known. Output limits stand in no list that is read offline,
    so none is known yet.
    """

    model: str
    provider: str
    family: str
    description: str
    roles: list[Role]
    available: bool
    reason: str | None
    context_tokens: int | None
    output_tokens: int | None
    prices: Prices | None


class Models(msgspec.Struct, frozen=True):
    """Every model, generators and judges alike."""

    items: list[Model]
