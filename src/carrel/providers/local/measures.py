"""What the built-in judges measure of an answer: shares from 0 (worst) to 1 (best), by counting words.

An answer without a sentence has 0 of everything.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from carrel.providers.local.english import STOPWORDS, Stems, fold
from carrel.providers.local.text import Paragraphs, read_all

_KEY_PHRASES = 40
_LONG_WORD_LETTERS = 6
_EASY_LIX = 20.0
_UNREADABLE_LIX = 100.0
_COMPARED_SENTENCES = 200
_COMPARED_STEMS = 60
_BACKWARD_WORDS = """accordingly additionally also and besides both but consequently either else former furthermore he
hence her his however instead it its itself latter likewise meanwhile moreover nevertheless nonetheless nor or otherwise
she similarly so still such that their them then therefore these they this those thus too yet"""
_BACKWARD = frozenset(_BACKWARD_WORDS.split())


class Measures(NamedTuple):
    """One judge's shares for one answer."""

    coverage: float
    clarity: float
    concision: float


class MeasuredText(NamedTuple):
    """A text's words by paragraph and sentence, and the content stems of its headings and sentences."""

    body: Paragraphs
    stems: list[tuple[str, ...]]


Measure = Callable[[MeasuredText], Measures]
"""Measures answers against the sources from which they were made."""


def text_of(markdown: str) -> MeasuredText:
    """`markdown`, read once for all measures."""
    body = read_all(markdown)
    stems = Stems()
    return MeasuredText(body, [stems.of(found) for found in chain(body.headings, body.sentences())])


def reader(sources: Sequence[MeasuredText]) -> Measure:
    """Key-phrase recall, readability, novelty.

    Coverage is the share of the source's key phrases that the answer holds. Each phrase weighs as often as the source
    says it. It is the mean over `sources` (the document, and a reference where there is one).
    """
    phrases = [_key_phrases(source) for source in sources]

    def measure(answer: MeasuredText) -> Measures:
        held = _phrases(answer)
        return _measures(answer, [_recall(wanted, held) for wanted in phrases], _readability, _novelty)

    return measure


def statistician(sources: Sequence[MeasuredText]) -> Measure:
    """Likeness of the word distributions, openings that do not dangle, trigrams that do not repeat.

    Coverage is 1 − the Jensen–Shannon divergence of content stems: Louis & Nenkova (2009), "Automatically evaluating
    content selection in summarization without human models"; the mean over `sources`.
    """
    counts = [Counter(chain.from_iterable(source.stems)) for source in sources]

    def measure(answer: MeasuredText) -> Measures:
        own = Counter(chain.from_iterable(answer.stems))
        likeness = [1 - jensen_shannon(count, own) for count in counts]
        return _measures(answer, likeness, lambda text: _anchored(sources[0], text), _unrepeated)

    return measure


def lix(sentences: Sequence[Sequence[str]]) -> float:
    """Words per sentence + percentage of words of more than six letters: Björnsson (1968), "Läsbarhet"."""
    counted = sum(map(len, sentences))
    long = sum(1 for sentence in sentences for word in sentence if len(word) > _LONG_WORD_LETTERS)
    return counted / len(sentences) + 100 * long / counted if counted else 0.0


def jensen_shannon(first: Mapping[str, int], second: Mapping[str, int]) -> float:
    """Divergence of two distributions given as counts, in bits: 0 equal, 1 disjoint; 1 too if one is empty.

    Lin (1991), "Divergence measures based on the Shannon entropy". The sum is exact, so every order gives the same
    result.
    """
    totals = sum(first.values()), sum(second.values())
    if not all(totals):
        return 1.0
    terms: list[float] = []
    for stem in first.keys() | second.keys():
        p, q = first.get(stem, 0) / totals[0], second.get(stem, 0) / totals[1]
        terms.extend(share / 2 * math.log2(2 * share / (p + q)) for share in (p, q) if share)
    return min(1.0, max(0.0, math.fsum(terms)))


def _measures(
    answer: MeasuredText,
    coverage: list[float],
    clarity: Callable[[MeasuredText], float],
    concision: Callable[[MeasuredText], float],
) -> Measures:
    if not any(answer.body.sentences()):
        return Measures(0.0, 0.0, 0.0)
    return Measures(math.fsum(coverage) / len(coverage), clarity(answer), concision(answer))


def _phrases(text: MeasuredText) -> Counter[str]:
    """Every word as written, and every pair of neighbouring content stems, with its count; in order of appearance."""
    found = Counter(fold(word) for sentence in chain(text.body.headings, text.body.sentences()) for word in sentence)
    found.update(f"{one} {two}" for stems in text.stems for one, two in pairwise(stems))
    return found


def _key_phrases(source: MeasuredText) -> dict[str, int]:
    """The 40 most frequent numbers, names and repeated bigrams; without any, the most frequent words."""
    wanted: Counter[str] = Counter()
    opening = Counter(sentence[0] for sentence in source.body.sentences())
    inner = Counter(chain.from_iterable(sentence[1:] for sentence in source.body.sentences()))
    for found, starts in ((inner, False), (opening, True)):
        for word, times in found.items():
            if _is_number(word) or _is_name(word, starts):
                wanted[fold(word)] += times
    bigrams = Counter(f"{one} {two}" for stems in source.stems for one, two in pairwise(stems))
    wanted.update({bigram: times for bigram, times in bigrams.items() if times > 1})
    if not wanted:
        wanted.update(fold(word) for sentence in source.body.sentences() for word in sentence)
    return dict(wanted.most_common(_KEY_PHRASES))


def _is_number(word: str) -> bool:
    return any(map(str.isdigit, word))


def _is_name(word: str, starts_sentence: bool) -> bool:
    """Capitals inside a word, or at its start inside a sentence."""
    inside = word[1:] != word[1:].lower()
    return inside or (not starts_sentence and word[0].isupper() and len(word) > 1 and fold(word) not in STOPWORDS)


def _recall(wanted: Mapping[str, int], held: Mapping[str, int]) -> float:
    total = sum(wanted.values())
    return sum(times for phrase, times in wanted.items() if phrase in held) / total if total else 0.0


def _readability(answer: MeasuredText) -> float:
    """1 for a LIX of 20 (very easy) or less, 0 for one of 100; very hard prose has about 60, and so 0.5.

    The slope is gentle on purpose: a full answer that is a little harder to read must not lose to an easy empty one.
    """
    share = (_UNREADABLE_LIX - lix(list(answer.body.sentences()))) / (_UNREADABLE_LIX - _EASY_LIX)
    return min(1.0, max(0.0, share))


def _novelty(answer: MeasuredText) -> float:
    """The mean over sentences of 1 − the greatest Jaccard likeness of content stems to an earlier sentence.

    Jaccard (1912), "The distribution of the flora in the alpine zone". Only the first 200 sentences and 60 stems of
    each take part: the work grows with the square.
    """
    sentences = answer.stems[len(answer.body.headings) :][:_COMPARED_SENTENCES]
    sets = [set(stems[:_COMPARED_STEMS]) for stems in sentences if stems]
    likeness = [
        max((len(own & earlier) / len(own | earlier) for earlier in sets[:at]), default=0.0)
        for at, own in enumerate(sets)
    ]
    return 1 - math.fsum(likeness) / len(sets) if sets else 0.0


def _anchored(source: MeasuredText, answer: MeasuredText) -> float:
    """The share of sentences whose opening does not dangle.

    An opening dangles if it points back (`This`, `However`) and what it points to is missing: a sentence quoted from
    the source follows another one than it does there, or a sentence of the answer's own begins a paragraph.
    """
    quotable: set[str] = set()
    followers: set[tuple[str, str]] = set()
    if any(_points_back(sentence) for sentence in answer.body.sentences()):
        lines = _lines(source.body.sentences())
        quotable.update(lines)
        followers.update(pairwise(lines))
    dangling = total = 0
    before = ""
    for paragraph in answer.body.paragraphs:
        for at, (sentence, line) in enumerate(zip(paragraph, _lines(paragraph), strict=True)):
            total += 1
            if _points_back(sentence):
                dangling += (before, line) not in followers if line in quotable else at == 0
            before = line
    return 1 - dangling / total


def _points_back(sentence: Sequence[str]) -> bool:
    return fold(sentence[0]) in _BACKWARD


def _lines(sentences: Iterable[Sequence[str]]) -> list[str]:
    return [" ".join(sentence) for sentence in sentences]


def _unrepeated(answer: MeasuredText) -> float:
    """1 − the share of word trigrams that occurred before."""
    seen: set[tuple[str, ...]] = set()
    total = 0
    for sentence in answer.body.sentences():
        folded = list(map(fold, sentence))
        trigrams = list(zip(folded, folded[1:], folded[2:], strict=False))
        total += len(trigrams)
        seen.update(trigrams)
    return len(seen) / total if total else 1.0
