"""What a report says of combined answers: from whose they were made, what they took, what that does to a verdict."""

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from carrel.evaluation.ranking import Ranking
from carrel.evaluation.verdict import Statement, listed
from carrel.kit.database import Connection
from carrel.runs.dossier import Answer, Dossier
from carrel.runs.report import CombinationReport

SELECTION = (
    "The judges that chose the sources also judged what was made from them, on the same documents. That flatters "
    "sources and combined answers alike: a narrow lead may be nothing but the luck of the choice. A run over other "
    "documents would tell."
)


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
    yield SELECTION
    if without:
        were = "1 document has" if without == 1 else f"{without:,} documents have"
        yield f"{were} no combined answer, for fewer than two answers were delivered."


def labels(conn: Connection, run: int) -> tuple[str, ...]:
    """The candidates that make their answers from those of others."""
    rows = conn.all("SELECT label FROM run_candidates WHERE run = ? AND combines ORDER BY ordinal", run)
    return tuple(label for (label,) in rows)


def cautioned(statement: Statement, ranking: Ranking, made: Collection[str]) -> Statement:
    """The verdict, with the selection among its doubts where it speaks for one of these, `made` from others' answers.

    Wherever a verdict is given it goes through here: in the report, and in the ranking.
    """
    if not set(ranking.leaders) & set(made):
        return statement
    return replace(statement, notes=(*statement.notes, SELECTION))


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
