"""Which criteria a built-in judge can judge by: a table of the words that name what it measures.

Each judge measures three aspects with measures of its own (`measures.py`). A criterion belongs to the aspect to which
most words of its name belong; among equals, to the aspect that the name mentions first. If no word of the name is in
the table, the description decides, unless the name asks for something that counting words cannot measure, such as
truth.
"""

from collections import Counter
from typing import Literal

from carrel.providers.base import Criterion
from carrel.providers.local.english import stem
from carrel.providers.local.text import words

Aspect = Literal["coverage", "clarity", "concision"]

COVERAGE = """coverage cover complete completeness comprehensive comprehensiveness content essential exhaustive
important importance information informative informativeness main relevance relevant salience salient substance
thorough thoroughness """
CLARITY = "clarity clear clearly clearness comprehensible intelligible understandable understand "
CONCISION = """concise concision conciseness economy novel novelty redundancy redundant repeat repetition repetitive
succinct succinctness terse variety"""
"""The words of each aspect that all judges take; people use them in their reasons, too."""
_BEYOND_COUNTING = """accuracy accurate bias correct correctness creative creativity depth engaging ethics factual
factuality format grammar grammatical helpful helpfulness humor humour insight length logic original originality
persuasive polite politeness precise precision reasoning safe safety sentiment style tone toxicity true truth truthful
truthfulness usefulness valid validity"""


def _table(coverage: str, clarity: str, concision: str) -> dict[str, Aspect]:
    table: dict[str, Aspect] = {stem(word): "coverage" for word in coverage.split()}
    table |= {stem(word): "clarity" for word in clarity.split()}
    table |= {stem(word): "concision" for word in concision.split()}
    return table


_SYNONYMS = {
    "reader": _table(
        COVERAGE + "detail fact name number phrase recall",
        CLARITY + "accessible accessibility ease easy legible legibility plain readable readability simple simplicity",
        CONCISION,
    ),
    "statistician": _table(
        COVERAGE + "distribution faithful faithfulness fidelity grounded groundedness representative topical",
        CLARITY + "coherence coherent cohesion cohesive dangling flow self-contained standalone",
        CONCISION,
    ),
}
_UNCOUNTABLE = frozenset(map(stem, _BEYOND_COUNTING.split()))


def aspect_of(judge: str, criterion: Criterion) -> Aspect | None:
    """The aspect that `judge` measures for `criterion`; `None` if it measures no such thing, or is not a judge."""
    table = _SYNONYMS.get(judge, {})
    name = [stem(word) for word in words(criterion.name)]
    named = _most(table, name)
    if named or not _UNCOUNTABLE.isdisjoint(name):
        return named
    return _most(table, [stem(word) for word in words(criterion.description)])


def supported_criterion(judge_model_name: str, criterion: Criterion) -> bool:
    """Whether the built-in judge of this name (without `local:`) can judge by `criterion`; an unknown judge cannot."""
    return aspect_of(judge_model_name, criterion) is not None


def _most(table: dict[str, Aspect], stems: list[str]) -> Aspect | None:
    counts = Counter(table[stem] for stem in stems if stem in table)
    return counts.most_common(1)[0][0] if counts else None
