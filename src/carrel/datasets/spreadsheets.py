"""Reads a sheet of a spreadsheet (XLSX, XLS, ODS) as rows. For workers: a file may take all the memory that they have.

A formula counts as the value that was saved with it. Numbers have up to 15 digits, as spreadsheet programs show them;
days and times are written as in `2026-05-01 09:30:00`.
"""

import datetime
import io
from collections.abc import Iterator
from typing import Final

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from carrel.datasets import grid
from carrel.datasets.lines import too_long
from carrel.datasets.names import TableReader
from carrel.datasets.refusals import TableUnreadable
from carrel.errors import FieldError

_Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta
_BROKEN: Final = "is damaged, or closed by a password"


def read(body: bytes, longest: int, sheet: str | None) -> TableReader:
    """Begin to read the sheet of this name, or the first one that is not hidden.

    Raises:
        TableUnreadable, ColumnsInvalid, RowTooLarge: at the beginning, or at a row while it is read.
    """
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(body))
        names = _sheets(book)
        if not names or (sheet or names[0]) not in book.sheet_names:
            raise TableUnreadable(errors=(FieldError("sheet", "is not in the file"),))
        records = _records(book.get_sheet_by_name(sheet or names[0]), longest)
    except (CalamineError, OSError, ValueError):
        raise TableUnreadable(errors=(FieldError("file", _BROKEN),)) from None
    header = next((record for record in records if any(record)), [])
    table = grid.of_records([name.strip() for name in header], records)
    first = sheet or names[0]
    table.sheets = [first, *(name for name in names if name != first)]
    if sheet is None and len(names) > 1:
        table.notes.append(f"Of {len(names)} sheets, the first one was read.")
    return table


def _sheets(book: CalamineWorkbook) -> list[str]:
    return [
        one.name
        for one in book.sheets_metadata
        if one.typ == SheetTypeEnum.WorkSheet and one.visible == SheetVisibleEnum.Visible
    ]


def _records(sheet: CalamineSheet, longest: int) -> Iterator[list[str]]:
    for row in sheet.iter_rows():
        record = [_shown(value) for value in row]
        if sum(map(len, record)) > longest:
            raise too_long(longest)
        yield record


def _shown(value: _Value) -> str:
    match value:
        case str():
            return value
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return f"{value:.15g}"
        case _:
            return str(value)
