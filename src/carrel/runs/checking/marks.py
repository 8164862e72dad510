"""The rows of checks: what a run asks of its answers, which answers wait for it, and their marks.

Answers are checked in the order in which they came, so the last one that has marks says where to go on.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import msgspec

from carrel.checks import definition
from carrel.checks.definition import Check
from carrel.checks.fields import FieldFates
from carrel.checks.work import CheckInput
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, SqlColumn, as_json
from carrel.runs.model import log
from carrel.runs.model.setup import Setup

MAX_ANSWERS: Final = 500
MAX_CHARACTERS: Final = 1_000_000
"""A batch has at most so many answers, and no further one after so many characters: a worker needs about a second."""
MAX_FAILURES: Final = 3
"""A check that took too long for so many answers is not made any more."""

Mark = float | None


class RunCheck(NamedTuple):
    """A check of the run. `given_up`: it took too long too often.

    `candidates` are the numbers of those whose answers it is of; `None`: all of them.
    """

    number: int
    check: Check
    given_up: bool
    candidates: list[int] | None = None

    def is_of(self, candidate: int) -> bool:
        """Whether the check is of the answers of this candidate."""
        return self.candidates is None or candidate in self.candidates


class Waiting(NamedTuple):
    """An answer that has no marks yet, and the reference of its document, or what its row has beside."""

    seq: int
    candidate: int
    delivered: bool
    text: str
    expected: str | None
    label: str = ""
    metadata: dict[str, str] | None = None

    def answer(self, checks: Sequence[Check]) -> CheckInput:
        """What a worker gets."""
        cells = self.metadata or {}
        columns = ((check.name, check.column or check.columns.get(self.label)) for check in checks)
        named = {name: cells[column] for name, column in columns if column is not None and column in cells}
        return CheckInput(self.text, self.expected, named)


class CheckBatch(NamedTuple):
    """The next answers to be checked, with all checks of the run."""

    asked: list[RunCheck]
    answers: list[Waiting]


class CheckedBatch(NamedTuple):
    """A batch with the marks of its delivered answers, and how often each check failed, by its number.

    `strict` has the marks that they would have if no check ignored anything, where one does; `fields` what became of
    their fields, where a check compares these.
    """

    batch: CheckBatch
    marks: Sequence[Sequence[Mark]]
    failures: Mapping[int, int]
    strict: Sequence[Sequence[Mark]] = ()
    fields: Sequence[Mapping[str, FieldFates]] = ()


_asked = Select(RunCheck, check="definition", given_up=SqlColumn("failures >= 3", bool))
_with_cells = Select(Waiting, seq="generated.seq", text="generated.body", expected="run_texts.body")
_waiting = Select(Waiting, seq="generated.seq", text="generated.body", expected="run_texts.body", metadata="NULL")


def keep(conn: Connection, run: int, checks: Sequence[Check], schemas: Sequence[dict[str, Any] | None] = ()) -> None:
    """Store the checks of a new run, and one for each schema of its candidates, which is required.

    `schemas` are those of the candidates in their order.
    """
    candidates: dict[str, list[int]] = {}
    for ordinal, schema in enumerate(schemas, start=1):
        if schema is not None:
            candidates.setdefault(as_json(schema), []).append(ordinal)
    every: list[tuple[Check, str | None]] = [(check, None) for check in checks]
    for number, (text, ordinals) in enumerate(candidates.items(), start=1):
        every.append((definition.of_schema(msgspec.json.decode(text), number, checks), as_json(ordinals)))
    conn.executemany(
        f"INSERT INTO run_checks (run, number, definition, candidates) VALUES ({run}, ?, ?, ?)",
        ((number, as_json(check), ordinals) for number, (check, ordinals) in enumerate(every)),
    )


def asked(conn: Connection, run: int) -> list[RunCheck]:
    """The checks of the run in their order."""
    return _asked.all(conn, "FROM run_checks WHERE run = ? ORDER BY number", run)


def waiting(conn: Connection, setup: Setup) -> CheckBatch | None:
    """The next answers to be checked; `None` if there are none. Reads up to a megabyte and more: to be scanned."""
    after = conn.value("SELECT coalesce(max(generated), 0) FROM check_marks WHERE run = ?", setup.seq)
    checks = asked(conn, setup.seq)
    with_cells = any(definition.columns_of(one.check) for one in checks)
    answers = list(_up_to_a_batch(conn, setup.seq, after, _with_cells if with_cells else _waiting))
    return CheckBatch(checks, answers) if answers else None


def put(conn: Connection, setup: Setup, found: CheckedBatch) -> None:
    """Store the marks of a batch, but none twice. An answer that was not delivered passes nothing."""
    batch = found.batch
    required = [one.number for one in batch.asked if one.check.required]
    nothing = [0.0] * len(batch.asked)
    made = zip_longest(found.marks, found.strict, found.fields)
    for answer in batch.answers:
        every, strict, fields = next(made) if answer.delivered else (nothing, None, None)
        given = [mark if one.is_of(answer.candidate) else None for one, mark in zip(batch.asked, every, strict=True)]
        passes = answer.delivered and all(given[number] != 0.0 for number in required)
        # The run may have been deleted meanwhile.
        conn.run(
            "INSERT OR IGNORE INTO check_marks (generated, run, passes, marks, strict, fields)"
            " SELECT seq, run, ?, ?, ?, ? FROM generated WHERE seq = ? AND run = ?",
            *(passes, _rounded(given), strict and _rounded(strict), fields and as_json(fields), answer.seq, setup.seq),
        )
    for number, often in found.failures.items():
        conn.run("UPDATE run_checks SET failures = failures + ? WHERE run = ? AND number = ?", often, setup.seq, number)
        log.write(conn, setup.seq, "check-failed", level="warning", code="check-took-too-long")


def _rounded(given: Sequence[Mark]) -> str:
    return as_json([None if mark is None else round(mark, 6) for mark in given])


def _up_to_a_batch(conn: Connection, run: int, after: int, waits: Select[Waiting]) -> Iterator[Waiting]:
    characters = 0
    for answer in waits.each(
        conn,
        "FROM generated LEFT JOIN run_candidates ON run_candidates.run = generated.run"
        " AND run_candidates.ordinal = candidate"
        " LEFT JOIN run_documents ON run_documents.run = generated.run AND run_documents.ordinal = document"
        # The plus keeps SQLite from sorting all answers of the run: their numbers are in order already.
        " LEFT JOIN run_texts ON run_texts.seq = reference WHERE +generated.run = ? AND generated.seq > ?"
        " ORDER BY generated.seq LIMIT ?",
        *(run, after, MAX_ANSWERS),
    ):
        yield answer
        characters += len(answer.text) + len(answer.expected or "") + len(str(answer.metadata or ""))
        if characters > MAX_CHARACTERS:
            break
