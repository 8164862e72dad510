"""Rows of a grid, as CSV files and spreadsheets have them: columns may lack their name, rows a cell or everything."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain, count, islice, repeat
from typing import Final

from carrel.datasets.lines import require_few_empty
from carrel.datasets.names import Cells, TableReader, check_names
from carrel.datasets.refusals import TableUnreadable, fault
from carrel.datasets.schemas import MAX_COLUMN_CHARACTERS, MAX_EMPTY_LINES

_MOST_TITLES: Final = 3
_FEWEST_TITLED: Final = 3
"""In a table of two columns, one that has no name may hold data."""


def of_records(header: list[str], records: Iterator[list[str]], titles: int = 0) -> TableReader:
    """Begin to read a table. A column without a name is called by its number, and left out if it holds nothing.

    So many `titles` stood above it.

    Raises:
        TableUnreadable, ColumnsInvalid: at the beginning, or at a row while it is read.
    """
    empty: Counter[bool] = Counter()
    above = [header]
    second: list[str] = []
    for second in islice(records, MAX_EMPTY_LINES):
        if any(second):
            if len(above) == _MOST_TITLES or not (_is_alone(above[-1]) and _is_alone(second)):
                break
            above.append(second)
        else:
            empty[bool(second)] += 1
    is_titled = _is_title(above[-1], second)
    names = [name.strip() for name in second] if is_titled else list(header)
    if not is_titled:
        passed = (repeat([""] * has_cells, often) for has_cells, often in empty.items())
        rest = (second,) if any(second) and second is not above[-1] else ()
        records = chain(*passed, above[1:], rest, records)
    most = len(names)
    while names and not names[-1]:
        names.pop()
    unnamed = {place for place, name in enumerate(names) if not name}
    for place in unnamed:
        names[place] = _numbered(place, names)
    long = [place for place, name in enumerate(names) if len(name) > MAX_COLUMN_CHARACTERS]
    for place in long:
        names[place] = _shortened(names[place], names)
    check_names(names)
    table = TableReader(names, iter(()))
    table.rows = _rows(table, records, unnamed, most)
    titles += len(above) if is_titled else 0
    if titles:
        table.notes.append(
            f"Left out {'the first row, which is a title' if titles == 1 else f'{titles} rows of titles'}."
        )
    table.notes += (f"The name of column {place + 1} is long and was cut." for place in long)
    return table


def _is_title(header: list[str], second: list[str]) -> bool:
    """Whether a row has a title in its first cell and nothing else, above names in all columns."""
    if not _is_alone(header) or len(second) != len(header):
        return False
    names = {name.strip() for name in second}
    return len(names) == len(second) and all(name and not name.replace(".", "").isdecimal() for name in names)


def _is_alone(record: list[str]) -> bool:
    return len(record) >= _FEWEST_TITLED and bool(record[0]) and not any(record[1:])


def _rows(table: TableReader, records: Iterator[list[str]], unnamed: set[int], most: int) -> Iterator[Cells]:
    names, named = table.columns, len(table.columns)
    number = skipped = empty = short = 0
    hollow = set(unnamed)
    for record in records:
        if not any(record):
            empty += bool(record)
            skipped += 1
            require_few_empty(skipped)
            continue
        number += 1
        short += len(record) < named
        while len(record) > len(names) and not record[-1]:
            record.pop()
        if len(record) > most:
            raise not_as_many(number, str(len(record)), most)
        for place in range(len(names), len(record)):
            names.append(_numbered(place, names))
            check_names(names)
            unnamed.add(place)
            hollow.add(place)
        if hollow:
            hollow -= {place for place in hollow if place < len(record) and record[place]}
        yield [cell or None for cell in record] + [None] * (len(names) - len(record))
    table.hollow = hollow
    for place in sorted(unnamed - hollow):
        table.notes.append(f"Column {place + 1} has no name and is called {names[place]}.")
    if empty or hollow or short:
        table.notes.extend(_left_out(empty, len(hollow), short))


def _left_out(empty: int, hollow: int, short: int) -> Iterator[str]:
    if empty:
        yield f"Left out {empty:,} {'row' if empty == 1 else 'rows'} without any text."
    if hollow:
        yield f"Left out {hollow:,} empty {'column' if hollow == 1 else 'columns'} without a name."
    if short:
        yield f"{short:,} {'row ends' if short == 1 else 'rows end'} early: the cells behind are empty."


def _shortened(name: str, names: list[str]) -> str:
    cut = name[: MAX_COLUMN_CHARACTERS - 4]
    return next(short for number in count(1) if (short := f"{cut}…{number if number > 1 else ''}") not in names)


def _numbered(place: int, names: list[str]) -> str:
    name = f"column {place + 1}"
    while name in names:
        name += "_"
    return name


def not_as_many(row: int, found: str, most: int) -> TableUnreadable:
    """What refuses a row of more cells than there are columns."""
    return TableUnreadable(errors=(fault(row, f"has too many columns: {found} instead of {most}"),))
