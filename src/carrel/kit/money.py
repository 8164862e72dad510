"""Money: integer millionths inside, decimal strings outside. No float is ever used."""

from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Annotated

from msgspec import Meta

MICROS = 1_000_000
MAX_MICROS = 10**15
"""A thousand million: far inside SQLite's 64-bit integers, also when added up."""
_PLACES = 6
_TOO_MUCH = 10**9


def fault_of(amount: Decimal) -> str | None:
    """What is wrong with an amount in a request; `None` if it can be kept exactly."""
    exponent = amount.as_tuple().exponent
    if isinstance(exponent, int) and exponent >= -_PLACES and not amount.is_signed() and amount < _TOO_MUCH:
        return None
    return "must be a decimal of at most 9 digits and 6 places, such as 12.5"


AmountIn = Annotated[
    Decimal,
    Meta(
        description="A decimal with at most 6 places: `12.5`, as a string or a number.",
        examples=["12.5"],
        extra={"fault": fault_of},
    ),
]
"""An amount in a request. A number is read digit by digit and never becomes a float."""

DollarsIn = Annotated[
    Decimal,
    Meta(
        description="US dollars, as a decimal with at most 6 places: `12.5`, as a string or a number.",
        examples=["12.5"],
        extra={"fault": fault_of},
    ),
]
"""An amount of US dollars in a request."""

DollarsText = Annotated[str, Meta(description="US dollars, as a decimal with at most 6 places: `0.0125`.")]
"""What calls cost, in an answer: the provider's price. Credits are another unit: dollars times the markup."""


def micros_of(amount: Decimal | str) -> int:
    """The millionths in an amount of at most 6 places.

    Raises:
        ValueError: it is not such an amount.
    """
    try:
        exact = Decimal(amount)
    except InvalidOperation:
        raise ValueError("not an amount") from None
    if fault_of(exact) is not None:
        raise ValueError("not an amount")
    return int(exact * MICROS)


# Lists show the same costs again and again.
@lru_cache(1_024)
def text_of(micros: int) -> str:
    """The shortest decimal string: `12.5`, `0`, `-0.000001`."""
    sign = "-" if micros < 0 else ""
    whole, fraction = divmod(abs(micros), MICROS)
    if not fraction:
        return f"{sign}{whole}"
    return f"{sign}{whole}.{fraction:06d}".rstrip("0")


def brief(micros: int) -> str:
    """US dollars for a sentence: two places, or as many as two digits take: `$0.85`, `$0.0012`."""
    amount = Decimal(micros) / MICROS
    return f"${round(amount, max(2, 1 - amount.adjusted()) if amount else 2):,f}"


def text_if_known(micros: int | None) -> str | None:
    """The decimal string of an amount, or `None` if the amount is unknown."""
    return None if micros is None else text_of(micros)
