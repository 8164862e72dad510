"""The built-in generators: each chooses sentences of the document within a word budget. None is a language model.

A generator returns indices into `document.sentences`. It may choose in any order; the answer keeps document order.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby, islice
from typing import NamedTuple

import numpy as np

from carrel.providers.local.english import Stems
from carrel.providers.local.markdown import blocks
from carrel.providers.local.text import ParsedText, budget_words, clip, inverse_frequency, read, stems_of, words
from carrel.providers.local.vectors import (
    Flags,
    Matrix,
    Vector,
    best_first,
    paired,
    settled,
    similarities,
    unit_vectors,
)

_DAMPING = 0.85
_REDUNDANT_COSINE = 0.5
_RELEVANCE_SHARE = 0.6
_SATURATION = 5.0
_DIVERSITY_WEIGHT = 6.0
_COST_EXPONENT = 0.3
_OUTLINED_SECTIONS = 100
_FALLBACK_BLOCKS = 200
_TASK_WORDS = """answer bullet brief concise document describe explain following input list main paragraph point provide
read reader sentence short summarise summary text word write written"""
_TASK_STEMS = frozenset(Stems().of(_TASK_WORDS.split()))


class SummaryRequest(NamedTuple):
    """What the caller asks for beside the document: the instructions, a word limit, and a seed for the control."""

    instructions: str = ""
    budget: int = 0
    seed: int | None = None


Generator = Callable[[ParsedText, SummaryRequest], list[int]]


def generate(
    model: str, markdown: str, instructions: str = "", *, at_most: int | None = None, seed: int | None = None
) -> tuple[str, bool]:
    """Return the summary that `model` makes of `markdown`, and whether `at_most` cut it short.

    It holds at most 12 % of the document (60–160 words; `at_most` lowers that). If the text has no sentence, or all its
    sentences are longer than `at_most`, the answer is the beginning of the text.

    Raises:
        KeyError: there is no such generator.
    """
    choose = GENERATORS[model]
    document = read(markdown)
    budget = budget_words(document, at_most)
    chosen = sorted(choose(document, SummaryRequest(instructions, budget, seed))) if document.sentences else []
    if not chosen:
        prose = (block.text for block in islice(blocks(markdown), _FALLBACK_BLOCKS) if not block.level)
        text = " ".join(prose) or markdown
        return clip(text, budget), at_most == budget and len(words(text)) > budget
    return (_under_headings(document, chosen) if model == "outline" else _as_paragraphs(document, chosen)), False


def lead(document: ParsedText, wanted: SummaryRequest) -> list[int]:
    """The first sentences: the baseline that is hard to beat on news, and easy on guides."""
    chosen: list[int] = []
    for at, sentence in enumerate(document.sentences):
        if sentence.words > wanted.budget:
            break
        wanted = wanted._replace(budget=wanted.budget - sentence.words)
        chosen.append(at)
    return chosen


def random(document: ParsedText, wanted: SummaryRequest) -> list[int]:
    """The control: sentences in the order of SHA-256 over seed, text and place, so the same call chooses the same."""
    text = "\n".join(sentence.text for sentence in document.sentences)
    root = hashlib.sha256(f"{wanted.seed}\n{text}".encode("utf-8", "surrogatepass")).digest()
    order = sorted(range(len(document.sentences)), key=lambda at: hashlib.sha256(root + at.to_bytes(4, "big")).digest())
    return _fill(document, order, wanted.budget)


def lexrank(document: ParsedText, wanted: SummaryRequest) -> list[int]:
    """Sentences that resemble many others: PageRank over cosines, without near-repetitions.

    Erkan & Radev (2004), "LexRank: graph-based lexical centrality as salience in text summarization": the continuous
    form, where similarities weigh the edges, with damping 0.85. The generator leaves out a sentence that resembles a
    better one by more than 0.5, because centrality alone would quote the same thing twice.
    """
    among = paired(range(len(document.sentences)))
    alike = _alike(document, among)
    chosen: list[int] = []
    budget = wanted.budget
    for at in best_first(_page_rank(alike)):
        cost = document.sentences[among[at]].words
        if cost <= budget and not any(alike[at, other] > _REDUNDANT_COSINE for other in chosen):
            chosen.append(at)
            budget -= cost
    return [among[at] for at in chosen]


def mmr(document: ParsedText, wanted: SummaryRequest) -> list[int]:
    """Sentences that answer the instruction and the document's theme, each unlike those already chosen.

    Maximal marginal relevance, Carbonell & Goldstein (1998), "The use of MMR, diversity-based reranking": the next
    sentence maximises 0.6 · cos(sentence, query) − 0.4 · max cos(sentence, chosen). The query is the sum of the
    instruction's and the document's vectors, so an instruction that names nothing of the document asks for its theme;
    words of the instruction that name the task (`summarise`, `document`) ask for nothing.
    """
    among = paired(range(len(document.sentences)))
    stems = _stems(document, among)
    everything = [stem for run in stems for stem in run]
    asked = [stem for stem in Stems().of(words(wanted.instructions)) if stem not in _TASK_STEMS]
    rows = unit_vectors([*stems, everything, asked], inverse_frequency(stems))
    sentences, query = rows[:-2], rows[-2] + rows[-1]
    length = float(np.sqrt(query @ query))
    relevance = similarities(sentences, query[np.newaxis, :] / (length or 1.0))[:, 0]
    alike = similarities(sentences, sentences)
    repetition = np.zeros(len(among))
    costs = _costs(document, among)
    open_ = np.ones(len(among), dtype=bool)
    chosen: list[int] = []
    budget = wanted.budget
    while (open_ & (costs <= budget)).any():
        gains = _RELEVANCE_SHARE * relevance - (1 - _RELEVANCE_SHARE) * repetition
        best = _best(gains, open_ & (costs <= budget))
        open_[best] = False
        chosen.append(among[best])
        budget -= int(costs[best])
        repetition = np.maximum(repetition, alike[best])
    return chosen


def submodular(document: ParsedText, wanted: SummaryRequest) -> list[int]:
    """Sentences that together cover the document and its sections. A sentence gains less, the more is covered already.

    Lin & Bilmes (2011), "A class of submodular functions for document summarization": F(S) = L(S) + λ R(S), where L =
    Σᵢ min(Σ_{j∈S} wᵢⱼ, α Σⱼ wᵢⱼ) is saturated coverage and R = Σₖ √(Σ_{j∈S∩Pₖ} rⱼ), rⱼ = Σᵢ wᵢⱼ / N, rewards diversity.
    The parts Pₖ are sections here, where the paper takes clusters; α = 5/N and λ = 6. The generator maximises F
    greedily by gain / wordsʳ and then compares the result with the best single sentence: Lin & Bilmes (2010),
    "Multi-document summarization via budgeted maximization of submodular functions". Here r = 0.3: with r = 1 the
    shortest sentences win because they are short.
    """
    among = paired(range(len(document.sentences)))
    alike = _alike(document, among)
    objective = _Objective(alike, [document.sentences[at].section for at in among])
    costs = _costs(document, among)
    open_ = costs <= wanted.budget
    chosen: list[int] = []
    budget = wanted.budget
    while (open_ & (costs <= budget)).any():
        best = _best(objective.gains() / costs**_COST_EXPONENT, open_ & (costs <= budget))
        open_[best] = False
        chosen.append(best)
        budget -= int(costs[best])
        objective.add(best)
    alone = _Objective(alike, objective.parts).gains()
    single = _best(alone, costs <= wanted.budget) if chosen else 0
    if chosen and alone[single] > objective.value():
        chosen = [single]
    return [among[at] for at in chosen]


def outline(document: ParsedText, wanted: SummaryRequest) -> list[int]:
    """The sentence of each section that is most like the whole section for its length; the longest sections first.

    The centroid of Radev, Jing, Styś & Tam (2004), "Centroid-based summarization of multiple documents", computed for
    each section alone. It is divided by wordsʳ as in `submodular`, because an outline must not be a few long sentences.
    Headings count towards the budget.
    """
    by_section = groupby(range(len(document.sentences)), lambda at: document.sentences[at].section)
    members = [paired(list(group)) for _, group in by_section]
    members.sort(key=lambda group: -sum(document.sentences[at].words for at in group))
    del members[_OUTLINED_SECTIONS:]
    stems = [_stems(document, group) for group in members]
    weights = inverse_frequency([sentence for group in stems for sentence in group])
    chosen: list[int] = []
    budget = wanted.budget
    for group, group_stems in zip(members, stems, strict=True):
        rows = unit_vectors([*group_stems, [stem for sentence in group_stems for stem in sentence]], weights)
        likeness = similarities(rows[:-1], rows[-1:])[:, 0]
        best = group[best_first(likeness / _costs(document, group) ** _COST_EXPONENT)[0]]
        heading = document.sections[document.sentences[best].section].heading
        cost = document.sentences[best].words + len(words(heading))
        if cost <= budget:
            chosen.append(best)
            budget -= cost
    return chosen


GENERATORS: Mapping[str, Generator] = {
    "lead": lead,
    "random": random,
    "lexrank": lexrank,
    "mmr": mmr,
    "submodular": submodular,
    "outline": outline,
}


class _Objective:
    """F of `submodular` for a growing set: what each sentence would add, and what the set is worth."""

    def __init__(self, alike: Matrix, parts: list[int]) -> None:
        self.parts = parts
        self._alike = alike
        self._part = np.array(parts)
        self._limit = min(1.0, _SATURATION / len(parts)) * alike.sum(axis=1)
        self._covered = np.zeros(len(parts))
        self._reward = alike.sum(axis=0) / len(parts)
        self._in_part = np.zeros(max(parts) + 1)

    def gains(self) -> Vector:
        held = np.minimum(self._covered, self._limit)
        after = np.minimum(self._covered[:, np.newaxis] + self._alike, self._limit[:, np.newaxis])
        coverage = (after - held[:, np.newaxis]).sum(axis=0)
        before = self._in_part[self._part]
        gains: Vector = coverage + _DIVERSITY_WEIGHT * (np.sqrt(before + self._reward) - np.sqrt(before))
        return gains

    def add(self, at: int) -> None:
        self._covered = self._covered + self._alike[:, at]
        self._in_part[self._part[at]] += self._reward[at]

    def value(self) -> float:
        return float(np.minimum(self._covered, self._limit).sum() + _DIVERSITY_WEIGHT * np.sqrt(self._in_part).sum())


def _alike(document: ParsedText, among: list[int]) -> Matrix:
    stems = _stems(document, among)
    rows = unit_vectors(stems, inverse_frequency(stems))
    return similarities(rows, rows)


def _stems(document: ParsedText, among: list[int]) -> list[tuple[str, ...]]:
    return stems_of(document.sentences[at] for at in among)


def _page_rank(alike: Matrix) -> Vector:
    """The stationary distribution of a walk along similarities that jumps anywhere with probability 0.15."""
    count = len(alike)
    sums = alike.sum(axis=1, keepdims=True)
    walk = np.divide(alike, sums, out=np.full_like(alike, 1 / count), where=sums > 0)
    rank = np.full(count, 1 / count)
    for _ in range(200):
        following = (1 - _DAMPING) / count + _DAMPING * (rank @ walk)
        if np.abs(following - rank).sum() < 1e-12:
            break
        rank = following
    return rank * count


def _costs(document: ParsedText, among: list[int]) -> Vector:
    return np.array([document.sentences[at].words for at in among], dtype=np.float64)


def _best(scores: Vector, allowed: Flags) -> int:
    return int(np.argmax(np.where(allowed, settled(scores), -math.inf)))


def _fill(document: ParsedText, order: Iterable[int], budget: int) -> list[int]:
    chosen: list[int] = []
    for at in order:
        if document.sentences[at].words <= budget:
            chosen.append(at)
            budget -= document.sentences[at].words
    return chosen


def _as_paragraphs(document: ParsedText, chosen: list[int]) -> str:
    """A paragraph for each section, as the document has them."""
    by_section = groupby(chosen, lambda at: document.sentences[at].section)
    return "\n\n".join(" ".join(document.sentences[at].text for at in members) for _, members in by_section)


def _under_headings(document: ParsedText, chosen: list[int]) -> str:
    lines: list[str] = []
    for at in chosen:
        section = document.sections[document.sentences[at].section]
        if section.heading:
            lines.append(f"{'#' * max(2, section.level)} {section.heading}")
        lines.append(document.sentences[at].text)
    return "\n\n".join(lines)
