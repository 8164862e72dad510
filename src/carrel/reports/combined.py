"""What a report says of combined answers: from whose they were made, what they took, what that does to a verdict."""

from collections.abc import Iterator, Sequence

from carrel.evaluation.verdict import listed
from carrel.reports.dossier import Answer, Dossier
from carrel.reports.report import CombinationReport
from carrel.runs.judging import combining


def combination(dossier: Dossier) -> CombinationReport | None:
    """How the run combined answers; `None` if it did not, or not yet."""
    setup = dossier.setup
    made = tuple(candidate for candidate in setup.candidates if candidate.combines)
    if not made or not dossier.order:
        return None
    without = len(dossier.documents) - len(dossier.sources)
    theirs = tuple(candidate.label for candidate in made)
    return CombinationReport(
        candidates=theirs,
        sources=setup.sources,
        order=tuple(setup.candidate(ordinal).label for ordinal in dossier.order),
        without=without,
        notes=tuple(_notes(theirs, setup.sources, without)),
    )


def _notes(made: Sequence[str], sources: int, without: int) -> Iterator[str]:
    yield (
        f"{listed(made)} did not begin with the document alone: of each document, the answers of the {sources} best "
        "candidates were read and made into one, without names and in an order drawn by lot."
    )
    yield combining.SELECTION
    if without:
        were = "1 document has" if without == 1 else f"{without:,} documents have"
        yield f"{were} no combined answer, for fewer than two answers were delivered."


def sources_of(dossier: Dossier, answer: Answer) -> tuple[str, ...]:
    """The labels of those whose answers went into this one."""
    if not dossier.setup.candidate(answer.candidate).combines:
        return ()
    return tuple(dossier.setup.candidate(ordinal).label for ordinal, _ in dossier.sources.get(answer.document, ()))


def costs_to_have(dossier: Dossier, answers: Sequence[Answer]) -> list[int] | None:
    """What each of a candidate's answers takes, those that went into it included; `None` where that is not known.

    Answers that existed already say nothing of that, unless there are no others.
    """
    written = [answer for answer in answers if (answer.candidate, answer.document) not in dossier.existing] or answers
    given = {(one.document, one.candidate, one.repeat): one.cost_micros for one in dossier.answers}
    found = []
    for answer in written:
        parts = [answer.cost_micros]
        if dossier.setup.candidate(answer.candidate).combines:
            parts += (given.get((answer.document, *source)) for source in dossier.sources.get(answer.document, ()))
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        found.append(sum(known))
    return found or None
