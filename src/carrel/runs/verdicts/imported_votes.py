"""Votes that people gave elsewhere, from a table in CSV: the same as `votes.csv` of an export, or a shorter one.

A line names a document by its number or its name, two candidates by their labels, and which is better. All lines count
or none does, so that nobody has to find out which ones did.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Annotated, Final, NamedTuple, get_args

import msgspec
from msgspec import Meta

from carrel.errors import BadInput, FieldError
from carrel.http.requests.schema import In, Text
from carrel.kit.sqlite.database import Connection
from carrel.providers.base import Criterion
from carrel.runs.model import log
from carrel.runs.model import setup as setups
from carrel.runs.model.plan import Presented, answer_repeat
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.verdicts import people_scores, votes
from carrel.runs.verdicts.people_scores import PairScores
from carrel.runs.verdicts.votes import MAX_REASON, MAX_VOTER, Choice

MAX_FAULTS: Final = 50
_NEEDED: Final = ("document", "first", "second", "verdict")
_ALIASES: Final = {"shown_first": "first", "shown_second": "second"}
"""The names of columns in an export, which calls documents `d1`, `d2`, …"""
_REPEAT: Final = "repeat"
_BOTH_BAD: Final = "both_bad"
_REASON: Final = "reason"
_SCORES: Final = "scores"


class VotesIn(In, frozen=True):
    """A table with the columns `document`, `first`, `second` and `verdict`, and perhaps others.

    These are `repeat`, `voter`, `both_bad`, `reason`, of up to 500 characters, and `scores`, JSON as a vote has them.
    `verdict` is `first`, `second` or `tie`. `both_bad` is 1 for a tie of two answers that are not good enough, else 0.
    `voter` stands where a line names none.
    """

    csv: Text
    voter: Annotated[str, Meta(max_length=MAX_VOTER)] = ""


class VotesImported(msgspec.Struct, frozen=True):
    """How many lines were `imported`, how many were `known` already, and how many votes the run has now."""

    imported: int
    known: int
    votes: int


class _Line(NamedTuple):
    voter: str
    document: int
    candidate: int
    opponent: int
    repeat: int
    presented: Presented
    word: Choice
    both_bad: bool
    reason: str
    scores: str | None


class _Fault(Exception):
    """A cell that breaks a rule."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column, self.message = column, message


class _Run(NamedTuple):
    """What the cells of a line may name."""

    documents: Mapping[str, list[int]]
    labels: Mapping[str, int]
    repeats: Mapping[int, int]
    delivered: frozenset[tuple[int, int, int]]
    criteria: Sequence[Criterion]


def bring_in(conn: Connection, run_id: RunId, data: VotesIn) -> VotesImported:
    """Count the votes of a table. A line that repeats a vote word by word changes nothing.

    Raises:
        NotFound: there is no such run.
        BadInput: naming lines and columns, up to a bound; nothing was changed.
        TooManyVotes: nothing was changed.
    """
    setup = setups.require(conn, run_id)
    lines = _read(_run(conn, setup), data)
    faults, imported = [], 0
    for number, line in lines:
        winner = _winner(line)
        row = conn.one(
            "SELECT presented, word, withdrawn FROM run_votes WHERE run = ? AND voter = ? AND document = ?"
            " AND candidate = ? AND opponent = ? AND repeat = ?",
            *(setup.seq, *line[:5]),
        )
        if row is None:
            now = conn.now()
            conn.run(
                "INSERT INTO run_votes (id, run, voter, document, candidate, opponent, repeat, presented, word,"
                " both_bad, reason, scores, shown_at, voted_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(conn.new_id(), setup.seq, *line, now, now),
            )
            imported += 1
        elif row[1] is None or row[2] or _winner(line._replace(presented=row[0], word=row[1])) != winner:
            faults.append(FieldError(f"line {number}, verdict", "must be the first of this voter on this pair"))
    _refuse(faults)
    log.write(conn, setup.seq, "votes-imported")
    votes.update_verdict(conn, setup.seq)
    return VotesImported(imported, len(lines) - imported, votes.bounded(conn, setup.seq))


def _run(conn: Connection, setup: Setup) -> _Run:
    documents: defaultdict[str, list[int]] = defaultdict(list)
    for ordinal, name in conn.execute("SELECT ordinal, name FROM run_documents WHERE run = ?", (setup.seq,)):
        documents[name].append(ordinal)
    for ordinal in range(1, setup.documents + 1):
        documents[str(ordinal)] = documents[f"d{ordinal}"] = [ordinal]
    return _Run(
        documents,
        {candidate.label: candidate.ordinal for candidate in setup.candidates},
        {candidate.ordinal: candidate.repeats for candidate in setup.candidates},
        frozenset(
            conn.execute("SELECT document, candidate, repeat FROM generated WHERE run = ? AND delivered", (setup.seq,))
        ),
        setup.round.criteria,
    )


def _read(run: _Run, data: VotesIn) -> list[tuple[int, _Line]]:
    """The lines, each with its number in the file.

    Raises:
        BadInput: naming lines and columns, up to a bound.
    """
    found, faults = [], []
    for number, cells in _rows(data.csv):
        try:
            found.append((number, _line(run, cells, data.voter)))
        except _Fault as fault:
            faults.append(FieldError(f"line {number}, {fault.column}", fault.message))
    _refuse(faults)
    return found


def _rows(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines as columns with cells.

    Raises:
        BadInput: it is no such table.
    """
    reader = csv.reader(StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        head = [_ALIASES.get(name, name) for name in (cell.strip() for cell in next(reader, []))]
        missing = [name for name in _NEEDED if name not in head]
        if missing:
            raise BadInput(errors=tuple(FieldError(f"line 1, {name}", "is required") for name in missing))
        if len(set(head)) < len(head):
            raise BadInput.at("line 1", "must name each column once")
        for cells in reader:
            if any(cells):
                if len(cells) != len(head):
                    raise BadInput.at(f"line {reader.line_num}", "must have as many cells as there are columns")
                yield reader.line_num, dict(zip(head, cells, strict=True))
    except csv.Error:
        raise BadInput.at(f"line {reader.line_num}", "must be a table in CSV") from None


def _line(run: _Run, cells: Mapping[str, str], voter: str) -> _Line:
    documents = run.documents.get(cells["document"].strip(), [])
    if len(documents) != 1:
        raise _Fault("document", "must be a document of this run, by number or by a name that it alone has")
    first, second = (_candidate(run, column, cells[column]) for column in ("first", "second"))
    if first == second:
        raise _Fault("second", "must be another candidate than the first")
    verdict = next((choice for choice in get_args(Choice) if choice == cells["verdict"].strip()), None)
    if verdict is None:
        raise _Fault("verdict", "must be first, second or tie")
    repeat = cells.get(_REPEAT, "").strip() or "1"
    most = max(run.repeats[first], run.repeats[second])
    if repeat not in map(str, range(1, most + 1)):
        raise _Fault(_REPEAT, "must be the number of an answer")
    for column, candidate in (("first", first), ("second", second)):
        if (documents[0], candidate, answer_repeat(run.repeats[candidate], int(repeat))) not in run.delivered:
            raise _Fault(column, "must have answered this document")
    named = cells.get("voter", "").strip() or voter
    if len(named) > MAX_VOTER:
        raise _Fault("voter", "must have at most 60 characters")
    bad = cells.get(_BOTH_BAD, "").strip() or "0"
    if bad not in ("0", "1") or (bad == "1" and verdict != "tie"):
        raise _Fault(_BOTH_BAD, "must be 0, or 1 for a tie")
    reason = cells.get(_REASON, "").strip()
    if len(reason) > MAX_REASON:
        raise _Fault(_REASON, "must have at most 500 characters")
    presented: Presented = "ab" if first < second else "ba"
    pair = min(first, second), max(first, second)
    return _Line(named, documents[0], *pair, int(repeat), presented, verdict, bad == "1", reason, _scores(run, cells))


def _scores(run: _Run, cells: Mapping[str, str]) -> str | None:
    try:
        scores = msgspec.json.decode(cells.get(_SCORES, "").strip() or "{}", type=PairScores)
    except msgspec.DecodeError:
        raise _Fault(_SCORES, "must be scores in JSON, as a vote has them") from None
    if not people_scores.fit(scores, run.criteria):
        raise _Fault(_SCORES, "must name criteria of this run, and stay on their scales")
    return people_scores.text(scores)


def _candidate(run: _Run, column: str, cell: str) -> int:
    found = run.labels.get(cell.strip())
    if found is None:
        raise _Fault(column, "must be the label of a candidate of this run")
    return found


def _winner(line: _Line) -> int | None:
    if line.word == "tie":
        return None
    return line.candidate if (line.word == "first") == (line.presented == "ab") else line.opponent


def _refuse(faults: list[FieldError]) -> None:
    if faults:
        raise BadInput(errors=tuple(faults[:MAX_FAULTS]))
