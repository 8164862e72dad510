"""Shows the numbers of a spreadsheet by their formats (ECMA-376, part 1, 18.8.31): `0%` makes 5% of 0.05.

Days and times are none of these; nor are fractions, powers of ten and conditions, whose numbers stay as they are.
"""

import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from itertools import takewhile
from typing import Final, NamedTuple

BUILT_IN: Final = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    **dict.fromkeys((37, 38), "#,##0;(#,##0)"),
    **dict.fromkeys((39, 40), "#,##0.00;(#,##0.00)"),
    **dict.fromkeys((41, 42), "#,##0"),
    **dict.fromkeys((43, 44), "#,##0.00"),
}
"""The formats that files name by their number only."""
_PART: Final = re.compile(
    r'"(?P<text>[^"]*)"|\\(?P<sign>.)|\[\$(?P<money>[^\]-]*)[^\]]*\]|\[(?P<colour>[A-Za-z]+[0-9]*)\]|(?P<space>[_*].)'
    r"|(?P<digits>[0#?][0#?,]*(?:\.[0#?]*)?,*|\.[0#?]+)|(?P<other>[\[\]dmyhsebgDMYHSEBG@/]|General)|(?P<plain>.)",
    re.DOTALL,
)
_MOST_CHARACTERS: Final = 255
_MOST_DIGITS: Final = 30


class _Section(NamedTuple):
    """One of up to three forms: texts, and among them the places of digits as the format has them."""

    parts: tuple[tuple[bool, str], ...]
    percents: int


def plain(value: float) -> str:
    """A number with up to 15 digits, as spreadsheet programs show it."""
    text = f"{value:.15g}"
    return f"{Decimal(text):f}" if "e+" in text and len(text) < 22 else text


def of_one_file() -> Callable[[float, str], str]:
    """A function that makes of a number and a format what is shown.

    It remembers both, so it must go when the file was read: a worker reads the files of others next.
    """
    sections = lru_cache(1_000)(_sections)
    return lru_cache(10_000)(lambda value, code: _shown(value, sections(code)))


def _shown(value: float, sections: Sequence[_Section | None]) -> str:
    at = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    section = sections[at] if sections else None
    if section is None or not abs(value) < 10**_MOST_DIGITS:
        return plain(value)
    number = Decimal(plain(abs(value))) * 100**section.percents
    places = [text for is_place, text in section.parts if is_place]
    whole = len(places) == 1
    digits = iter([_digits(number, places[0])] if whole else _masked(number, places))
    made = "".join(next(digits) if is_place else text for is_place, text in section.parts).strip()
    is_negative = value < 0 and at == 0 and any(sign in "123456789" for sign in made)
    return f"-{made}" if is_negative else made


def _sections(code: str) -> list[_Section | None]:
    if len(code) > _MOST_CHARACTERS or code.lower() == "general":
        return []
    pieces = re.findall(r'(?:"[^"]*"|\\.|\[[^\]]*\]|[^;])+|(?<=;)(?=;)|(?<=;)$', code, re.DOTALL)
    return [_section(piece) for piece in pieces[:3]]


def _section(code: str) -> _Section | None:
    parts: list[tuple[bool, str]] = []
    percents = 0
    for found in _PART.finditer(code):
        if found["other"] or (found["colour"] or "").lower() in ("h", "hh", "m", "mm", "s", "ss"):
            return None
        percents += found["plain"] == "%"
        if found["digits"]:
            parts.append((True, found["digits"]))
        elif not found["colour"] and not found["space"]:
            parts.append((False, found["text"] or found["sign"] or found["money"] or found["plain"] or ""))
    places = [text for is_place, text in parts if is_place]
    if sum(map(len, places)) > _MOST_DIGITS or (len(places) > 1 and re.search("[.,]", "".join(places))):
        return None
    return _Section(tuple(parts), percents)


def _digits(number: Decimal, place: str) -> str:
    whole, _, decimals = place.rstrip(",").partition(".")
    number /= 1000 ** (len(place) - len(place.rstrip(",")))
    rounded = number.quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP)
    before, _, after = f"{rounded:f}".partition(".")
    before = (before if before != "0" else "").zfill(whole.count("0"))
    if "," in whole:
        before = f"{int(before or 0):,}" if len(before.lstrip("0")) > 3 else before
    least = len(decimals) - len(list(takewhile(lambda sign: sign != "0", reversed(decimals))))
    after = after[:least] + after[least:].rstrip("0")
    return f"{before}.{after}" if after else before


def _masked(number: Decimal, places: list[str]) -> list[str]:
    """Digits in several places, such as those of `000-0000`, from the right."""
    digits = f"{number.quantize(Decimal(1), ROUND_HALF_UP):f}".zfill(sum(map(len, places)))
    found = []
    for place in reversed(places[1:]):
        found.append(digits[-len(place) :])
        digits = digits[: -len(place)]
    return [digits if places else "", *reversed(found)]
