"""The parts of an export, each written in steps that hold about a megabyte.

A scan runs each step. The step reads from a place on, writes into the archive, and returns the place of the next step.
"""

from collections.abc import Callable
from itertools import islice
from typing import Literal, NamedTuple

import msgspec

from carrel.kit.sqlite.database import Connection
from carrel.reports.archive import Archive, csv_rows
from carrel.reports.export_tables import ANSWER_FILES, TABLES, CsvTable, answer_file
from carrel.runs.model import log
from carrel.runs.model.names import numbered
from carrel.runs.model.setup import RunId

STEP_BYTES = 1024 * 1024
LOG_ROWS = 2_000
_ROWS_AT_ONCE = 50
"""Of a table: each may hold a judge's long words."""

_lines = msgspec.json.Encoder()

Place = tuple[int, ...]
START: Place = (0, 0, 0)

README = """\
What is in this archive
=======================

report.html         the report, to read in any browser; it loads nothing and leads nowhere
report.json         the same for programs; everything outside of "run" follows from configuration, texts and answers
configuration.json  what the run worked from: as it was executed, and with every text resolved
documents/          the documents that went in
references/         what judges held the answers to, for the documents that have a reference
generated/          the answers, one folder for each document: d3 is the third document, c2 the second candidate,
                    s2 the second answer of a candidate that answers more than once; the last candidates may combine
answers.csv         one row for each planned answer, with its file
checks.csv          one row for each check of each answer, which needs no judge
scores.csv          one row for each score on one criterion, of every judge and round
comparisons.csv     one row for each comparison in one order, of every judge and round
votes.csv           one row for each blind vote of a person
notes.csv           one row for each answer with a star or a note of a person
calls.csv           one row for each call to a model; a cost is in US dollars, and empty if unknown
logs.jsonl          what happened, one JSON object a line, oldest first

In CSV files, an apostrophe stands before whatever a spreadsheet could take for a formula.
"""


class ExportedRun(NamedTuple):
    """The run that is exported."""

    seq: int
    id: RunId


Step = Callable[[Connection, ExportedRun, Archive, Place], Place | None]


def documents(conn: Connection, run: ExportedRun, archive: Archive, after: Place) -> Place | None:
    """The documents, each in a file."""
    return _inputs(conn, run, archive, after, "text", "documents")


def references(conn: Connection, run: ExportedRun, archive: Archive, after: Place) -> Place | None:
    """The references, each in a file that is named after its document."""
    return _inputs(conn, run, archive, after, "reference", "references")


def _inputs(
    conn: Connection,
    run: ExportedRun,
    archive: Archive,
    after: Place,
    column: Literal["text", "reference"],
    folder: str,
) -> Place | None:
    rows = conn.execute(
        f"SELECT ordinal, name, body FROM run_documents JOIN run_texts ON run_texts.seq = {column}"
        " WHERE run_documents.run = ? AND ordinal > ? ORDER BY ordinal",
        (run.seq, after[0]),
    )
    room = STEP_BYTES
    for ordinal, name, body in rows:
        archive.add(f"{folder}/{numbered(f'd{ordinal}', name)}.md", body.encode())
        room -= len(body)
        if room <= 0:
            return (ordinal,)
    return None


def generated(conn: Connection, run: ExportedRun, archive: Archive, after: Place) -> Place | None:
    """The answers, each in a file."""
    rows = ANSWER_FILES.each(
        conn,
        "FROM generated JOIN run_documents ON run_documents.run = generated.run AND run_documents.ordinal = document"
        " JOIN run_candidates ON run_candidates.run = generated.run AND run_candidates.ordinal = candidate"
        " WHERE generated.run = ? AND (document, candidate, repeat) > (?, ?, ?) ORDER BY document, candidate, repeat",
        *(run.seq, *after),
    )
    room = STEP_BYTES
    for row in rows:
        archive.add(answer_file(row), row.body.encode())
        room -= len(row.body)
        if room <= 0:
            return (row.document, row.candidate, row.repeat)
    return None


def logs(conn: Connection, run: ExportedRun, archive: Archive, after: Place) -> Place | None:
    """The log, oldest row first."""
    if after == START:
        archive.begin("logs.jsonl")
    entries = log.after(conn, run.seq, after[0], LOG_ROWS)
    archive.write(_lines.encode_lines(entries))
    if len(entries) == LOG_ROWS:
        return (entries[-1].seq,)
    archive.end()
    return None


def _table(table: CsvTable) -> Step:
    def step(conn: Connection, run: ExportedRun, archive: Archive, after: Place) -> Place | None:
        if after == START:
            archive.begin(table.name)
            archive.write(csv_rows([table.columns]))
        room = STEP_BYTES
        rows = table.select.each(conn, table.source, run.id if table.by_id else run.seq, after[0])
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            body = csv_rows(line for row in some for line in table.lines(row))
            archive.write(body)
            room -= len(body)
            if room <= 0:
                return (some[-1].seq,)
        archive.end()
        return None

    return step


STEPS: tuple[Step, ...] = (documents, references, generated, *map(_table, TABLES), logs)


class ExportPlace(NamedTuple):
    """How far an export of a run has come: the step, and the place in it."""

    step: int = 0
    place: Place = START


def advance(conn: Connection, run: ExportedRun, archive: Archive, at: ExportPlace) -> ExportPlace | None:
    """Write about a megabyte; `None` if nothing is left. Of a small run that is everything, in a single scan."""
    end = archive.written + STEP_BYTES
    step, place = at
    while step < len(STEPS) and archive.written < end:
        further = STEPS[step](conn, run, archive, place)
        step, place = (step + 1, START) if further is None else (step, further)
    return ExportPlace(step, place) if step < len(STEPS) else None
