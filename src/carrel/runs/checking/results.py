"""What the checks of a run come to: rates for each candidate, as they were when a round ended, or as they are now."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from carrel.evaluation import passing
from carrel.evaluation.classes import ClassEvidence
from carrel.evaluation.passing import AnswerMarks, CheckResults
from carrel.evaluation.ranking import grouping
from carrel.evaluation.ranking.ranking import Measure
from carrel.evaluation.records import Mark
from carrel.evaluation.statistics.means import mean
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, SqlColumn
from carrel.runs.checking import labels, marks
from carrel.runs.model import units
from carrel.runs.model.setup import Setup

_results = msgspec.json.Decoder(CheckResults)
_marks = Select(
    AnswerMarks,
    document="generated.document - 1",
    candidate="generated.candidate - 1",
    passes="passes",
    marks="marks",
    strict="coalesce(strict, '[]')",
    fields="coalesce(fields, '{}')",
)


class _Checked(NamedTuple):
    """An answer that was planned; without marks if it never came. `text` is its beginning, where it was delivered."""

    document: int
    candidate: int
    repeat: int
    passes: bool | None
    marks: list[float | None] | None
    text: str | None


_checked = Select(
    _Checked,
    document="tasks.document",
    candidate="tasks.candidate",
    repeat="tasks.repeat",
    passes=SqlColumn("passes", bool),
    text=f"iif(delivered, substr(body, 1, {labels.CHARACTERS + 1}), NULL)",
)
_OF_ANSWERS = (
    "FROM generated JOIN check_marks ON generated = generated.seq WHERE generated.run = ?"
    " ORDER BY generated.document, generated.candidate, generated.repeat"
)


def of(conn: Connection, setup: Setup) -> CheckResults | None:
    """What the checks come to now; `None` if the run has none. Goes through all answers: to be scanned."""
    if not setup.checks:
        return None
    names = [f"d{ordinal}" for ordinal in range(1, setup.documents + 1)]
    judged = units.of(conn, setup.seq)
    same = judged.same
    documents = [name for name in names if name not in same]
    places = {name: place for place, name in enumerate(documents)}
    moved = [places[same.get(name, name)] for name in names]
    return passing.results(
        [one.check for one in marks.asked(conn, setup.seq)],
        [candidate.label for candidate in setup.candidates],
        documents,
        _answers(conn, setup.seq, moved),
        grouping.moved(judged.groups, same).joined,
    )


def measure(conn: Connection, setup: Setup) -> Measure | None:
    """What the verdict is about where it is by checks; `None` where it is by judges."""
    if not setup.checks:
        return None
    headline = conn.value(
        "SELECT json_extract(configuration, '$.headline') FROM run_snapshots WHERE run = ?", setup.seq
    )
    if headline == "judges" or (headline is None and setup.round.judges):
        return None
    if headline == "macro_f1":
        return "macro_f1"
    asked = [one.check for one in marks.asked(conn, setup.seq)]
    if any(check.required for check in asked):
        return "required"
    return "accuracy" if [check.kind for check in asked] == ["equals"] else "checks"


def marked(conn: Connection, setup: Setup, by: Measure) -> Iterator[Mark]:
    """What the checks say of each answer by a measure; nothing where no check says anything of it."""
    found = labels.of(conn, setup) if by in ("accuracy", "macro_f1") else None
    for row in _checked.each(
        conn,
        "FROM tasks LEFT JOIN generated ON generated.task = tasks.seq"
        " LEFT JOIN check_marks ON check_marks.generated = generated.seq"
        " WHERE tasks.run = ? AND tasks.kind IN ('generate', 'combine') ORDER BY tasks.seq",
        setup.seq,
    ):
        known = [mark for mark in row.marks or () if mark is not None]
        if by == "required" or row.passes is None:
            value = None if row.passes is None else float(row.passes)
        else:
            value = mean(known) if known else None
        if value is not None or row.passes is None:
            yield Mark(
                document=f"d{row.document}",
                candidate=setup.candidate(row.candidate).label,
                repeat=row.repeat,
                value=value,
                expected=None if found is None else found.documents.get(row.document),
                answer=None if found is None or row.text is None else found.number(row.text),
            )


def classes(conn: Connection, setup: Setup) -> ClassEvidence | None:
    """What the classes of the run's answers follow from; `None` if it has none. Unbounded: to be scanned."""
    found = labels.of(conn, setup)
    if found is None:
        return None
    judged = units.of(conn, setup.seq)
    given = [
        msgspec.structs.replace(mark, document=judged.same.get(mark.document, mark.document))
        for mark in marked(conn, setup, "macro_f1")
    ]
    candidates = tuple(candidate.label for candidate in setup.candidates)
    groups = grouping.moved(judged.groups, judged.same).joined
    return ClassEvidence(found.check.name, found.names, candidates, given, groups)


def by_part(conn: Connection, setup: Setup, places: Sequence[int], parts: int) -> list[CheckResults | None]:
    """What the checks come to on each part of the documents; `places` has the number of each document's part.

    Goes through all answers once: to be scanned.
    """
    if not setup.checks:
        return [None] * parts
    judged = units.of(conn, setup.seq)
    checks = [one.check for one in marks.asked(conn, setup.seq)]
    # A document with the text of an earlier one of its part counts as that one.
    firsts: dict[tuple[int, str], tuple[int, str]] = {}
    documents: list[list[str]] = [[] for _ in range(parts)]
    moved: list[tuple[int, int]] = []
    for ordinal, part in enumerate(places, start=1):
        name = f"d{ordinal}"
        unit = part, judged.same.get(name, name)
        if unit not in firsts:
            firsts[unit] = len(documents[part]), name
            documents[part].append(name)
        moved.append((part, firsts[unit][0]))
    labels = [candidate.label for candidate in setup.candidates]
    tallies = [passing.Tally(checks, labels, names) for names in documents]
    for answer in _marks.each(conn, _OF_ANSWERS, setup.seq):
        part, place = moved[answer.document]
        tallies[part].add(msgspec.structs.replace(answer, document=place))
    groups = judged.groups.joined
    return [tally.results(groups) for tally in tallies]


def kept(conn: Connection, run: int, round_number: int) -> CheckResults | None:
    """What the checks came to when the round ended; `None` if the run has none, or the round has not ended."""
    stored = conn.value("SELECT checks FROM run_rankings WHERE run = ? AND round = ?", run, round_number)
    return None if stored is None else _results.decode(stored)


def put(conn: Connection, run: int, round_number: int, found: CheckResults) -> None:
    """Store what the checks came to, beside the round's ranking, which is stored already."""
    conn.run(
        "UPDATE run_rankings SET checks = ? WHERE run = ? AND round = ?",
        *(msgspec.json.encode(found).decode(), run, round_number),
    )


def _answers(conn: Connection, run: int, moved: Sequence[int]) -> Iterator[AnswerMarks]:
    """The marks of all answers. A document with the text of an earlier one counts as that one."""
    for answer in _marks.each(conn, _OF_ANSWERS, run):
        yield msgspec.structs.replace(answer, document=moved[answer.document])
