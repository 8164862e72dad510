"""JSON compared by value, field by field: which fields are right, wrong, missing or more than was expected. Pure."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final, NamedTuple

import msgspec

from carrel.checks.definition import Check
from carrel.checks.normalising import folded

MAX_PATHS: Final = 100
"""The figures of so many fields are kept; all count."""
_PATH_CHARACTERS: Final = 200
_MATCHED: Final = 200
"""Of a longer list without order, each item is compared with the one at its place."""
_NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?([eE][+-]?\d{1,3})?")
ABSENT: Final = object()
"""What stands for a value that is not there."""


class FieldCounts(NamedTuple):
    """How often a field of one answer is right, wrong, missing, or there although nothing was expected."""

    right: int = 0
    wrong: int = 0
    missing: int = 0
    extra: int = 0


FieldFates = dict[str, FieldCounts]
"""By the path of the field, such as `items[].price`; the whole value has an empty path."""


def compare(check: Check, answer: object, expected: object) -> FieldFates:
    """What became of each field. A value that is nested too deep is wrong as a whole."""
    counts: Counter[tuple[str, int]] = Counter()
    try:
        counts.update(_compared(check, "", answer, expected))
    except RecursionError:
        counts = Counter({("", 1): 1})
    paths = dict.fromkeys(path for path, _ in counts)
    return {path: FieldCounts(*(counts[path, fate] for fate in range(4))) for path in paths}


def share(fates: FieldFates) -> float:
    """The share of right fields among all that were expected or are there."""
    return sum(one.right for one in fates.values()) / sum(map(sum, fates.values()))


def number(text: str) -> float | None:
    """The number that the text is; commas may part its thousands. `None` also if it is too large to compute with."""
    text = text.strip()
    found = _NUMBER.fullmatch(text)
    if found is None or not (found[1] or found[3]):
        return None
    value = float(text.replace(",", ""))
    return value if math.isfinite(value) else None


def _compared(check: Check, path: str, answer: object, expected: object) -> Iterator[tuple[str, int]]:
    """The fate of every field, by the place of its name in `FieldCounts`."""
    if isinstance(expected, dict) and isinstance(answer, dict) and (expected or answer):
        for name in dict.fromkeys([*expected, *answer]):
            below = f"{path}.{name}" if path else str(name)
            yield from _compared(check, below[:_PATH_CHARACTERS], answer.get(name, ABSENT), expected.get(name, ABSENT))
    elif isinstance(expected, list) and isinstance(answer, list) and (expected or answer):
        yield from _items(check, f"{path}[]", answer, expected)
    elif expected is ABSENT:
        yield path, 3
    elif answer is ABSENT:
        # What is missing counts as often as it has fields.
        yield from ((below, 2) for below, _ in _compared(check, path, expected, expected))
    else:
        yield path, 0 if _equal(check, answer, expected) else 1


def _items(check: Check, path: str, answer: list[object], expected: list[object]) -> Iterator[tuple[str, int]]:
    if not check.unordered or max(len(answer), len(expected)) > _MATCHED:
        for place in range(max(len(answer), len(expected))):
            yield from _compared(check, path, _at(answer, place), _at(expected, place))
        return
    left = list(answer)
    for item in expected:
        found = next((place for place, one in enumerate(left) if _same(check, one, item)), None)
        if found is None:
            yield path, 2
        else:
            del left[found]
            yield path, 0
    yield from ((path, 3) for _ in left)


def _at(items: Sequence[object], place: int) -> object:
    return items[place] if place < len(items) else ABSENT


def _same(check: Check, answer: object, expected: object) -> bool:
    return all(fate == 0 for _, fate in _compared(check, "", answer, expected))


def _equal(check: Check, answer: object, expected: object) -> bool:
    ours, theirs = _as_number(check, answer), _as_number(check, expected)
    if ours is not None and theirs is not None:
        return ours == theirs or abs(ours - theirs) <= (check.tolerance or 0.0)
    if isinstance(answer, str) and isinstance(expected, str):
        return folded(check, answer) == folded(check, expected) or _near(check, answer, expected)
    # True is 1 in Python, but not in JSON.
    return type(answer) is type(expected) and answer == expected


def _as_number(check: Check, value: object) -> float | None:
    """A number; with a tolerance, also one in a text."""
    if isinstance(value, str):
        return None if check.tolerance is None else number(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _near(check: Check, answer: str, expected: str) -> bool:
    if check.days is None:
        return False
    try:
        apart = date.fromisoformat(answer.strip()[:10]) - date.fromisoformat(expected.strip()[:10])
    except ValueError:
        return False
    return abs(apart.days) <= check.days


def expected_value(text: str) -> object:
    """The value that is expected.

    Raises:
        ValueError: the text is not JSON.
    """
    try:
        return msgspec.json.decode(text)
    except (UnicodeEncodeError, RecursionError, msgspec.DecodeError):
        raise ValueError from None
