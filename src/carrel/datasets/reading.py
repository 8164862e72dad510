"""Reads the bytes of a table as rows of cells: CSV with any usual separator, JSON lines, or a JSON array.

A cell is a text or nothing. Carrel never evaluates it: formulas stay text, and numbers, lists and objects in JSON stay
as they are written. Pure: nothing is kept.
"""

import codecs
import csv
import io
from collections.abc import Iterator
from typing import Final

import msgspec

from carrel.datasets.refusals import ColumnsInvalid, TableUnreadable, fault
from carrel.datasets.schemas import MAX_COLUMN_CHARACTERS, MAX_COLUMNS, Format
from carrel.errors import FieldError
from carrel.kit.http.validation import join
from carrel.kit.memory_file import MemoryFile

Cells = list[str | None]

_SEPARATORS: Final = ",;\t|"
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    # The longer marks first: that of UTF-32 begins like that of UTF-16, and nobody reads UTF-32.
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NOT_UTF8: Final = (
    "is neither UTF-8 nor UTF-16 with its mark; save it as UTF-8, in a spreadsheet program as “CSV UTF-8”"
)
_line = msgspec.json.Decoder(dict[str, msgspec.Raw])
_array = msgspec.json.Decoder(list[msgspec.Raw])
_text = msgspec.json.Decoder(str)


class Table:
    """A table that is being read. `columns` are complete when all rows have been read: JSON rows may add some."""

    def __init__(self, columns: list[str], rows: Iterator[Cells]) -> None:
        self.columns = columns
        self.rows = rows


def read(kind: Format, body: bytearray) -> Table:
    """Begin to read a table. Rows come one by one.

    Raises:
        TableUnreadable, ColumnsInvalid: at the beginning, or at a row while it is read.
    """
    if kind in ("csv", "tsv"):
        return _csv(_lines(body, newline=""), "\t" if kind == "tsv" else None)
    return of_json_lines(_lines(body, newline="\n") if kind == "jsonl" else _members(body))


def of_json_lines(lines: Iterator[str] | Iterator[str | msgspec.Raw]) -> Table:
    """Begin to read a table of JSON objects, one in each line, that comes from somewhere else than a file.

    Raises:
        TableUnreadable, ColumnsInvalid: at a row while it is read.
    """
    table = Table([], iter(()))
    table.rows = _objects(lines, {}, table.columns)
    return table


def _lines(body: bytearray, newline: str) -> Iterator[str]:
    encoding, skipped = "utf-8", 0
    for mark, name in _MARKS:
        if body.startswith(mark):
            encoding, skipped = name, len(mark)
    raw = io.BufferedReader(MemoryFile(memoryview(body)[skipped:]))
    try:
        yield from io.TextIOWrapper(raw, encoding, newline=newline)
    except UnicodeDecodeError:
        raise TableUnreadable(errors=(FieldError("file", _NOT_UTF8),)) from None


def _csv(lines: Iterator[str], separator: str | None) -> Table:
    # The size of cells is checked when they are read, with the row's number.
    csv.field_size_limit(1 << 31)
    first = next(lines, "")
    if separator is None and first.lower().startswith("sep=") and len(first.strip()) == 5:
        # Excel's own way to name the separator.
        separator, first = first[4], next(lines, "")
    records = csv.reader(_again(first, lines), delimiter=separator or _separator(first), strict=True)
    try:
        header = [name.strip() for name in next(records, [])]
    except csv.Error:
        raise TableUnreadable(errors=(FieldError("columns", "are not valid CSV: see the quotation marks"),)) from None
    check_names(header)
    return Table(header, _records(records, header))


def _again(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _separator(header: str) -> str:
    """The most frequent of the usual separators outside of quotation marks."""
    plain = "".join(header.split('"')[::2])
    return max(_SEPARATORS, key=plain.count)


def _records(records: Iterator[list[str]], header: list[str]) -> Iterator[Cells]:
    number = 0
    while True:
        number += 1
        try:
            record = next(records, None)
        except csv.Error:
            raise TableUnreadable(errors=(fault(number, "is not valid CSV: see the quotation marks"),)) from None
        if record is None:
            return
        if not record:
            # An empty line.
            number -= 1
            continue
        if len(record) != len(header):
            size = "few" if len(record) < len(header) else "many"
            message = f"has too {size} columns: {len(record)} instead of {len(header)}"
            raise TableUnreadable(errors=(fault(number, message),))
        yield [cell or None for cell in record]


def _members(body: bytearray) -> Iterator[str | msgspec.Raw]:
    text = "".join(_lines(body, newline="\n"))
    try:
        yield from _array.decode(text)
    except (msgspec.DecodeError, RecursionError):
        raise TableUnreadable(errors=(FieldError("file", "is not a JSON array of objects"),)) from None


def _objects(
    found: Iterator[str] | Iterator[str | msgspec.Raw], columns: dict[str, int], names: list[str]
) -> Iterator[Cells]:
    number = 0
    for line in found:
        if isinstance(line, str) and not line.strip():
            continue
        number += 1
        try:
            values = _line.decode(line)
            cells: Cells = [None] * len(names)
            for name, raw in values.items():
                if name not in columns:
                    columns[name] = len(names)
                    names.append(name)
                    cells.append(None)
                    check_names(names, f"rows[{number}]")
                cells[columns[name]] = _cell(bytes(raw))
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            raise TableUnreadable(errors=(fault(number, "is not a JSON object"),)) from None
        yield cells


def _cell(raw: bytes) -> str | None:
    """A text as it is, nothing for null, and everything else as it is written."""
    if raw == b"null":
        return None
    return _text.decode(raw) if raw.startswith(b'"') else raw.decode()


def check_names(names: list[str], root: str = "") -> None:
    """Check the names of columns.

    Raises:
        ColumnsInvalid: there is none or too many, or one is empty, too long or there twice.
    """
    if not names or names == [""]:
        raise ColumnsInvalid(errors=(FieldError(join(root, "columns"), "are missing: the first line names them"),))
    if len(names) > MAX_COLUMNS:
        raise ColumnsInvalid(errors=(FieldError(join(root, "columns"), f"must be at most {MAX_COLUMNS}"),))
    faults = []
    for number, name in enumerate(names, start=1):
        path = join(root, f"columns[{number}]")
        if not name:
            faults.append(FieldError(path, "has no name"))
        elif len(name) > MAX_COLUMN_CHARACTERS:
            faults.append(FieldError(path, f"has a name of more than {MAX_COLUMN_CHARACTERS} characters"))
        elif name in names[: number - 1]:
            faults.append(FieldError(path, f"has the name of column {names.index(name) + 1}"))
    if faults:
        raise ColumnsInvalid(errors=tuple(faults))
