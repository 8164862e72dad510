"""What a call of a run can cost before it is made, and what it takes of credits. Pure but for the price list."""

from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple

from carrel.generation.prompts import Instructions
from carrel.metering.calls import Hold, Terms
from carrel.providers.base import CombineMatter, CompareMatter, Criterion, GenerateMatter, Matter, Parameters
from carrel.providers.prices import Price, price_of
from carrel.runs.model.plan import Kind

FRAME_BYTES = 6_000
"""What a prompt holds beside the texts, at most: rules, fences, the form of the reply."""
_UNLIMITED_TOKENS = {"generate": 16_384, "combine": 16_384, "score": 4_096, "compare": 4_096}
"""What is expected of a model at most that nobody limits. A longer answer is the operator's, where credits pay."""


class Quote(NamedTuple):
    """A price, and the most that a call is expected to cost at it; `None` where nobody knows."""

    price: Price | None
    most_micros: int | None


def quote(model: str, kind: Kind, parameters: Parameters, texts: Iterable[str], at_seconds: float) -> Quote:
    """What calling `model` can cost. No token is shorter than a byte, so the bytes bound the tokens."""
    price = price_of(model, at_seconds)
    if price is None:
        return Quote(None, None)
    read = FRAME_BYTES + sum(bytes_of(text) for text in texts)
    return Quote(price, price.most_micros(read, output_limit(kind, parameters)))


def output_limit(kind: Kind, parameters: Parameters) -> int:
    """How many tokens a model writes at most, as far as one can tell."""
    return parameters.max_output_tokens or _UNLIMITED_TOKENS[kind]


def terms_of(found: Quote, reservation: str | None, markup: Decimal) -> Terms:
    """What is written down of a call before it is made; `reservation` is an id for its credits, if they pay."""
    hold = None
    if reservation is not None and found.most_micros:
        hold = Hold(reservation, credits_of(found.most_micros, markup))
    return Terms(found.price.id if found.price is not None else None, found.most_micros, hold)


def texts_of(
    matter: Matter, instructions: Instructions | None, reference: str | None, criteria: tuple[Criterion, ...]
) -> Iterable[str]:
    """Every text that goes into the prompt, as often as it does."""
    if instructions is not None:
        yield instructions.text
        # Without a place of its own, each follows once.
        for _ in instructions.slots[1:]:
            yield matter.document
            yield reference or ""
    yield matter.document
    if isinstance(matter, GenerateMatter | CombineMatter):
        # Else they are those above, without their places.
        yield matter.instructions if instructions is None else ""
        yield reference or ""
        yield from (matter.answers if isinstance(matter, CombineMatter) else ())
    else:
        yield matter.reference or ""
        yield from ((matter.first, matter.second) if isinstance(matter, CompareMatter) else (matter.answer,))
        criteria = matter.criteria
    yield from texts_of_criteria(criteria)


def texts_of_criteria(criteria: Iterable[Criterion]) -> Iterable[str]:
    """What they add to a prompt, and to the schema of the reply."""
    for criterion in criteria:
        yield criterion.name
        yield criterion.description
        yield criterion.name + " " * 200


def credits_of(cost_micros: int, markup: Decimal) -> int:
    """What a cost takes of credits, in millionths, rounded up."""
    return int((cost_micros * markup).to_integral_value(ROUND_CEILING))


def bytes_of(text: str) -> int:
    """How long a text is as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
