"""What an export consists of, each part written in steps that hold a megabyte or so.

A step is run by a scan: it reads on from a place, writes into the archive, and says where the next one begins.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from carrel.kit.money import text_if_known
from carrel.kit.sqlite.database import Connection, Row
from carrel.reports.archive import Archive, CellValue, csv_rows
from carrel.runs.model import log
from carrel.runs.model.names import answer_name, numbered
from carrel.runs.model.setup import RunId

STEP_BYTES = 1024 * 1024
LOG_ROWS = 2_000

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
scores.csv          one row for each score on one criterion, of every judge and round
comparisons.csv     one row for each comparison in one order, of every judge and round
votes.csv           one row for each blind vote of a person
calls.csv           one row for each call to a model; a cost is in US dollars, and empty if unknown
logs.jsonl          what happened, one JSON object a line, oldest first

In CSV files, an apostrophe stands before whatever a spreadsheet could take for a formula.
"""


class Exported(NamedTuple):
    """The run that is exported."""

    seq: int
    id: RunId


Step = Callable[[Connection, Exported, Archive, Place], Place | None]


class _Table(NamedTuple):
    """A CSV file. Its SQL takes the run and the place after which it goes on; each row may become several."""

    name: str
    columns: tuple[str, ...]
    sql: str
    rows: Callable[[Row], Iterator[Sequence[CellValue]]]
    by_id: bool = False


def documents(conn: Connection, run: Exported, archive: Archive, after: Place) -> Place | None:
    """The documents, each in a file."""
    return _inputs(conn, run, archive, after, "text", "documents")


def references(conn: Connection, run: Exported, archive: Archive, after: Place) -> Place | None:
    """The references, each in a file that is named after its document."""
    return _inputs(conn, run, archive, after, "reference", "references")


def _inputs(
    conn: Connection, run: Exported, archive: Archive, after: Place, column: Literal["text", "reference"], folder: str
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


def generated(conn: Connection, run: Exported, archive: Archive, after: Place) -> Place | None:
    """The answers, each in a file."""
    rows = conn.execute(
        "SELECT document, candidate, repeat, run_documents.name, label, repeats, body FROM generated"
        " JOIN run_documents ON run_documents.run = generated.run AND run_documents.ordinal = document"
        " JOIN run_candidates ON run_candidates.run = generated.run AND run_candidates.ordinal = candidate"
        " WHERE generated.run = ? AND (document, candidate, repeat) > (?, ?, ?) ORDER BY document, candidate, repeat",
        (run.seq, *after),
    )
    room = STEP_BYTES
    for document, candidate, repeat, name, label, repeats, body in rows:
        archive.add(_answer_file(document, name, candidate, label, repeat, repeats), body.encode())
        room -= len(body)
        if room <= 0:
            return (document, candidate, repeat)
    return None


def logs(conn: Connection, run: Exported, archive: Archive, after: Place) -> Place | None:
    """The log, oldest row first."""
    if after == START:
        archive.begin("logs.jsonl")
    entries = log.after(conn, run.seq, after[0], LOG_ROWS)
    for entry in entries:
        archive.write(msgspec.json.encode(entry) + b"\n")
    if len(entries) == LOG_ROWS:
        return (entries[-1].seq,)
    archive.end()
    return None


def _table(table: _Table) -> Step:
    def step(conn: Connection, run: Exported, archive: Archive, after: Place) -> Place | None:
        if after == START:
            archive.begin(table.name)
            archive.write(csv_rows([table.columns]))
        room = STEP_BYTES
        for row in conn.execute(table.sql, (run.id if table.by_id else run.seq, after[0])):
            body = csv_rows(table.rows(row))
            archive.write(body)
            room -= len(body)
            if room <= 0:
                return (row[0],)
        archive.end()
        return None

    return step


def _answers(row: Row) -> Iterator[Sequence[CellValue]]:
    _, key, state, error, document, name, candidate, label, repeat, repeats, answer_id, *figures, cost = row
    file = None if answer_id is None else _answer_file(document, name, candidate, label, repeat, repeats)
    yield (key, state, error, f"d{document}", name, label, repeat, answer_id, file, *figures, text_if_known(cost))


def _scores(row: Row) -> Iterator[Sequence[CellValue]]:
    _, number, key, state, document, name, label, repeat, judge, again, fate, marks, said = row
    place = (number, key, state, f"d{document}", name, label, repeat, judge, again, fate or "missing")
    given = msgspec.json.decode(marks, type=dict[str, float]) if marks else {}
    for criterion, value in given.items():
        yield (*place, criterion, value, said)
    if not given:
        yield (*place, None, None, said)


def _comparisons(row: Row) -> Iterator[Sequence[CellValue]]:
    _, number, key, state, document, name, judge, repeat, a, b, order, word, by_rule, said = row
    first, second = (a, b) if order == "ab" else (b, a)
    winner = {"first": first, "second": second, "tie": "tie"}.get(word) or {"a": a, "b": b, "tie": "tie"}.get(by_rule)
    outcome = word or ("by_rule" if by_rule else "missing")
    yield (number, key, state, f"d{document}", name, judge, repeat, a, b, first, outcome, winner, said)


def _votes(row: Row) -> Iterator[Sequence[CellValue]]:
    _, vote_id, document, name, a, b, repeat, order, word, voted_at = row
    first, second = (a, b) if order == "ab" else (b, a)
    winner = {"first": first, "second": second}.get(word, word)
    yield (vote_id, f"d{document}", name, repeat, first, second, word, winner, voted_at)


def _calls(row: Row) -> Iterator[Sequence[CellValue]]:
    _, *columns, cost = row
    yield (*columns, text_if_known(cost))


def _answer_file(document: int, name: str, candidate: int, label: str, repeat: int, repeats: int) -> str:
    return f"generated/{answer_name((document, name), (candidate, label), repeat, repeats)}"


_NAMES = (
    " JOIN run_documents ON run_documents.run = tasks.run AND run_documents.ordinal = tasks.document"
    " JOIN run_candidates AS c ON c.run = tasks.run AND c.ordinal = tasks.candidate"
)
_JUDGE = " JOIN run_judges AS j ON j.run = tasks.run AND j.round = tasks.round AND j.ordinal = judge"
# As task keys: labels may hold anything.
_SOURCES = (
    "SELECT group_concat(source, ' ') FROM ("
    "SELECT 'r1.generate.d' || s.document || '.c' || s.candidate || '.s' || s.repeat AS source"
    " FROM run_sources AS s WHERE s.run = tasks.run AND s.document = tasks.document ORDER BY place)"
)
# By the tasks' own order: an index would have every step sort what is left.
_FROM = "FROM tasks NOT INDEXED"

_TABLES = (
    _Table(
        "answers.csv",
        (
            "task_key", "state", "error", "document", "document_name", "candidate", "repeat", "id", "file",
            "finish_reason", "delivered", "words", "input_tokens", "output_tokens", "made_from", "cost",
        ),
        "SELECT tasks.seq, key, state, error, tasks.document, run_documents.name, tasks.candidate, c.label,"
        " tasks.repeat, repeats, id, finish_reason, delivered, words, input_tokens, output_tokens,"
        f" CASE kind WHEN 'combine' THEN ({_SOURCES}) END, tasks.cost_micros"
        f" {_FROM} LEFT JOIN generated ON task = tasks.seq{_NAMES}"
        " WHERE tasks.run = ? AND kind IN ('generate', 'combine') AND tasks.seq > ? ORDER BY tasks.seq",
        _answers,
    ),
    _Table(
        "scores.csv",
        (
            "round", "task_key", "state", "document", "document_name", "candidate", "repeat", "judge", "judge_repeat",
            "fate", "criterion", "score", "said",
        ),
        "SELECT tasks.seq, tasks.round, key, state, document, run_documents.name, c.label, repeat, j.name,"
        f" judge_repeat, fate, marks, said {_FROM} LEFT JOIN scores ON task = tasks.seq{_NAMES}{_JUDGE}"
        " WHERE tasks.run = ? AND kind = 'score' AND tasks.seq > ? ORDER BY tasks.seq",
        _scores,
    ),
    _Table(
        "comparisons.csv",
        (
            "round", "task_key", "state", "document", "document_name", "judge", "repeat", "candidate_a", "candidate_b",
            "shown_first", "outcome", "winner", "said",
        ),
        "SELECT tasks.seq, tasks.round, key, state, document, run_documents.name, j.name, repeat, c.label,"
        f" o.label, presented, word, by_rule, said {_FROM} LEFT JOIN comparisons ON task = tasks.seq{_NAMES}{_JUDGE}"
        " JOIN run_candidates AS o ON o.run = tasks.run AND o.ordinal = opponent"
        " WHERE tasks.run = ? AND kind = 'compare' AND tasks.seq > ? ORDER BY tasks.seq",
        _comparisons,
    ),
    _Table(
        "votes.csv",
        ("id", "document", "document_name", "repeat", "shown_first", "shown_second", "verdict", "winner", "voted_at"),
        "SELECT run_votes.seq, id, document, run_documents.name, c.label, o.label, repeat, presented, word, voted_at"
        " FROM run_votes"
        " JOIN run_documents ON run_documents.run = run_votes.run AND run_documents.ordinal = document"
        " JOIN run_candidates AS c ON c.run = run_votes.run AND c.ordinal = candidate"
        " JOIN run_candidates AS o ON o.run = run_votes.run AND o.ordinal = opponent"
        " WHERE run_votes.run = ? AND word IS NOT NULL AND NOT withdrawn AND run_votes.seq > ? ORDER BY run_votes.seq",
        _votes,
    ),
    _Table(
        "calls.csv",
        (
            "task_key", "attempt", "model", "outcome", "code", "input_tokens", "cached_tokens", "output_tokens",
            "latency_ms", "started_at", "finished_at", "cost",
        ),
        "SELECT seq, task_key, attempt, model, outcome, code, input_tokens, cached_tokens, output_tokens, latency_ms,"
        " started_at, finished_at, cost_micros FROM calls WHERE run_id = ? AND seq > ? ORDER BY seq",
        _calls,
        by_id=True,
    ),
)  # fmt: skip

STEPS: tuple[Step, ...] = (documents, references, generated, *map(_table, _TABLES), logs)
