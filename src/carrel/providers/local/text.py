"""What every built-in model reads: words, sentences in sections, inverse sentence frequency, the word budget."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from carrel.providers.local.english import ABBREVIATIONS, Stems
from carrel.providers.local.markdown import Block, blocks

MIN_SENTENCE_WORDS = 5
MAX_SENTENCE_WORDS = 60
MIN_BUDGET_WORDS = 60
MAX_BUDGET_WORDS = 160
BUDGET_SHARE = 0.12
MAX_SENTENCES = 50_000
"""The reader stops after this many sentences; a book has fewer."""
_MAX_WORD_LETTERS = 40
"""Longer "words" are hashes, keys and encoded data: text that holds one is not a sentence."""

_WORD = re.compile(
    # A Chinese or Japanese sign counts as a word: without spaces no better division is possible.
    r"[\u3040-\u30ff\u3400-\u9fff]|"
    r"[^\W_\u3040-\u30ff\u3400-\u9fff]++(?:['’\-._][^\W_\u3040-\u30ff\u3400-\u9fff]++)*+"
)
_STOP = re.compile(r"[.!?…](?<![.!?…][.!?…])[.!?…]*+[\"'”’)\]]*+(?=\s)|[。！？]++[」』”’）]*+")
_CLOSED = re.compile(r"[.!?…。！？][\"'”’)\]」』）]{0,3}\Z")


class Sentence(NamedTuple):
    """One sentence: `text` as an answer quotes it, the number of its words, and its section's index."""

    text: str
    words: int
    section: int


class Section(NamedTuple):
    """A heading, empty where there is none, and the number of Markdown's `#` before it."""

    heading: str
    level: int


class Paragraphs(NamedTuple):
    """A text as a judge reads it: the words of its headings, and of the sentences of each paragraph."""

    headings: list[list[str]]
    paragraphs: list[list[list[str]]]

    def sentences(self) -> Iterator[list[str]]:
        """The words of every sentence, of whatever length, in order."""
        return chain.from_iterable(self.paragraphs)


class ParsedText(NamedTuple):
    """What a built-in model sees of a text; `words` counts all prose, also that of left-out sentences."""

    sections: tuple[Section, ...]
    sentences: tuple[Sentence, ...]
    words: int


def words(text: str) -> list[str]:
    """The words of `text` as written. Budgets, usage and readability all use this count."""
    return _WORD.findall(text)


def split_sentences(paragraph: str) -> Iterator[str]:
    """Sentences of one line of plain text. A full stop after an abbreviation or an initial does not end a sentence."""
    start = 0
    for stop in _STOP.finditer(paragraph):
        if _ends_sentence(paragraph, start, stop):
            yield paragraph[start : stop.end()].strip()
            start = stop.end()
    if paragraph[start:].strip():
        yield paragraph[start:].strip()


def read(markdown: str) -> ParsedText:
    """`markdown` as sections and their sentences of 5–60 words, in document order.

    It leaves out a sentence that ends in a colon, because what the colon announces would not come with it. It leaves
    out a sentence with an address, because that is not prose, and a repeated sentence, because it says nothing new. A
    text without headings is cut into sections of five sentences: as many as Lin & Bilmes (2011) make clusters, 0.2 N.
    """
    sections = [Section("", 0)]
    sentences: list[Sentence] = []
    seen: set[str] = set()
    total = 0
    for block, texts in _prose(markdown):
        if block.level:
            sections.append(Section(block.text, block.level))
        for text in texts:
            found = words(text)
            total += len(found)
            if _is_quotable(text, found) and text not in seen:
                seen.add(text)
                sentences.append(Sentence(_closed(text), len(found), len(sections) - 1))
    if sentences and sentences[0].section == sentences[-1].section:
        section = sections[sentences[0].section]
        sentences = [sentence._replace(section=at // 5) for at, sentence in enumerate(sentences)]
        sections = [section] + [Section("", 0)] * (sentences[-1].section)
    return ParsedText(tuple(sections), tuple(sentences), total)


def read_all(markdown: str) -> Paragraphs:
    """`markdown` as the words of all its sentences, also those that `read` finds too short or long to quote."""
    text = Paragraphs([], [])
    for block, texts in _prose(markdown):
        if block.level:
            text.headings.append(words(block.text))
        else:
            text.paragraphs.append([found for one in texts if (found := words(one))])
    return text


def budget_words(document: ParsedText, at_most: int | None = None) -> int:
    """How many words an answer may have: 12 % of the document's prose, but 60–160; `at_most` is the caller's limit."""
    budget = min(MAX_BUDGET_WORDS, max(MIN_BUDGET_WORDS, math.floor(document.words * BUDGET_SHARE)))
    return budget if at_most is None else max(0, min(budget, at_most))


def clip(text: str, limit: int) -> str:
    """The beginning of `text` with at most `limit` words, on one line. The length in characters is bounded, too."""
    line = " ".join(text[: 64 * (limit + 1)].split())[: 12 * limit]
    starts = [match.start() for match in _WORD.finditer(line)]
    return line[: starts[limit]].rstrip() if len(starts) > limit else line


def stems_of(sentences: Iterable[Sentence]) -> list[tuple[str, ...]]:
    """The stems of each sentence's content words, in order."""
    stems = Stems()
    return [stems.of(words(sentence.text)) for sentence in sentences]


def inverse_frequency(stems: Sequence[tuple[str, ...]]) -> dict[str, float]:
    """Weight of each stem: ln(1 + N / n) with N sentences, n of which hold the stem.

    The inverse sentence frequency of Neto, Santos, Kaestner & Freitas (2000), "Document clustering and text
    summarization". The 1 keeps a stem that every sentence holds, which is every stem in a document of one sentence.
    """
    holders = Counter(stem for sentence in stems for stem in dict.fromkeys(sentence))
    return {stem: math.log(1 + len(stems) / holders[stem]) for stem in holders}


def _prose(markdown: str) -> Iterator[tuple[Block, list[str]]]:
    """Each block with its sentences, none for a heading, until `MAX_SENTENCES` have been read."""
    left = MAX_SENTENCES
    for block in blocks(markdown):
        found = [] if block.level else list(islice(split_sentences(block.text), left))
        left -= len(found)
        yield block, found
        if not left:
            return


def _ends_sentence(paragraph: str, start: int, stop: re.Match[str]) -> bool:
    if stop[0][0] != ".":
        return True
    before = paragraph[max(start, stop.start() - 16) : stop.start()].rpartition(" ")[2].lstrip("([\"'“‘").casefold()
    after = paragraph[stop.end() : stop.end() + 2].strip()
    if stop[0].startswith("..") and after.islower():
        return False
    return before not in ABBREVIATIONS and not (len(before) == 1 and before.isalpha())


def _is_quotable(text: str, found: list[str]) -> bool:
    return (
        MIN_SENTENCE_WORDS <= len(found) <= MAX_SENTENCE_WORDS
        and not text.endswith((":", "："))
        and "://" not in text
        and max(map(len, found)) <= _MAX_WORD_LETTERS
    )


def _closed(text: str) -> str:
    """Add a full stop to a list item that has none, because the item would otherwise run into the next sentence."""
    return text if _CLOSED.search(text, len(text) - 4 if len(text) > 4 else 0) else text.rstrip(" ,;–—-") + "."
