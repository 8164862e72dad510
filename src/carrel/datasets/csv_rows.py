"""Reads CSV as rows: with any usual separator, cells in quotation marks, and line breaks in them."""

import csv
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from carrel.datasets import grid
from carrel.datasets.lines import too_long
from carrel.datasets.names import TableReader, too_many_columns
from carrel.datasets.refusals import TableUnreadable, fault
from carrel.datasets.schemas import MAX_COLUMNS, MAX_ROW_ELEMENTS
from carrel.errors import FieldError

_SEPARATORS: Final = ",;\t|"
_QUOTES: Final = "valid CSV: see the quotation marks"
_SAID: Final = re.compile(r"""["']?sep=([,;|\t])["']?\r?\n?$""", re.IGNORECASE)
_TITLE: Final = re.compile(r"[^,;\t|\"]{0,500}")
_MOST_TITLES: Final = 12
_HEADER_CHARACTERS: Final = 64 * 1024
"""So many tell the separator. The longest names of the most columns have fewer."""
_MOST_EMPTY: Final = 100


def read(lines: Iterator[str], separator: str | None, longest: int) -> TableReader:
    """Begin to read a table, with this separator or the most frequent of the usual ones.

    A row has at most `longest` characters.

    Raises:
        TableUnreadable, ColumnsInvalid, RowTooLarge: at the beginning, or at a row while it is read.
    """
    # The size of cells is checked when they are read, with the row's number.
    csv.field_size_limit(1 << 31)
    titles, lines = _below_titles(lines)
    first = _first(lines)
    if separator is None and (said := _SAID.match(first)):
        # Excel's own way to name the separator.
        separator, first = said[1], _first(lines)
    second = next(lines, "")
    separator = separator or _separator(first, second)
    counted = _RecordLines(chain((first, second) if second else (first,), lines), separator, longest)
    is_spaced = 0 < first.count(separator) == first.count(f"{separator} ")
    records = csv.reader(counted, delimiter=separator, strict=True, skipinitialspace=is_spaced)
    try:
        header = [name.strip() for name in next(records, [])]
    except csv.Error:
        raise TableUnreadable(errors=(FieldError("columns", f"are not {_QUOTES}"),)) from None
    counted.columns = len(header)
    return grid.of_records(header, _records(records, counted), titles)


def _below_titles(lines: Iterator[str]) -> tuple[int, Iterator[str]]:
    """How many titles stand above an empty line and the names of three or more columns, and what follows them."""
    above: list[str] = []
    for line in islice(lines, _MOST_TITLES):
        if not _TITLE.fullmatch(line.strip()):
            row = next(lines, "")
            is_below = len(above) > 1 and above[0].strip() and not above[-1].strip()
            if is_below and any(2 <= line.count(sign) <= row.count(sign) for sign in _SEPARATORS):
                return sum(bool(one.strip()) for one in above), chain((line, row), lines)
            return 0, chain(above, (line, row) if row else (line,), lines)
        above.append(line)
    return 0, chain(above, lines)


class _RecordLines:
    """The lines of one record after another, counted before the CSV reader makes a cell of each separator in them.

    A record has several lines if a line break is in a quoted cell.
    """

    def __init__(self, lines: Iterator[str], separator: str, longest: int) -> None:
        self.columns = MAX_COLUMNS
        """How many a record may have."""
        self.row = 0
        """The number of the row that is being read; 0 is the line of the columns' names."""
        self._lines = lines
        self._separator = separator
        self._longest = longest
        sign = re.escape(separator)
        self._cell = re.compile(rf'(?:"[^"]*+(?:""[^"]*+)*+"|[^"\r\n{sign}][^\r\n{sign}]*+|){sign}')
        """A cell with the separator behind it."""
        self._characters = self._separators = self._cells = 0

    def begin(self, row: int) -> None:
        """The next line begins this row."""
        self.row = row
        self._characters = self._separators = self._cells = 0

    def __iter__(self) -> "_RecordLines":
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._separators += line.count(self._separator)
        if self._separators > MAX_ROW_ELEMENTS:
            # A text may have so many commas; that many cells would take forty times the line's size.
            self._count_cells(f'"{line}' if self._characters else line)
        self._characters += len(line)
        if self._characters > self._longest:
            raise too_long(self._longest)
        return line

    def _count_cells(self, line: str) -> None:
        at = 0
        while found := self._cell.match(line, at):
            at = found.end()
            self._cells += 1
            if self._cells > self.columns:
                raise _too_many(self.row, self.columns)


def _first(lines: Iterator[str]) -> str:
    """The first line that is not empty; not many are passed."""
    return next((line for line in islice(lines, _MOST_EMPTY) if line.strip()), "")


def _separator(header: str, second: str) -> str:
    """The usual separator that is most often outside of quotation marks, above all one as often in the second line."""

    def times(line: str, sign: str) -> int:
        return "".join(line[:_HEADER_CHARACTERS].split('"')[::2]).count(sign)

    def likelihood(sign: str) -> tuple[bool, int]:
        named = times(header, sign)
        return 0 < named == times(second, sign), named

    return max(_SEPARATORS, key=likelihood)


def _records(records: Iterator[list[str]], counted: _RecordLines) -> Iterator[list[str]]:
    number, record = 0, None
    while True:
        number += record is None or any(record)
        counted.begin(number)
        try:
            record = next(records, None)
        except csv.Error:
            raise TableUnreadable(errors=(fault(number, f"is not {_QUOTES}"),)) from None
        if record is None:
            return
        yield record


def _too_many(row: int, columns: int) -> Exception:
    return grid.not_as_many(row, f"more than {columns}", columns) if row else too_many_columns()
