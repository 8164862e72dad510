"""What goes over the wire about models."""

import msgspec

from carrel.providers.base import Role
from carrel.providers.endings import ModelEnding
from carrel.providers.own_prices import ModelPrice


class Rates(msgspec.Struct, frozen=True):
    """US dollars for a million tokens, as decimal strings, once more than `above_tokens` are read."""

    above_tokens: int
    input_per_million: str
    cached_read_per_million: str
    cached_write_per_million: str
    output_per_million: str


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """The price of a million tokens, in US dollars as decimal strings, its first day, and its source.

    `above` are the higher rates of long prompts; they apply to all tokens of such a call. Every call that was made at
    this price carries its `id`. `effective_date` is null if the price list knows no earlier price. The `source` is
    `own` if the user has set the price: it is that of the user's own key, and credits never pay by it.
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

    `host` is the host that answers with the key that is stored, null if it is the provider's own. List prices and
    limits hold at the provider's own hosts only.

    `reason` is a code that says why the model is not `available`. `context_tokens` and `output_tokens` are null if a
    model has no limit or it is unknown; `prices` is null if they are unknown. No list that Carrel reads offline holds
    output limits, so none is known yet. `ends_on` is the day on which its provider switches it off, by `ends_source`,
    and null if that is unknown: then nobody is known to have announced one.
    """

    model: str
    provider: str
    host: str | None
    family: str
    description: str
    roles: list[Role]
    available: bool
    reason: str | None
    context_tokens: int | None
    output_tokens: int | None
    prices: Prices | None
    ends_on: str | None
    ends_source: str | None


class ModelPrices(msgspec.Struct, frozen=True):
    """Every price that the user has set, by model."""

    items: list[ModelPrice]


class Models(msgspec.Struct, frozen=True):
    """Every model, both generators and judges."""

    items: list[Model]


class ModelEndings(msgspec.Struct, frozen=True):
    """Models that are switched off within 60 days, or were, the first to end first.

    `read_on` is the day of the table that comes with the service; what the lists of providers say goes before it.
    """

    items: list[ModelEnding]
    read_on: str
