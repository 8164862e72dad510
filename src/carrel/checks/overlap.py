"""How far two texts overlap, as a share from 0 to 1.

The libraries that compute these measures bring NLTK or lxml along; both measures are a few lines, and tests hold the
figures of `rouge-score` and `sacrebleu` against them.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_WORDS = re.compile(r"\w+")
_ORDERS: Final = 6
_BETA: Final = 2.0


def rouge_l(answer: str, expected: str) -> float:
    """ROUGE-L (Lin 2004): the F1 of the longest common subsequence of words, in any case."""
    return _rouge_l(_words(answer), _words(expected))


def chrf(answer: str, expected: str) -> float:
    """chrF2 (Popović 2015, 2016): the F2 of n-grams of one to six characters, without spaces."""
    left, right = "".join(answer.split()), "".join(expected.split())
    precision = recall = 0.0
    orders = 0
    for order in range(1, _ORDERS + 1):
        ours, theirs = _grams(left, order), _grams(right, order)
        if ours and theirs:
            both = (ours & theirs).total()
            precision += both / ours.total()
            recall += both / theirs.total()
            orders += 1
    if not orders or not precision:
        return 0.0
    precision, recall = precision / orders, recall / orders
    weight = _BETA * _BETA
    return (1.0 + weight) * precision * recall / (weight * precision + recall)


def _rouge_l(answer: Sequence[str], expected: Sequence[str]) -> float:
    common = _longest_common(answer, expected)
    if not common:
        return 0.0
    precision, recall = common / len(answer), common / len(expected)
    return 2.0 * precision * recall / (precision + recall)


def _longest_common(answer: Sequence[str], expected: Sequence[str]) -> int:
    """The length of the longest common subsequence, with a row of the table as the bits of one number (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, word in enumerate(answer):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(answer)) - 1
    row = every
    for word in expected:
        met = row & places.get(word, 0)
        row = ((row + met) | (row - met)) & every
    return len(answer) - row.bit_count()


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.casefold())


def _grams(text: str, order: int) -> Counter[str]:
    return Counter(text[place : place + order] for place in range(len(text) - order + 1))
