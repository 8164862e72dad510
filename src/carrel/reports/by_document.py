"""The answers and verdicts, document by document: the part of a report that shows answers side by side. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from carrel.datasets import conversations
from carrel.evaluation import records
from carrel.evaluation.ranking import scores, shares
from carrel.evaluation.ranking.table import tabulate
from carrel.evaluation.records import Score, Verdict
from carrel.evaluation.statistics.intervals import rounded, rounded_or_none
from carrel.evaluation.statistics.means import mean
from carrel.kit.money import text_if_known
from carrel.reports import combined
from carrel.reports.document_input import MAX_JUDGEMENTS, DocumentsInput, JudgeMarks, PlannedAnswer, ReportDocument
from carrel.reports.report import AnswerReport, Cell, DocumentReport, MarkReport, PairShare, VerdictReport
from carrel.runs.model.plan import comparison_key
from carrel.runs.verdicts.judgement import Evidence


class Voices(NamedTuple):
    """The judges' verdicts on one document; `pairs` hold the share of the first candidate's win over the second."""

    verdicts: list[Verdict]
    standing: tuple[Cell, ...]
    pairs: dict[tuple[str, str], float]


def voices(found: DocumentsInput) -> Iterator[Voices]:
    """One entry for each document, in the order of the inputs."""
    return heard(found.evidence, [_name(document) for document in found.documents])


def heard(evidence: Evidence, names: Iterable[str]) -> Iterator[Voices]:
    """One entry for each of the documents with these names."""
    verdicts: defaultdict[str, list[Verdict]] = defaultdict(list)
    given: defaultdict[str, list[Score]] = defaultdict(list)
    for verdict in evidence.verdicts:
        verdicts[verdict.document].append(verdict)
    for score in evidence.scores:
        given[score.document].append(score)
    return (_voices(evidence, verdicts[name], given[name]) for name in names)


def _voices(evidence: Evidence, verdicts: list[Verdict], given: Sequence[Score]) -> Voices:
    labels = evidence.candidates
    documents = tabulate(labels, verdicts, evidence.comparison_weights).documents
    pairs = documents[0] if documents else ()
    won = shares.on_document(pairs)
    weights = evidence.scoring_weights
    by_judge = next(iter(scores.tabulate(given, evidence.criteria, weights).values()), {})
    cells = (
        Cell(
            candidate=label,
            win_share=rounded_or_none(won.get(i)),
            score=rounded_or_none(scores.on_document(by_judge, label, weights)),
        )
        for i, label in enumerate(labels)
    )
    return Voices(verdicts, tuple(cells), {(labels[a], labels[b]): y for a, b, y in pairs})


def pairs(labels: Sequence[str], spoken: Iterable[Voices]) -> tuple[PairShare, ...]:
    """Every pair that met, with the mean of its documents."""
    found: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for document in spoken:
        for pair, share in document.pairs.items():
            found[pair].append(share)
    return tuple(
        PairShare(
            a=a,
            b=b,
            share=rounded(mean(found[a, b])),
            documents=len(found[a, b]),
            better=sum(1 for share in found[a, b] if share > 0.5),
            worse=sum(1 for share in found[a, b] if share < 0.5),
        )
        for a, b in combinations(labels, 2)
        if (a, b) in found
    )


def documents(found: DocumentsInput, spoken: Sequence[Voices]) -> tuple[DocumentReport, ...]:
    """The documents with everything that belongs to them."""
    answers: defaultdict[int, list[PlannedAnswer]] = defaultdict(list)
    marks: defaultdict[tuple[int, int, int], list[JudgeMarks]] = defaultdict(list)
    for answer in found.answers:
        answers[answer.document].append(answer)
    for mark in found.marks:
        marks[mark.document, mark.candidate, mark.repeat].append(mark)
    listed = len(found.evidence.verdicts) <= MAX_JUDGEMENTS
    return tuple(
        DocumentReport(
            document=_name(document),
            name=document.name,
            characters=document.characters,
            text=document.text,
            flips=sum(1 for verdict in judged.verdicts if records.fate(verdict) == "flip"),
            standing=judged.standing,
            answers=tuple(_answer(found, answer, marks) for answer in answers[document.ordinal]),
            verdicts=tuple(_verdicts(found, judged.verdicts)) if listed else None,
            has_reference=document.has_reference,
            reference=document.reference,
            turns=None if document.turns is None else conversations.parse(document.turns),
        )
        for document, judged in zip(found.documents, spoken, strict=True)
    )


def _name(document: ReportDocument) -> str:
    return f"d{document.ordinal}"


def _answer(
    found: DocumentsInput, answer: PlannedAnswer, marks: Mapping[tuple[int, int, int], list[JudgeMarks]]
) -> AnswerReport:
    setup = found.setup
    return AnswerReport(
        candidate=setup.candidate(answer.candidate).label,
        repeat=answer.repeat,
        task_key=answer.key,
        # A report does not say which tasks were in flight at this moment.
        state="pending" if answer.state == "running" else answer.state,
        error=answer.error,
        finish_reason=answer.finish_reason,
        delivered=answer.delivered,
        words=answer.words,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        cost=text_if_known(answer.cost_micros),
        text=answer.text,
        marks=tuple(
            MarkReport(
                judge=setup.judge(mark.judge).name,
                repeat=mark.judge_repeat,
                fate=mark.fate,
                values=mark.values,
                said=mark.said,
            )
            for mark in marks.get((answer.document, answer.candidate, answer.repeat), ())
        ),
        existing=answer.existing,
        sources=combined.sources_of(found, answer),
        checks=answer.checks or (),
        citations=answer.citations or (),
        thought=answer.thought or None,
        reused=answer.reused,
    )


def _verdicts(found: DocumentsInput, verdicts: Iterable[Verdict]) -> Iterable[VerdictReport]:
    number = found.setup.round.number
    candidates = {candidate.label: candidate.ordinal for candidate in found.setup.candidates}
    judges = {judge.name: judge.ordinal for judge in found.setup.round.judges}
    for verdict in verdicts:
        asked = candidates[verdict.a], candidates[verdict.b], verdict.repeat, judges[verdict.judge]
        yield VerdictReport(
            judge=verdict.judge,
            a=verdict.a,
            b=verdict.b,
            repeat=verdict.repeat,
            fate=records.fate(verdict),
            by_rule=verdict.by_rule,
            ab=verdict.ab,
            ba=verdict.ba,
            said_ab=found.said.get(comparison_key(number, verdict.document, *asked, "ab")),
            said_ba=found.said.get(comparison_key(number, verdict.document, *asked, "ba")),
        )
