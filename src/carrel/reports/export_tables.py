"""The CSV files of an export: their columns, the rows that they read, and the lines of each row."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from carrel.kit.money import text_if_known
from carrel.kit.sqlite.rows import Select, SqlColumn, fields_of
from carrel.metering.store import HOST
from carrel.reports.archive import CellValue
from carrel.runs.model.names import answer_name
from carrel.runs.model.plan import Presented
from carrel.runs.verdicts.answer_notes import CANDIDATE as NOTED
from carrel.runs.verdicts.answer_notes import FROM as NOTES
from carrel.runs.verdicts.votes import FROM as VOTES
from carrel.runs.verdicts.votes import SHOWN_FIRST, SHOWN_SECOND

Lines = Iterator[Sequence[CellValue]]


class CsvTable(NamedTuple):
    """A CSV file.

    `source` takes the run's number, or its id (`by_id`), and the `seq` of the last row that was read. A row may become
    several `lines`.
    """

    name: str
    columns: tuple[str, ...]
    select: Select[Any]
    source: str
    lines: Callable[[Any], Lines]
    by_id: bool = False


class _Answer(Protocol):
    @property
    def document(self) -> int: ...
    @property
    def document_name(self) -> str: ...
    @property
    def candidate(self) -> int: ...
    @property
    def label(self) -> str: ...
    @property
    def repeat(self) -> int: ...
    @property
    def repeats(self) -> int: ...


def answer_file(answer: _Answer) -> str:
    """The name of the file that holds an answer."""
    document, candidate = (answer.document, answer.document_name), (answer.candidate, answer.label)
    return f"generated/{answer_name(document, candidate, answer.repeat, answer.repeats)}"


class _AnswerFile(NamedTuple):
    document: int
    document_name: str
    candidate: int
    label: str
    repeat: int
    repeats: int
    body: str


ANSWER_FILES = Select(_AnswerFile, document_name="run_documents.name")


class _AnswerRow(NamedTuple):
    seq: int
    key: str
    state: str
    error: str | None
    document: int
    document_name: str
    candidate: int
    label: str
    repeat: int
    repeats: int
    id: str | None
    finish_reason: str | None
    delivered: int | None
    words: int | None
    input_tokens: int | None
    output_tokens: int | None
    made_from: str | None
    cost: str | None


def _answers(row: _AnswerRow) -> Lines:
    file = None if row.id is None else answer_file(row)
    yield (
        row.key, row.state, row.error, f"d{row.document}", row.document_name, row.label, row.repeat, row.id, file,
        row.finish_reason, row.delivered, row.words, row.input_tokens, row.output_tokens, row.made_from, row.cost,
    )  # fmt: skip


class _CheckRow(NamedTuple):
    seq: int
    key: str
    document: int
    document_name: str
    candidate: str
    repeat: int
    names: list[str]
    required: list[int]
    marks: list[float | None]


def _checks(row: _CheckRow) -> Lines:
    place = (row.key, f"d{row.document}", row.document_name, row.candidate, row.repeat)
    for name, required, mark in zip(row.names, row.required, row.marks, strict=True):
        yield (*place, name, required, mark)


class _ScoreRow(NamedTuple):
    seq: int
    round: int
    key: str
    state: str
    document: int
    document_name: str
    candidate: str
    repeat: int
    judge: str
    judge_repeat: int
    fate: str | None
    marks: dict[str, float] | None
    said: str | None


def _scores(row: _ScoreRow) -> Lines:
    place = (
        row.round, row.key, row.state, f"d{row.document}", row.document_name, row.candidate, row.repeat, row.judge,
        row.judge_repeat, row.fate or "missing",
    )  # fmt: skip
    for criterion, value in (row.marks or {}).items():
        yield (*place, criterion, value, row.said)
    if not row.marks:
        yield (*place, None, None, row.said)


class _ComparisonRow(NamedTuple):
    seq: int
    round: int
    key: str
    state: str
    document: int
    document_name: str
    judge: str
    repeat: int
    candidate: str
    opponent: str
    presented: Presented
    word: str | None
    by_rule: str | None
    said: str | None


def _comparisons(row: _ComparisonRow) -> Lines:
    a, b = row.candidate, row.opponent
    first, second = (a, b) if row.presented == "ab" else (b, a)
    winners = {"first": first, "second": second, "a": a, "b": b, "tie": "tie"}
    outcome = row.word or ("by_rule" if row.by_rule else "missing")
    winner = winners.get(row.word or "") or winners.get(row.by_rule or "")
    yield (
        row.round, row.key, row.state, f"d{row.document}", row.document_name, row.judge, row.repeat, a, b, first,
        outcome, winner, row.said,
    )  # fmt: skip


class _VoteRow(NamedTuple):
    seq: int
    id: str
    document: int
    document_name: str
    repeat: int
    first: str
    second: str
    word: str
    winner: str
    voted_at: str
    voter: str
    chance: float | None
    among: int | None
    both_bad: int
    reason: str
    scores: str | None


def _votes(row: _VoteRow) -> Lines:
    yield (
        row.id, f"d{row.document}", row.document_name, row.repeat, row.first, row.second, row.word, row.winner,
        row.voted_at, row.voter, row.chance, row.among, row.both_bad, row.reason, row.scores,
    )  # fmt: skip


class _NoteRow(NamedTuple):
    seq: int
    document: int
    document_name: str
    candidate: str
    repeat: int
    starred: int
    note: str
    updated_at: str


def _notes(row: _NoteRow) -> Lines:
    yield f"d{row.document}", row.document_name, row.candidate, row.repeat, row.starred, row.note, row.updated_at


class _CallRow(NamedTuple):
    seq: int
    task_key: str | None
    attempt: int
    model: str
    host: str | None
    outcome: str
    code: str | None
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    latency_ms: int | None
    started_at: str
    finished_at: str | None
    cost: str | None


_CALL_COLUMNS = tuple(name for name in fields_of(_CallRow) if name != "seq")


def _calls(row: _CallRow) -> Lines:
    yield [getattr(row, name) for name in _CALL_COLUMNS]


def _of_checks(path: str) -> str:
    """One field of all checks of the run, in their order, as JSON."""
    field = f"json_extract(definition, '{path}')"
    return f"(SELECT json_group_array({field} ORDER BY number) FROM run_checks WHERE run_checks.run = tasks.run)"


_NAMES = (
    " JOIN run_documents ON run_documents.run = tasks.run AND run_documents.ordinal = tasks.document"
    " JOIN run_candidates AS c ON c.run = tasks.run AND c.ordinal = tasks.candidate"
)
_JUDGE = " JOIN run_judges AS j ON j.run = tasks.run AND j.round = tasks.round AND j.ordinal = judge"
# The names are task keys, because labels may hold any character.
_SOURCES = (
    "SELECT group_concat(source, ' ') FROM ("
    "SELECT 'r1.generate.d' || s.document || '.c' || s.candidate || '.s' || s.repeat AS source"
    " FROM run_sources AS s WHERE s.run = tasks.run AND s.document = tasks.document ORDER BY place)"
)
# The query follows the tasks' own order: with an index, every step would sort the remaining rows. It begins and ends
# with those of the run, so that it does not read the tasks of all other runs.
_FROM = "FROM tasks NOT INDEXED"
_OF_RUN = (
    "tasks.run = ?1 AND tasks.seq > max(?2, (SELECT min(seq) FROM tasks WHERE run = ?1) - 1)"
    " AND tasks.seq <= (SELECT max(seq) FROM tasks WHERE run = ?1)"
)

TABLES = (
    CsvTable(
        "answers.csv",
        (
            "task_key", "state", "error", "document", "document_name", "candidate", "repeat", "id", "file",
            "finish_reason", "delivered", "words", "input_tokens", "output_tokens", "made_from", "cost",
        ),
        Select(
            _AnswerRow,
            seq="tasks.seq",
            document="tasks.document",
            document_name="run_documents.name",
            candidate="tasks.candidate",
            label="c.label",
            repeat="tasks.repeat",
            made_from=f"CASE kind WHEN 'combine' THEN ({_SOURCES}) END",
            cost=SqlColumn("tasks.cost_micros", text_if_known),
        ),
        f"{_FROM} LEFT JOIN generated ON task = tasks.seq{_NAMES}"
        f" WHERE {_OF_RUN} AND kind IN ('generate', 'combine') ORDER BY tasks.seq",
        _answers,
    ),
    CsvTable(
        "checks.csv",
        ("task_key", "document", "document_name", "candidate", "repeat", "check", "required", "mark"),
        Select(
            _CheckRow,
            seq="tasks.seq",
            document="tasks.document",
            document_name="run_documents.name",
            candidate="c.label",
            repeat="tasks.repeat",
            names=_of_checks("$.name"),
            required=_of_checks("$.required"),
        ),
        f"{_FROM} JOIN generated ON task = tasks.seq JOIN check_marks ON check_marks.generated = generated.seq{_NAMES}"
        f" WHERE {_OF_RUN} ORDER BY tasks.seq",
        _checks,
    ),
    CsvTable(
        "scores.csv",
        (
            "round", "task_key", "state", "document", "document_name", "candidate", "repeat", "judge", "judge_repeat",
            "fate", "criterion", "score", "said",
        ),
        Select(
            _ScoreRow,
            seq="tasks.seq",
            round="tasks.round",
            document_name="run_documents.name",
            candidate="c.label",
            judge="j.name",
        ),
        f"{_FROM} LEFT JOIN scores ON task = tasks.seq{_NAMES}{_JUDGE}"
        f" WHERE {_OF_RUN} AND kind = 'score' ORDER BY tasks.seq",
        _scores,
    ),
    CsvTable(
        "comparisons.csv",
        (
            "round", "task_key", "state", "document", "document_name", "judge", "repeat", "candidate_a", "candidate_b",
            "shown_first", "outcome", "winner", "said",
        ),
        Select(
            _ComparisonRow,
            seq="tasks.seq",
            round="tasks.round",
            document_name="run_documents.name",
            judge="j.name",
            candidate="c.label",
            opponent="o.label",
        ),
        f"{_FROM} LEFT JOIN comparisons ON task = tasks.seq{_NAMES}{_JUDGE}"
        " JOIN run_candidates AS o ON o.run = tasks.run AND o.ordinal = opponent"
        f" WHERE {_OF_RUN} AND kind = 'compare' ORDER BY tasks.seq",
        _comparisons,
    ),
    CsvTable(
        "votes.csv",
        (
            "id", "document", "document_name", "repeat", "shown_first", "shown_second", "verdict", "winner", "voted_at",
            "voter", "chance", "among", "both_bad", "reason", "scores",
        ),
        Select(
            _VoteRow,
            seq="run_votes.seq",
            document_name="run_documents.name",
            first=SHOWN_FIRST,
            second=SHOWN_SECOND,
            winner=f"CASE word WHEN 'first' THEN {SHOWN_FIRST} WHEN 'second' THEN {SHOWN_SECOND} ELSE word END",
        ),
        f"{VOTES} WHERE run_votes.run = ? AND word IS NOT NULL AND NOT withdrawn AND run_votes.seq > ?"
        " ORDER BY run_votes.seq",
        _votes,
    ),
    CsvTable(
        "notes.csv",
        ("document", "document_name", "candidate", "repeat", "starred", "note", "updated_at"),
        Select(_NoteRow, seq="run_notes.seq", document_name="run_documents.name", candidate=NOTED),
        f"{NOTES} WHERE run_notes.run = ? AND run_notes.seq > ? ORDER BY run_notes.seq",
        _notes,
    ),
    CsvTable(
        "calls.csv",
        _CALL_COLUMNS,
        Select(_CallRow, host=HOST, cost=SqlColumn("cost_micros", text_if_known)),
        "FROM calls WHERE run_id = ? AND seq > ? ORDER BY seq",
        _calls,
        by_id=True,
    ),
)  # fmt: skip
