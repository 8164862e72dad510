"""The part of a report about combined answers: their sources, their cost, and their effect on a verdict."""

from collections.abc import Iterator, Sequence

from carrel.evaluation.words import listed
from carrel.reports.document_input import DocumentsInput, PlannedAnswer
from carrel.reports.report import CombinationReport
from carrel.reports.report_input import ReportInput
from carrel.runs.verdicts import combining


def combination(report_input: ReportInput) -> CombinationReport | None:
    """How the run combined answers; `None` if it did not, or not yet."""
    setup = report_input.setup
    made = tuple(candidate for candidate in setup.candidates if candidate.combines)
    if not made or not report_input.order:
        return None
    without = len(report_input.documents) - len(report_input.sources)
    theirs = tuple(candidate.label for candidate in made)
    return CombinationReport(
        candidates=theirs,
        sources=setup.sources,
        order=tuple(setup.candidate(ordinal).label for ordinal in report_input.order),
        without=without,
        notes=tuple(_notes(theirs, setup.sources, without)),
    )


def _notes(made: Sequence[str], sources: int, without: int) -> Iterator[str]:
    yield (
        f"{listed(made)} did not begin with the document alone: for each document, they read the answers of the "
        f"{sources} best candidates, without names and in random order, and made one answer of them."
    )
    yield combining.SELECTION
    if without:
        were = "1 document has" if without == 1 else f"{without:,} documents have"
        yield f"{were} no combined answer, because fewer than two answers were delivered."


def sources_of(found: DocumentsInput, answer: PlannedAnswer) -> tuple[str, ...]:
    """The labels of the candidates whose answers went into this one."""
    if not found.setup.candidate(answer.candidate).combines:
        return ()
    return tuple(found.setup.candidate(ordinal).label for ordinal, _ in found.sources.get(answer.document, ()))


def costs_to_have(report_input: ReportInput, answers: Sequence[PlannedAnswer]) -> list[int] | None:
    """The mean cost of a candidate's answers, including their sources; `None` if it is not known.

    Answers that existed already do not count, unless there are no others.
    """
    written = [answer for answer in answers if not answer.existing] or answers
    given = {
        (one.document, one.candidate, one.repeat): one.cost_micros
        for one in (report_input.answers if report_input.sources else ())
    }
    found = []
    for answer in written:
        parts = [answer.cost_micros]
        if report_input.setup.candidate(answer.candidate).combines:
            parts += (given.get((answer.document, *source)) for source in report_input.sources.get(answer.document, ()))
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        found.append(sum(known))
    return found or None
