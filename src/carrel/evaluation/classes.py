"""Answers that are classes: which were mistaken for which, with precision, recall and F1 of each. Pure."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from carrel.evaluation.records import Mark
from carrel.evaluation.statistics import clusters, f_scores, rates
from carrel.evaluation.statistics.f_scores import Classified, FScores
from carrel.evaluation.statistics.intervals import rounded
from carrel.evaluation.statistics.rates import PassRate
from carrel.evaluation.words import counted, listed, percent

MAJORITY: Final = "the most frequent answer"
"""A candidate that everybody has to beat: it always gives the most frequent of the expected answers."""
MOST_CLASSES: Final = 50
FEWEST_DOCUMENTS: Final = 2
"""So many documents for each class; otherwise the expected answers are no classes."""


class ClassFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One class as a candidate tells it: the shares of hits among what it said and among what is, and their F1.

    `confused` is how many documents of this class it gave to each class, in their order, and last to none of them;
    several answers to one document count as parts.
    """

    name: str
    precision: PassRate
    recall: PassRate
    f1: PassRate
    confused: tuple[float, ...]


class CandidateClasses(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate: how often it is right, and the means of the classes' precision, recall and F1."""

    candidate: str
    accuracy: PassRate
    macro_f1: PassRate
    micro_f1: float
    weighted_f1: float
    macro_precision: float
    macro_recall: float
    classes: tuple[ClassFigures, ...]


class ClassResults(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a run by classes; without any, `sentence` says why. No verdict follows from them.

    Figures are those of scikit-learn with the expected answers as its `labels`. The last row is that of the most
    frequent answer, `majority`.
    """

    sentence: str
    check: str | None = None
    classes: tuple[str, ...] = ()
    majority: str | None = None
    rows: tuple[CandidateClasses, ...] = ()


class ClassEvidence(msgspec.Struct, frozen=True):
    """Which class each answer has and was given, by the numbers of `names`; `groups` are those of documents."""

    check: str
    names: tuple[str, ...]
    candidates: tuple[str, ...]
    marks: list[Mark]
    groups: dict[str, str]


NO_CLASSES: Final = ClassResults(
    sentence="No check compares the answers with expected ones that are classes: at most"
    f" {MOST_CLASSES} different ones, each with {FEWEST_DOCUMENTS} documents on average."
)


def results(found: ClassEvidence) -> ClassResults:
    """The figures of every candidate and of the most frequent answer."""
    known = [mark for mark in found.marks if mark.expected is not None]
    most = majority(known)
    every = [*known, *constant(known, most)]
    rows = tuple(_row(one, found.names, every, found.groups) for one in (*found.candidates, MAJORITY))
    told = listed([f"{row.candidate} {percent(row.macro_f1.share)}" for row in rows if row.macro_f1.share is not None])
    on = counted(len({mark.document for mark in known}), "document")
    return ClassResults(
        sentence=f"Macro F1 over {len(found.names)} classes: {told}, on {on}.",
        check=found.check,
        classes=found.names,
        majority=found.names[most],
        rows=rows,
    )


def majority(marks: Sequence[Mark]) -> int:
    """The number of the class of most documents; of the first one if several have as many."""
    often = Counter({mark.document: mark.expected for mark in marks if mark.expected is not None}.values())
    return min(often, key=lambda one: (-often[one], one))


def constant(marks: Sequence[Mark], answer: int) -> list[Mark]:
    """What the checks say of somebody who always gives this answer."""
    expected = {mark.document: mark.expected for mark in marks if mark.expected is not None}
    return [
        Mark(document=document, candidate=MAJORITY, value=float(one == answer), expected=one, answer=answer)
        for document, one in expected.items()
    ]


def by_candidate(marks: Sequence[Mark], classes: int) -> dict[str, tuple[list[str], FScores]]:
    """The documents with an answer of each candidate, and what is known of the classes from them."""
    found: defaultdict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        if mark.value is not None and mark.expected is not None:
            found[mark.candidate].append(mark)
    return {candidate: _scored(given, classes) for candidate, given in found.items()}


def _scored(marks: Sequence[Mark], classes: int) -> tuple[list[str], FScores]:
    documents = list(dict.fromkeys(mark.document for mark in marks))
    places = {document: place for place, document in enumerate(documents)}
    found = Classified(
        [places[mark.document] for mark in marks],
        [mark.expected or 0 for mark in marks],
        [-1 if mark.answer is None else mark.answer for mark in marks],
    )
    return documents, f_scores.scores(found, classes)


def macro(found: FScores, documents: Sequence[str], groups: Mapping[str, str]) -> PassRate:
    """The macro F1 with its interval; `documents` are those with an answer."""
    low, high = f_scores.macro_interval(found, clusters.numbers(documents, groups))
    return _told(float(found.f1.mean()), low, high, len(documents))


def _row(candidate: str, names: Sequence[str], marks: Sequence[Mark], groups: Mapping[str, str]) -> CandidateClasses:
    own = [mark for mark in marks if mark.candidate == candidate and mark.value is not None]
    if not own:
        nothing = rates.rate([])
        return CandidateClasses(
            candidate=candidate,
            accuracy=nothing,
            macro_f1=nothing,
            micro_f1=0.0,
            weighted_f1=0.0,
            macro_precision=0.0,
            macro_recall=0.0,
            classes=(),
        )
    documents, found = _scored(own, len(names))
    numbers = clusters.numbers(documents, groups)
    spread = f_scores.clustering(found.each.mean(axis=1).tolist(), numbers)
    return CandidateClasses(
        candidate=candidate,
        accuracy=_rate([(mark.document, mark.expected == mark.answer) for mark in own], groups),
        macro_f1=macro(found, documents, groups),
        micro_f1=rounded(found.micro_f1),
        weighted_f1=rounded(found.weighted_f1),
        macro_precision=rounded(float(found.precision.mean())),
        macro_recall=rounded(float(found.recall.mean())),
        classes=tuple(_class(place, name, own, found, spread, groups) for place, name in enumerate(names)),
    )


def _class(
    place: int, name: str, own: Sequence[Mark], found: FScores, spread: float, groups: Mapping[str, str]
) -> ClassFigures:
    ours = [mark for mark in own if mark.expected == place]
    weights = Counter(mark.document for mark in own)
    confused = [0.0] * (len(found.f1) + 1)
    for mark in ours:
        confused[-1 if mark.answer is None else mark.answer] += 1.0 / weights[mark.document]
    low, high = f_scores.class_interval(found, place, spread)
    said = [(mark.document, mark.expected == place) for mark in own if mark.answer == place]
    return ClassFigures(
        name=name,
        precision=_rate(said, groups),
        recall=_rate([(mark.document, mark.answer == place) for mark in ours], groups),
        f1=_told(float(found.f1[place]), low, high, len({mark.document for mark in ours})),
        confused=tuple(rounded(one) for one in confused),
    )


def _rate(hits: Sequence[tuple[str, bool]], groups: Mapping[str, str]) -> PassRate:
    by_document: defaultdict[str, list[float]] = defaultdict(list)
    for document, hit in hits:
        by_document[document].append(float(hit))
    sample = clusters.sampled({one: sum(values) / len(values) for one, values in by_document.items()}, groups)
    return rates.rate(*sample)


def _told(share: float, low: float, high: float, documents: int) -> PassRate:
    return PassRate(share=rounded(share), low=rounded(low), high=rounded(high), documents=documents)
