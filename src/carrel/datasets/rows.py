"""Reads rows of data sets: page by page for people, one by one for runs, all or those with given values."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from carrel.datasets.names import Cells
from carrel.datasets.schemas import Column, DataSetRow, DataSetVersion
from carrel.errors import NotFound
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, fetch
from carrel.kit.sqlite.rows import Select
from carrel.vault.ids import DataSetId


class Version(NamedTuple):
    """A version of a data set, as its rows are found."""

    seq: int
    version: int
    batch: int
    columns: list[Column]
    row_count: int


class NumberedRow(NamedTuple):
    """One row. `ordinal` counts from 1 over all rows of the version."""

    ordinal: int
    id: str
    cells: Cells


_versions = Select(Version)
_earlier = Select(Version, seq="data_set", version="earlier.version")
_rows = Select(NumberedRow)
_summaries = Select(DataSetVersion)
_ALL = (
    f"FROM (SELECT {_summaries.sql} FROM data_sets WHERE seq = ?1"
    f" UNION ALL SELECT {_summaries.sql} FROM data_set_versions WHERE data_set = ?1) WHERE version > 0"
)


def find(conn: Connection, data_set_id: DataSetId, version: int | None = None) -> Version | None:
    """The present version or an earlier one; `None` if there is no such data set or version."""
    present = _versions.one(conn, "FROM data_sets WHERE id = ?", data_set_id)
    if present is None or version in (None, present.version):
        return present
    source = "FROM data_set_versions AS earlier WHERE data_set = ? AND earlier.version = ?"
    return _earlier.one(conn, source, present.seq, version)


class Choice(NamedTuple):
    """Which rows are taken: those with these values in these columns, and of them only the one of this number."""

    where: Mapping[str, str] = {}
    row: int | None = None


def count(conn: Connection, version: Version, choice: Choice) -> int:
    """How many rows are taken.

    Raises:
        KeyError: there is no such column.
    """
    if not choice.where and choice.row is None:
        return version.row_count
    condition, params = _condition(version, choice)
    found: int = conn.value(f"SELECT count(*) FROM data_set_rows WHERE {condition}", *params)
    return found


def first(conn: Connection, version: Version, choice: Choice) -> int | None:
    """The number of the first row that is taken.

    Raises:
        KeyError: there is no such column.
    """
    condition, params = _condition(version, choice)
    found: int | None = conn.value(f"SELECT min(ordinal) FROM data_set_rows WHERE {condition}", *params)
    return found


def each(conn: Connection, version: Version, choice: Choice) -> Iterator[NumberedRow]:
    """The rows that are taken, one by one, in the order of the table.

    Raises:
        KeyError: there is no such column.
    """
    condition, params = _condition(version, choice)
    for row in _rows.each(conn, f"FROM data_set_rows WHERE {condition} ORDER BY ordinal", *params):
        yield _whole(row, version)


def page(conn: Connection, data_set_id: DataSetId, version: int | None, paging: Paging) -> Page[DataSetRow]:
    """One page of rows, in the order of the table. To be scanned: a row may be long.

    Raises:
        NotFound: there is no such data set, or no such version of it.
    """
    found = find(conn, data_set_id, version)
    if found is None:
        raise NotFound
    source = "FROM data_set_rows WHERE data_set = ? AND batch = ?"
    rows = fetch(conn, paging, _rows, source, found.seq, found.batch, seq="ordinal", ascending=True)
    names = [column.name for column in found.columns]
    return rows.map(lambda row: _shown(_whole(row, found), names))


def versions(conn: Connection, data_set_id: DataSetId, paging: Paging) -> Page[DataSetVersion]:
    """The versions, newest first, the present one included.

    Raises:
        NotFound: there is no data set with this id.
    """
    seq = conn.value("SELECT seq FROM data_sets WHERE id = ?", data_set_id)
    if seq is None:
        raise NotFound
    return fetch(conn, paging, _summaries, _ALL, seq, seq="version")


def _condition(version: Version, choice: Choice) -> tuple[str, list[object]]:
    places = {column.name: place for place, column in enumerate(version.columns)}
    sql, params = "data_set = ? AND batch = ?", list[object]((version.seq, version.batch))
    if choice.row is not None:
        sql += " AND ordinal = ?"
        params.append(choice.row)
    for name, value in choice.where.items():
        # An empty value stands for an empty cell.
        sql += " AND ifnull(json_extract(cells, ?), '') = ?"
        params += (f"$[{places[name]}]", value)
    return sql, params


def _whole(row: NumberedRow, version: Version) -> NumberedRow:
    """The row with a cell for every column."""
    lacking = len(version.columns) - len(row.cells)
    return row if not lacking else row._replace(cells=[*row.cells, *[None] * lacking])


def _shown(row: NumberedRow, names: list[str]) -> DataSetRow:
    return DataSetRow(row.ordinal, row.id, dict(zip(names, row.cells, strict=True)))
