"""What goes over the wire about models."""

import msgspec

from carrel.providers.base import Role


class Prices(msgspec.Struct, frozen=True):
    """What a million tokens cost, in US dollars as decimal strings, and where that is known from."""

    input_per_million: str
    output_per_million: str
    source: str


class Model(msgspec.Struct, frozen=True):
    """A model under its full name `provider:name`.

    `reason` is the code of why it is not `available`. `context_tokens` is null where a model has no limit, `prices`
    where they are not known.
    """

    model: str
    provider: str
    family: str
    description: str
    roles: list[Role]
    available: bool
    reason: str | None
    context_tokens: int | None
    prices: Prices | None


class Models(msgspec.Struct, frozen=True):
    """Every model, generators and judges alike."""

    items: list[Model]
