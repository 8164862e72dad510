"""A built-in generator makes one answer of several. It quotes sentences of the answers and writes none itself."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from carrel.providers.base import CombineMatter
from carrel.providers.local.generators import GENERATORS, SummaryRequest
from carrel.providers.local.text import ParsedText, Sentence, clip, read, words


class _Place(NamedTuple):
    """Where a sentence goes: after which sentence of the document, and in which of its sections."""

    at: int
    section: int


def combine(
    model: str, matter: CombineMatter, *, at_most: int | None = None, seed: int | None = None
) -> tuple[str, bool]:
    """Combine the answers with `model`. Return the combined answer, and whether `at_most` cut it short.

    It has at most as many words as the answers have on average, so that it cannot win by being longer; `at_most` lowers
    that limit. A sentence that stands in several answers counts once. Sentences that the document contains come in its
    order, and in paragraphs of its sections. If the answers hold no sentence, the result is the beginning of the first
    one.

    Raises:
        KeyError: there is no such generator.
    """
    choose = GENERATORS[model]
    pool = read("\n\n".join(matter.answers))
    mean = sum(len(words(answer)) for answer in matter.answers) // len(matter.answers)
    budget = mean if at_most is None else min(mean, at_most)
    chosen = set(choose(pool, SummaryRequest(matter.instructions, budget, seed))) if pool.sentences else set()
    if not chosen:
        first = matter.answers[0]
        return clip(first, budget), at_most == budget and len(words(first)) > budget
    placed = [
        (place, sentence)
        for number, (place, sentence) in enumerate(_placed(pool, read(matter.document)))
        if number in chosen
    ]
    placed.sort(key=lambda one: one[0].at)
    paragraphs = groupby(placed, lambda one: one[0].section)
    return "\n\n".join(" ".join(sentence.text for _, sentence in members) for _, members in paragraphs), False


def _placed(pool: ParsedText, document: ParsedText) -> Iterator[tuple[_Place, Sentence]]:
    """Every sentence of the answers with its place.

    A sentence that the document does not contain stays behind the sentence before it.
    """
    known = {sentence.text: _Place(at, sentence.section) for at, sentence in enumerate(document.sentences)}
    place = _Place(0, 0)
    for sentence in pool.sentences:
        place = known.get(sentence.text, place)
        yield place, sentence
