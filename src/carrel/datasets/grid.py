"""Rows of a grid, as CSV files and spreadsheets have them: columns may lack their name, rows a cell or everything."""

from collections.abc import Iterator

from carrel.datasets.lines import require_few_empty
from carrel.datasets.names import Cells, TableReader, check_names
from carrel.datasets.refusals import TableUnreadable, fault


def of_records(header: list[str], records: Iterator[list[str]]) -> TableReader:
    """Begin to read a table. A column without a name is called by its number, and left out if it holds nothing.

    Raises:
        TableUnreadable, ColumnsInvalid: at the beginning, or at a row while it is read.
    """
    names = list(header)
    while names and not names[-1]:
        names.pop()
    unnamed = {place for place, name in enumerate(names) if not name}
    for place in unnamed:
        names[place] = _numbered(place, names)
    check_names(names)
    table = TableReader(names, iter(()))
    table.rows = _rows(table, records, unnamed, len(header))
    return table


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


def _numbered(place: int, names: list[str]) -> str:
    name = f"column {place + 1}"
    while name in names:
        name += "_"
    return name


def not_as_many(row: int, found: str, most: int) -> TableUnreadable:
    """What refuses a row of more cells than there are columns."""
    return TableUnreadable(errors=(fault(row, f"has too many columns: {found} instead of {most}"),))
