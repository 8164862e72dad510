"""What a call of a run can cost before it is made, and how many credits it takes."""

from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple

from carrel.kit.sqlite.database import Connection
from carrel.metering.calls import Hold, Terms
from carrel.providers import base, hosts, own_prices
from carrel.providers.base import Access, CombineMatter, CompareMatter, Criterion, GenerateMatter, Matter, Parameters
from carrel.providers.own_prices import Billing
from carrel.providers.prices import Price
from carrel.providers.registry import provider_of
from carrel.runs.model.plan import Kind
from carrel.runs.model.prompts import Instructions

FRAME_BYTES = 6_000
"""The most bytes that a prompt holds besides the texts: rules, fences, the form of the reply."""


class Quote(NamedTuple):
    """A price, and the most that a call is expected to cost at it; `None` where the price is unknown."""

    price: Price | None
    most_micros: int | None


UNKNOWN = Quote(None, None)


class Credits(NamedTuple):
    """What the operator pays for and allows a run.

    `markup` is how many credits a dollar of cost takes, `access` finds the operator's key for a provider, and
    `calls_per_day` is how many calls the user may make; `None` is any number.
    """

    markup: Decimal
    access: Callable[[str], Access | None]
    calls_per_day: int | None = None

    def host(self, model: str) -> str | None:
        """The host at which the model answers with the operator's key; `None` if it is the provider's own."""
        provider = provider_of(model)
        found = self.access(provider)
        return None if found is None else hosts.host_of(provider, found.base_url)


NO_CREDITS = Credits(Decimal(1), lambda _: None)


def quote(price: Price | None, kind: Kind, parameters: Parameters, texts: Iterable[str]) -> Quote:
    """What a call at this price can cost. A token has at least one byte, so the bytes of texts bound their tokens."""
    if price is None:
        return UNKNOWN
    read = FRAME_BYTES + sum(bytes_of(text) for text in texts)
    return Quote(price, price.most_micros(read, output_limit(kind, parameters)))


def price_now(conn: Connection, billing: Billing, model: str, host: str | None, *, batched: bool) -> Price | None:
    """What tokens of the model cost now at this host, by itself or in a batch; `None` if nobody knows."""
    price = own_prices.price_of(conn, model, host, conn.clock.now(), billing)
    return price.of_batches if price is not None and batched else price


def output_limit(kind: Kind, parameters: Parameters) -> int:
    """The most tokens that a model may write, which every call tells it."""
    return base.output_limit("judge" if kind in ("score", "compare") else "generate", parameters)


def terms_of(found: Quote, reservation: str | None, markup: Decimal) -> Terms:
    """The terms that are recorded before a call is made. `reservation` is an id for its credits, if credits pay."""
    hold = None
    if reservation is not None and found.most_micros:
        hold = Hold(reservation, credits_of(found.most_micros, markup))
    return Terms(found.price.id if found.price is not None else None, found.most_micros, hold)


def texts_of(
    matter: Matter,
    instructions: Instructions | None,
    reference: str | None,
    criteria: tuple[Criterion, ...],
    schema: str | None = None,
) -> Iterable[str]:
    """Every text that goes into the request, as often as it does; a schema beside the prompt and in its words."""
    yield from (schema or "",) * 2
    if instructions is not None:
        yield instructions.text
        # A text without a placeholder follows the instructions once.
        for _ in instructions.slots[1:]:
            yield matter.document
            yield reference or ""
    yield matter.document
    if isinstance(matter, GenerateMatter | CombineMatter):
        # Otherwise the instructions are those above, whose placeholders are left out.
        yield matter.instructions if instructions is None else ""
        yield reference or ""
        yield from (matter.answers if isinstance(matter, CombineMatter) else ())
    else:
        yield matter.reference or ""
        yield from ((matter.first, matter.second) if isinstance(matter, CompareMatter) else (matter.answer,))
        criteria = matter.criteria
    yield from texts_of_criteria(criteria)


def texts_of_criteria(criteria: Iterable[Criterion]) -> Iterable[str]:
    """The texts that criteria add to a prompt, and to the schema of the reply."""
    for criterion in criteria:
        yield criterion.name
        yield criterion.description
        yield criterion.name + " " * 200


def credits_of(cost_micros: int, markup: Decimal) -> int:
    """The credits that a cost takes, in millionths, rounded up."""
    return int((cost_micros * markup).to_integral_value(ROUND_CEILING))


def bytes_of(text: str) -> int:
    """The length of a text as UTF-8, in bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
