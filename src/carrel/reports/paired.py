"""The figures of two runs on the documents that both have, paired by document. Pure.

Documents differ more from each other than two runs do on the same document. So the differences by document have a much
narrower interval than the two means have.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from carrel.evaluation.ranking import differences, grouping
from carrel.evaluation.ranking.differences import PairedDifference
from carrel.evaluation.statistics import clusters
from carrel.evaluation.statistics.intervals import rounded, rounded_or_none
from carrel.evaluation.statistics.means import mean
from carrel.reports.against_report import AgainstCell, AgainstDocument, Scale
from carrel.reports.report import Report
from carrel.runs.verdicts.judgement import Evidence

MOST_DOCUMENTS: Final = 1_000

Figures = dict[str, dict[str, float]]
"""Text of a document → candidate → figure; documents of a run with the same text are one."""


class Side(NamedTuple):
    """One of two runs: its report, the digest of each document's text, and what its judges said."""

    report: Report
    texts: tuple[str, ...]
    evidence: Evidence

    def figures(self, scale: Scale) -> Figures:
        """Every figure of the run by text."""
        found: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for document, text in zip(self.report.documents, self.texts, strict=True):
            for answer in document.answers if scale == "checks" else ():
                marks = [mark for mark in answer.checks if mark is not None]
                if marks:
                    found[text][answer.candidate].append(mean(marks))
            for cell in document.standing if scale != "checks" else ():
                value = cell.score if scale == "score" else cell.win_share
                if value is not None:
                    found[text][cell.candidate].append(value)
        return {text: {one: mean(values) for one, values in cells.items()} for text, cells in found.items()}

    def planned(self, scale: Scale) -> Mapping[str, set[str]]:
        """Text → the candidates that were to have a figure: none where they were beaten before, or the run stopped."""
        named = {document.document: text for document, text in zip(self.report.documents, self.texts, strict=True)}
        found: defaultdict[str, set[str]] = defaultdict(set)
        if scale == "checks":
            for document in self.report.documents:
                found[named[document.document]].update(answer.candidate for answer in document.answers)
        elif scale == "score":
            for score in self.evidence.scores:
                found[named[score.document]].add(score.candidate)
        else:
            for verdict in self.evidence.verdicts:
                found[named[verdict.document]].update((verdict.a, verdict.b))
        return found

    def field(self) -> set[str]:
        """The candidates that were compared."""
        return {row.candidate for row in self.report.ranking.rows if row.win_share is not None}


class Pairs(NamedTuple):
    """The figures of both runs on shared documents, and the groups of these.

    `halves` are by candidate those on documents on which not both runs have one, here and there.
    """

    here: Figures
    there: Figures
    groups: Mapping[str, str]
    halves: Mapping[str, Mapping[str, tuple[float | None, float | None]]]

    def difference(self, candidate: str) -> PairedDifference | None:
        """The mean difference of a candidate; `None` without a document.

        It is called better or worse only if it would be with what is missing at its worst as well.
        """
        by_text = {
            text: cells[candidate] - self.there[text][candidate]
            for text, cells in self.here.items()
            if candidate in cells and candidate in self.there.get(text, {})
        }
        if not by_text:
            return None
        found = differences.paired(clusters.sampled(by_text, self.groups))
        halves = self.halves.get(candidate, {})
        if found.outcome == "undecided" or not halves:
            return found
        here, there = (0.0, 1.0) if found.outcome == "better" else (1.0, 0.0)
        ends = {
            text: (here if mine is None else mine) - (there if other is None else other)
            for text, (mine, other) in halves.items()
        }
        if differences.paired(clusters.sampled(by_text | ends, self.groups)).outcome == found.outcome:
            return found
        low, high = min(found.low or 0.0, 0.0), max(found.high or 0.0, 0.0)
        return msgspec.structs.replace(found, low=low, high=high, outcome="undecided")


def by_scores(here: Side, there: Side) -> Pairs:
    """Scores: the mean over the judges who scored an answer, between 0 and 1."""
    return _pairs(here, there, "score")


def by_checks(here: Side, there: Side) -> Pairs:
    """The mean of the marks of an answer, which need no judge."""
    return _pairs(here, there, "checks")


def by_shares(here: Side, there: Side) -> Pairs | str:
    """Win shares where both runs compared the same candidates on the document, or why there are none."""
    ours, theirs = here.field(), there.field()
    if not ours or not theirs:
        return "Win shares cannot be compared: one of the runs has compared nothing."
    if ours != theirs:
        return "Win shares cannot be compared: they depend on who takes part, and other candidates took part there."
    found = _pairs(here, there, "win_share")
    if not found.here.keys() & found.there.keys():
        return "Win shares cannot be compared: the runs compared the same candidates on no document of both."
    return found


def _pairs(here: Side, there: Side, scale: Scale) -> Pairs:
    mine, yours = here.figures(scale), there.figures(scale)
    planned = here.planned(scale), there.planned(scale)
    # Whoever is missing on a document is missing in the shares of all others.
    whole = (_whole(mine, yours), _whole(yours, mine)) if scale == "win_share" else (mine, yours)
    both = {one for cells in mine.values() for one in cells} & {one for cells in yours.values() for one in cells}
    halves: defaultdict[str, dict[str, tuple[float | None, float | None]]] = defaultdict(dict)
    for text in sorted(planned[0].keys() & planned[1].keys()):
        ours, theirs = planned[0][text], planned[1][text]
        if scale == "win_share" and ours != theirs:
            continue
        known = mine.get(text, {}).keys() | yours.get(text, {}).keys()
        for candidate in known & ours & theirs & both:
            figures = whole[0].get(text, {}).get(candidate), whole[1].get(text, {}).get(candidate)
            if None in figures:
                halves[candidate][text] = figures
    return Pairs(*whole, _joined(here, there), halves)


def _whole(mine: Figures, yours: Figures) -> Figures:
    """Those on documents on which no candidate is missing that the other run has."""
    return {text: cells for text, cells in mine.items() if cells.keys() >= yours.get(text, {}).keys()}


def documents(here: Side, there: Side, candidates: list[str], pairs: Pairs) -> list[AgainstDocument]:
    """The shared documents with the figures of these candidates; the greatest loss of any candidate comes first."""
    other = {text: one.document for text, one in reversed(list(zip(there.texts, there.report.documents, strict=True)))}
    found: dict[str, AgainstDocument] = {}
    for text, document in zip(here.texts, here.report.documents, strict=True):
        if text in other and text not in found:
            cells = tuple(_cell(pairs, text, candidate) for candidate in candidates)
            found[text] = AgainstDocument(here=document.document, there=other[text], name=document.name, cells=cells)
    return sorted(found.values(), key=_worst)


def _worst(document: AgainstDocument) -> float:
    return min((cell.difference for cell in document.cells if cell.difference is not None), default=math.inf)


def _cell(pairs: Pairs, text: str, candidate: str) -> AgainstCell:
    here, there = (side.get(text, {}).get(candidate) for side in (pairs.here, pairs.there))
    return AgainstCell(
        candidate=candidate,
        here=rounded_or_none(here),
        there=rounded_or_none(there),
        difference=None if here is None or there is None else rounded(here - there),
    )


def _joined(*sides: Side) -> dict[str, str]:
    """Documents belong together if they do in either run."""
    return grouping.joined(_together(sides))


def _together(sides: tuple[Side, ...]) -> Iterator[tuple[str, str]]:
    for side in sides:
        texts = {one.document: text for one, text in zip(side.report.documents, side.texts, strict=True)}
        for document, group in side.evidence.groups.joined.items():
            yield texts[document], texts[group]
