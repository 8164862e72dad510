"""Money: integer millionths inside, decimal strings outside. No float is ever used."""

import re
from decimal import Decimal
from functools import lru_cache
from typing import Annotated

from msgspec import Meta

MICROS = 1_000_000
MAX_MICROS = 10**15
"""A thousand million: far inside SQLite's 64-bit integers, also when added up."""

_PATTERN = r"^[0-9]{1,9}(\.[0-9]{1,6})?$(?!\n)"

AmountText = Annotated[
    str,
    Meta(
        max_length=20,
        pattern=_PATTERN,
        description="A decimal with at most 6 places: `12.5`.",
        examples=["12.5"],
    ),
]
"""An amount in a request."""

DollarsAmount = Annotated[
    str,
    Meta(
        max_length=20,
        pattern=_PATTERN,
        description="US dollars, as a decimal with at most 6 places: `12.5`.",
        examples=["12.5"],
    ),
]
"""An amount of US dollars in a request."""

DollarsText = Annotated[str, Meta(description="US dollars, as a decimal with at most 6 places: `0.0125`.")]
"""What calls cost, in an answer: the provider's price. Credits are another unit: dollars times the markup."""

_AMOUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})?")


def micros_of(text: str) -> int:
    """The millionths in a decimal string of at most 6 places.

    Raises:
        ValueError: the text is not such a string.
    """
    if not _AMOUNT.fullmatch(text):
        raise ValueError("not an amount")
    return int(Decimal(text) * MICROS)


# Lists show the same costs again and again.
@lru_cache(1_024)
def text_of(micros: int) -> str:
    """The shortest decimal string: `12.5`, `0`, `-0.000001`."""
    sign = "-" if micros < 0 else ""
    whole, fraction = divmod(abs(micros), MICROS)
    if not fraction:
        return f"{sign}{whole}"
    return f"{sign}{whole}.{fraction:06d}".rstrip("0")


def text_if_known(micros: int | None) -> str | None:
    """The decimal string of an amount, or `None` if the amount is unknown."""
    return None if micros is None else text_of(micros)
