"""Reads a sheet of a spreadsheet (XLSX, XLS, ODS) as rows. For workers: a file may take all the memory that they have.

A formula counts as the value that was saved with it. Numbers of XLSX are written in their formats, others with up to 15
digits; days and times as in `2026-05-01 09:30:00`.
"""

import datetime
import io
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from carrel.datasets import cell_formats, grid, looks
from carrel.datasets.lines import too_long
from carrel.datasets.names import Cells, TableReader
from carrel.datasets.refusals import TableUnreadable
from carrel.errors import FieldError

_Number = int | float | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta
_ZIP: Final = b"PK\x03\x04"
_BROKEN: Final = "is damaged, or closed by a password"


def read(body: bytes, longest: int, sheet: str | None) -> TableReader:
    """Begin to read the sheet of this name, or the first one that is neither hidden nor empty.

    Raises:
        TableUnreadable, ColumnsInvalid, RowTooLarge: at the beginning, or at a row while it is read.
    """
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(body))
        names = _sheets(book)
        if not names or (sheet or names[0]) not in book.sheet_names:
            raise TableUnreadable(errors=(FieldError("sheet", "is not in the file"),))
        found = next((one for name in names if (one := book.get_sheet_by_name(sheet or name)).height), None)
        found = found or book.get_sheet_by_name(sheet or names[0])
        hidden: Counter[str] = Counter()
        shown = looks.looks(body, found.name, hidden) if body.startswith(_ZIP) else iter(())
        records, merged = _records(found, shown, longest), _merged(found)
    except (CalamineError, OSError, ValueError):
        raise TableUnreadable(errors=(FieldError("file", _BROKEN),)) from None
    titles = 0
    header: list[str] = []
    for row, record in records:
        header = record
        # A title is the only text of its row, in a cell over several columns.
        if any(record) and not (row in merged.wide and sum(map(bool, record)) == 1):
            break
        titles += any(record)
    table = grid.of_records([name.strip() for name in header], _filled(merged, records))
    table.rows = _with_note(table.rows, table.notes, hidden)
    if titles:
        table.notes.append(
            f"Left out {titles:,} {'title' if titles == 1 else 'titles'} above the names of the columns."
        )
    table.sheets = [found.name, *(name for name in names if name != found.name)]
    if sheet is None and len(names) > 1:
        which = "first one" if found.name == names[0] else "first one that holds something"
        table.notes.append(f"Of {len(names)} sheets, the {which} was read.")
    return table


def _with_note(rows: Iterator[Cells], notes: list[str], hidden: Counter[str]) -> Iterator[Cells]:
    """The rows. Those that a filter hides are part of the table; who forgot them reads that they came in."""
    yield from rows
    if count := hidden["rows"]:
        notes.append(f"Read {count:,} {'row' if count == 1 else 'rows'} that the sheet hides, too.")


def _sheets(book: CalamineWorkbook) -> list[str]:
    return [
        one.name
        for one in book.sheets_metadata
        if one.typ == SheetTypeEnum.WorkSheet and one.visible == SheetVisibleEnum.Visible
    ]


class _Merged(NamedTuple):
    """The cells over several others: the rows in which those of several columns begin; those of several rows.

    `tall` has, by the first row, their places in it and their last rows. Without text they may lie beside all columns.
    """

    wide: frozenset[int]
    tall: dict[int, list[tuple[int, int]]]


def _merged(sheet: CalamineSheet) -> _Merged:
    _, first = sheet.start or (0, 0)
    ranges = sheet.merged_cell_ranges or []
    tall: dict[int, list[tuple[int, int]]] = {}
    for (top, left), (bottom, _) in ranges:
        if bottom > top and 0 <= left - first < sheet.width:
            tall.setdefault(top, []).append((left - first, bottom))
    return _Merged(frozenset(top for (top, left), (_, right) in ranges if right > left), tall)


def _filled(merged: _Merged, records: Iterator[tuple[int, list[str]]]) -> Iterator[list[str]]:
    """The rows, each with the text of a cell that covers it and rows above it."""
    covering: dict[int, tuple[int, str]] = {}
    for row, record in records:
        for place, (bottom, text) in covering.items():
            if row <= bottom and not record[place]:
                record[place] = text
        covering |= {place: (bottom, record[place]) for place, bottom in merged.tall.get(row, ())}
        yield record


def _records(
    sheet: CalamineSheet, shown: Iterator[tuple[int, looks.Looks]], longest: int
) -> Iterator[tuple[int, list[str]]]:
    first, left = sheet.start or (0, 0)
    formatted = cell_formats.of_one_file()
    at, seen = next(shown, (-1, looks.Looks()))
    for row, values in enumerate(sheet.iter_rows(), start=first):
        while -1 < at < row:
            at, seen = next(shown, (-1, looks.Looks()))
        of_row = seen if at == row else None
        record = [value if isinstance(value, str) else _shown(value) for value in values]
        for place, look in (of_row or {}).items():
            if 0 <= (here := place - left) < len(record):
                record[here] = _looking(values[here], record[here], look, formatted)
        if sum(map(len, record)) > longest:
            raise too_long(longest)
        yield row, record


def _looking(value: _Number | str, text: str, look: str, formatted: Callable[[float, str], str]) -> str:
    if look.startswith(looks.ERROR):
        return text or look.removeprefix(looks.ERROR)
    return formatted(value, look) if isinstance(value, int | float) and not isinstance(value, bool) else text


def _shown(value: _Number) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return cell_formats.plain(value)
        case datetime.timedelta():
            seconds = round(value.total_seconds())
            return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        case _:
            return str(value)
