"""Several answers made into one by a built-in generator, whose document they are. It quotes and writes nothing."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from carrel.providers.base import CombineMatter
from carrel.providers.local.generators import GENERATORS, Wish
from carrel.providers.local.text import Document, Sentence, clip, read, words


class _Place(NamedTuple):
    """Where a sentence goes: behind which one of the document, and in which of its sections."""

    at: int
    section: int


def combine(
    model: str, matter: CombineMatter, *, at_most: int | None = None, seed: int | None = None
) -> tuple[str, bool]:
    """The answer that `model` makes of the answers, and whether `at_most` cut it short.

    It has at most as many words as the answers have on average, so that it cannot win by being longer; `at_most` lowers
    that. What several answers say in the same words counts once. Sentences that the document has come in its order, and
    in paragraphs of its sections. Answers without a sentence are answered with the first one's beginning.

    Raises:
        KeyError: there is no such generator.
    """
    choose = GENERATORS[model]
    pool = read("\n\n".join(matter.answers))
    mean = sum(len(words(answer)) for answer in matter.answers) // len(matter.answers)
    budget = mean if at_most is None else min(mean, at_most)
    chosen = set(choose(pool, Wish(matter.instructions, budget, seed))) if pool.sentences else set()
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


def _placed(pool: Document, document: Document) -> Iterator[tuple[_Place, Sentence]]:
    """Every sentence of the answers with its place; one that the document has not stays behind the one before it."""
    known = {sentence.text: _Place(at, sentence.section) for at, sentence in enumerate(document.sentences)}
    place = _Place(0, 0)
    for sentence in pool.sentences:
        place = known.get(sentence.text, place)
        yield place, sentence
