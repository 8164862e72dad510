"""The rows of a table on their way from the worker that reads and checks it to the thread that stores them."""

import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice, zip_longest
from pathlib import PurePath
from typing import Annotated, Final, Generic, TypeVar

import msgspec
from msgspec import Meta

from carrel.checks.definition import Check
from carrel.datasets import reading
from carrel.datasets.last_turns import with_answers
from carrel.datasets.names import Cells
from carrel.datasets.refusals import TableUnreadable
from carrel.datasets.result_files.answers import AnswerTable, Unreadable
from carrel.datasets.result_files.joining import JoinedFile, join, shared_id
from carrel.datasets.result_files.reading import read_results, table_of
from carrel.datasets.schemas import (
    MAX_COLUMNS,
    RESULT_ENDINGS,
    SINGLE_ROLES,
    Column,
    DataSetRow,
    Format,
    Role,
    Source,
    TablePreview,
    WrittenBy,
)
from carrel.datasets.table import CheckedTable, Limits
from carrel.errors import FieldError

R = TypeVar("R")
T = TypeVar("T")

_BATCH_BYTES: Final = 256 * 1024
"""A longer row is a batch of its own."""
_PREVIEWED: Final = 50
"""Rows: they tell what is in a column."""
_PREVIEWED_CHARACTERS: Final = 200
"""Of each of their cells."""
_MOST_WORDS: Final = 300
"""Characters of a message."""
_Columns = Annotated[list[Column], Meta(max_length=MAX_COLUMNS)]


class BatchRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row."""

    id: str
    cells: Annotated[Cells, Meta(max_length=MAX_COLUMNS)]


class _Batch(msgspec.Struct, Generic[R], frozen=True, array_like=True):
    """The next rows. All else is there in the last batch, because a row may add columns."""

    rows: list[R]
    columns: _Columns | None = None
    notes: list[str] = []
    """What was left out or taken otherwise than its name suggests, for people."""
    lost_ids: bool = False
    """Whether the ids are the numbers of rows after all."""
    hollow: list[int] = []
    """The places of columns that are left out."""
    sheets: list[str] = []
    """The sheets of a spreadsheet that can be seen, the one that was read first."""
    row_count: int = 0
    source: Source = "table"
    grades: dict[str, dict[str, str]] = {}
    """The columns with grades, by their name and the candidate."""


RowBatch = _Batch[BatchRow]
_EncodedBatch = _Batch[msgspec.Raw]
"""Its rows are encoded already."""

_batch = msgspec.msgpack.Decoder(RowBatch)
_encode = msgspec.msgpack.Encoder().encode


def decoded(encoded: bytes) -> RowBatch:
    """The batch that is encoded in these bytes.

    Raises:
        TableUnreadable: a worker has made something else.
    """
    try:
        return _batch.decode(encoded)
    except (msgspec.DecodeError, ValueError):
        raise TableUnreadable from None


def read_table(
    pieces: Iterator[bytes],
    kind: Format,
    roles: dict[str, Role],
    before: list[Column],
    limits: Limits,
    sheet: str | None = None,
) -> Iterator[bytes]:
    """Read and check a table, and return its rows in encoded batches. For a worker: the bytes may be hostile.

    `roles` were chosen by the columns' names; `before` are the columns of the version before, whose roles stay.

    Raises:
        CarrelError: one of `READING_REFUSALS`.
    """
    source = reading.read(kind, pieces, limits.row_characters, sheet)
    sheets = source.sheets
    if limits.guesses:
        source = with_answers(source, {column.name: column.role for column in before} | roles)
    table = CheckedTable(source, roles, limits, before)
    rows: list[msgspec.Raw] = []
    size = 0
    for row in table.rows():
        encoded = _encode((row.id, row.cells))
        rows.append(msgspec.Raw(encoded))
        size += len(encoded)
        if size >= _BATCH_BYTES:
            yield _encode(_EncodedBatch(rows))
            rows, size = [], 0
    notes = source.notes + table.notes
    about = (notes, table.lost_ids, sorted(source.hollow), sheets, table.row_count)
    yield _encode(_EncodedBatch(rows, table.columns, *about))


def read_answers(
    pieces: Iterator[bytes],
    files: list[tuple[str, int]],
    written_by: WrittenBy,
    kind: Format,
    roles: dict[str, Role],
    limits: Limits,
) -> Iterator[bytes]:
    """Read files of finished answers as `read_table` reads a table, which the only one may be after all. For a worker.

    `files` are their names and sizes in bytes. Rows of several are joined by their ids: those of tables are in the
    column that was chosen, or in the first one that has the same in each.

    Raises:
        CarrelError: one of `READING_REFUSALS`.
    """
    left = io.BytesIO(b"".join(pieces))
    first, *others = [(name, left.read(size)) for name, size in files]
    try:
        answers = _answers(*first, written_by)
        if others:
            answers = _joined([(*first, answers), *((*one, _answers(*one, written_by)) for one in others)], roles)
    except Unreadable as error:
        raise TableUnreadable(errors=(FieldError("file", str(error)[:_MOST_WORDS]),)) from None
    if answers is None and PurePath(first[0]).suffix.lower() in RESULT_ENDINGS:
        raise TableUnreadable(errors=(FieldError("file", "is no file of results that Carrel can read"),))
    if answers is None:
        yield from read_table(iter([first[1]]), kind, roles, [], limits)
        return
    lines = iter([answers.as_json_lines()])
    # What the user chose takes a role from the column that the file says.
    taken = {role for role in roles.values() if role in SINGLE_ROLES}
    own: dict[str, Role] = {
        name: "metadata" if role in taken else role
        for name, role in answers.roles.items()
        if answers.source != "table" or role != "metadata"
    }
    encoded = b""
    for following in read_table(lines, "jsonl", own | roles, [], limits):
        if encoded:
            yield encoded
        encoded = following
    last = msgspec.structs.replace(decoded(encoded), source=answers.source, grades=answers.grades)
    yield _encode(last)


def _answers(name: str, body: bytes, written_by: WrittenBy) -> AnswerTable | None:
    return read_results(name, body, None if written_by == "guess" else written_by)


def _joined(files: list[tuple[str, bytes, AnswerTable | None]], roles: dict[str, Role]) -> AnswerTable:
    """The rows of the first file with the answers of all. A candidate that an earlier one has is called as its file."""
    are_tables = all(answers is None for _, _, answers in files)
    found = [(name, table_of(name, body) if are_tables else answers) for name, body, answers in files]
    read = [JoinedFile(name, answers) for name, answers in found if answers is not None]
    if len(read) < len(files):
        raise Unreadable("several files have to be results of a program, all of them, or tables")
    chosen = {role: name for name, role in roles.items()}
    row_id = chosen.get("id") or shared_id([one.answers for one in read]) if are_tables else None
    taken = {*read[0].answers.columns}
    parts = []
    for one in read[1:]:
        own = one.answers.candidates or tuple(one.answers.columns)
        is_taken = taken.issuperset(own) and (are_tables or len(own) == 1)
        column = chosen.get("output") if are_tables else None
        parts.append(one._replace(label=PurePath(one.file_name).stem, column=column) if is_taken else one)
        taken.update(own)
    joined = join(read[0], parts, row_id)
    if are_tables and not {*joined.columns}.difference(joined.candidates, (row_id,)):
        joined = replace(joined, id=None, inputs=tuple(filter(None, (row_id,))))  # nothing else says what was asked
    return joined


def cleaned(encoded: list[bytes]) -> list[bytes]:
    """The batches of a whole table without the columns that are left out, and with the ids that it has after all.

    Raises:
        TableUnreadable: a worker has made something else.
    """
    last = decoded(encoded[-1]) if encoded else None
    if last is None or not (last.lost_ids or last.hollow):
        return encoded
    hollow, numbers = frozenset(last.hollow), count(1)

    def kept(values: list[T]) -> list[T]:
        return [value for place, value in enumerate(values) if place not in hollow]

    for index, batch in enumerate(encoded):
        rows = [
            BatchRow(str(number) if last.lost_ids else row.id, kept(row.cells))
            for row, number in zip(decoded(batch).rows, numbers, strict=False)
        ]
        encoded[index] = _encode(RowBatch(rows))
    encoded[-1] = _encode(
        msgspec.structs.replace(last, rows=rows, columns=kept(last.columns or []), lost_ids=False, hollow=[])
    )
    return encoded


def preview(kind: Format, encoded: list[bytes]) -> TablePreview:
    """How a whole table begins, and what it is.

    Raises:
        TableUnreadable: a worker has made something else.
    """
    if not encoded:
        raise TableUnreadable
    # A row may be a batch of its own.
    rows = list(islice((row for batch in encoded for row in decoded(batch).rows), _PREVIEWED))
    last = decoded(encoded[-1])
    names = [column.name for column in last.columns or ()]
    if any(len(row.cells) > len(names) for row in rows):
        raise TableUnreadable
    first = [
        DataSetRow(
            number,
            row.id,
            {name: cell and cell[:_PREVIEWED_CHARACTERS] for name, cell in zip_longest(names, row.cells)},
        )
        for number, row in enumerate(rows, start=1)
    ]
    checks = [Check(kind="grade", name=name, columns=columns) for name, columns in last.grades.items()]
    return TablePreview(kind, last.sheets, last.columns or [], last.row_count, first, last.notes, last.source, checks)
