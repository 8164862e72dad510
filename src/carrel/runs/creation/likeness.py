"""Finds texts that are nearly the same, in time that grows with their number and not with its square.

The resemblance of two texts is the part of their runs of five words that both have (Broder 1997). It is read from
sketches, the smallest hashes of these runs; from .8 on two texts are nearly the same, as in Lee and others 2022,
"Deduplicating Training Data Makes Language Models Better".
"""

from collections.abc import Sequence
from typing import Final
from zlib import crc32

WORDS: Final = 5
RESEMBLANCE: Final = 0.8
_SIZE: Final = 128
"""Hashes of a sketch: the error of a resemblance of .8 is .035."""
_LONGEST: Final = 8_000
"""Of a longer text, so many characters count, half of them from its end: a millisecond for each of 1,000 documents."""
_KEYS: Final = 8
"""Two texts are compared if any of the smallest hashes is in both: with a resemblance of .8 nearly certain."""

Sketch = Sequence[int]


def sketch(text: str) -> Sketch:
    """The smallest hashes of the text's runs of words; empty for a text without words."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} {text[-_LONGEST // 2 :]}"
    words = text.casefold().split()
    if len(words) <= WORDS:
        return (crc32(_bytes(" ".join(words))),) if words else ()
    runs = map(" ".join, zip(*(words[at:] for at in range(WORDS)), strict=False))
    return tuple(sorted(set(map(crc32, map(_bytes, runs))))[:_SIZE])


def _bytes(text: str) -> bytes:
    # A lone surrogate has no UTF-8.
    return text.encode("utf-8", "surrogatepass")


def near(sketches: Sequence[Sketch]) -> dict[int, int]:
    """For each text that is nearly the same as an earlier one, the earlier one's place.

    Each text is compared with at most eight, the first that has one of its smallest hashes.
    """
    firsts: dict[int, int] = {}
    found = {}
    for place, one in enumerate(sketches):
        candidates = sorted({firsts[key] for key in one[:_KEYS] if key in firsts})
        first = next((other for other in candidates if resemblance(one, sketches[other]) >= RESEMBLANCE), None)
        if first is not None:
            found[place] = first
            continue
        for key in one[:_KEYS]:
            firsts.setdefault(key, place)
    return found


def resemblance(one: Sketch, other: Sketch) -> float:
    """The part of their runs of words that two texts share, from the smallest hashes of both together."""
    smallest = sorted({*one, *other})[:_SIZE]
    both = set(one) & set(other)
    return sum(1 for found in smallest if found in both) / len(smallest) if smallest else 0.0
