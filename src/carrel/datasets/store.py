"""The rows of data sets. A new version keeps the one before it; versions whose rows have the same names share them."""

from collections.abc import Iterable
from itertools import count
from typing import Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import asdict, replace

from carrel.datasets import batches, rows
from carrel.datasets.columns import check_roles, place_of
from carrel.datasets.refusals import MAX_NAMED_FAULTS, ColumnsInvalid, DataSetInUse, RowsInvalid, TableUnreadable, fault
from carrel.datasets.rows import Choice, Version, find
from carrel.datasets.schemas import Column, DataSet, DataSetChange, DataSetSummary, Format, UploadedDataSet
from carrel.datasets.table import cell_fault
from carrel.errors import FieldError, NotFound, PreconditionFailed
from carrel.http.answers.etag import IfMatch, require_unchanged
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, fetch
from carrel.kit.sqlite.rows import Select, as_json
from carrel.vault.ids import DataSetId

VERSIONED: Final = "version, name, description, format, columns, row_count, bytes, batch, updated_at"

_NAMED_USERS: Final = 100
_data_sets = Select(DataSet)
_summaries = Select(DataSetSummary)


class TableInfo(NamedTuple):
    """What belongs to a table besides its rows; `size` is that of its file in bytes."""

    name: str
    description: str
    format: Format
    size: int


def get(conn: Connection, data_set_id: DataSetId) -> DataSet:
    """One data set, without its rows.

    Raises:
        NotFound: there is no data set with this id.
    """
    found = _data_sets.one(conn, "FROM data_sets WHERE id = ?", data_set_id)
    if found is None:
        raise NotFound
    return found


def page(conn: Connection, paging: Paging) -> Page[DataSetSummary]:
    """The data sets, newest first."""
    return fetch(conn, paging, _summaries, "FROM data_sets")


def create(conn: Connection, described: TableInfo, table: Iterable[bytes]) -> UploadedDataSet:
    """Keep a table as a new data set. Its rows come in the `batches` that a worker has made.

    Raises:
        TableUnreadable: the worker lied.
        CarrelError: what `table` raises.
    """
    data_set_id, now = DataSetId(conn.new_id()), conn.now()
    conn.run(
        "INSERT INTO data_sets (id, name, description, format, columns, row_count, bytes, batch, version, created_at,"
        " updated_at) VALUES (?, ?, ?, ?, '[]', 0, ?, 1, 1, ?, ?)",
        *(data_set_id, *described, now, now),
    )
    notes = _fill(conn, conn.last_insert_rowid(), 1, table)
    return UploadedDataSet(**asdict(get(conn, data_set_id)), notes=notes)


def add_version(
    conn: Connection,
    data_set_id: DataSetId,
    described: TableInfo,
    table: Iterable[bytes],
    before: list[Column],
    if_match: IfMatch,
) -> UploadedDataSet:
    """Keep a table as the next version. It was read with the roles of the columns `before`.

    Raises:
        NotFound: there is no data set with this id.
        PreconditionFailed: it was changed in the meantime.
        TableUnreadable: the worker lied.
    """
    present = _keep_present(conn, data_set_id, if_match)
    if present.columns != before:
        raise PreconditionFailed
    conn.run(
        "UPDATE data_sets SET format = ?, bytes = ?, batch = version WHERE seq = ?",
        *(described.format, described.size, present.seq),
    )
    notes = _fill(conn, present.seq, present.version + 1, table)
    return UploadedDataSet(**asdict(get(conn, data_set_id)), notes=notes)


def present_columns(conn: Connection, data_set_id: DataSetId, if_match: IfMatch) -> list[Column]:
    """The columns that `add_version` has to be told.

    Raises:
        NotFound: there is no data set with this id.
        PreconditionFailed: it was changed in the meantime.
    """
    present = get(conn, data_set_id)
    if_match.require(present.version)
    return present.columns


def change(conn: Connection, data_set_id: DataSetId, data: DataSetChange, if_match: IfMatch) -> DataSet:
    """Save another name or other roles as the next version, with the same rows; another id names them anew.

    Raises:
        NotFound: there is no data set with this id.
        PreconditionFailed: it was changed in the meantime.
        ColumnsInvalid: the columns are not those of the table, or their roles do not fit.
        RowsInvalid: a cell cannot have the role that its column gets.
    """
    # Nothing keeps the notes of an upload.
    require_unchanged(replace(data, notes=UNSET), lambda: get(conn, data_set_id))
    present = _keep_present(conn, data_set_id, if_match)
    _check_columns(present.columns, data.columns)
    _check_cells(conn, present, data.columns)
    id_column = place_of(data.columns, "id")
    if id_column != place_of(present.columns, "id"):
        _name_rows(conn, present, id_column)
    conn.run(
        "UPDATE data_sets SET name = ?, description = ?, columns = ? WHERE seq = ?",
        *(data.name, data.description, as_json(data.columns), present.seq),
    )
    return get(conn, data_set_id)


def delete(conn: Connection, data_set_id: DataSetId, if_match: IfMatch) -> None:
    """Remove a data set with all its versions. Runs keep the rows that they took.

    Raises:
        NotFound: there is no data set with this id.
        PreconditionFailed: it was changed in the meantime.
        DataSetInUse: a preset takes its inputs from it.
    """
    if_match.require(get(conn, data_set_id).version)
    users = conn.column(
        "SELECT presets.id FROM preset_data_sets JOIN presets ON seq = preset_seq WHERE data_set_id = ?"
        " ORDER BY presets.seq LIMIT ?",
        *(data_set_id, _NAMED_USERS),
    )
    if users:
        raise DataSetInUse(errors=tuple(FieldError("presets", preset_id) for preset_id in users))
    conn.run("DELETE FROM data_sets WHERE id = ?", data_set_id)


def _keep_present(conn: Connection, data_set_id: DataSetId, if_match: IfMatch) -> Version:
    """Keep the present version as an earlier one, and count up. Returns what is kept."""
    present = find(conn, data_set_id)
    if present is None:
        raise NotFound
    if_match.require(present.version)
    conn.run(
        f"INSERT INTO data_set_versions (data_set, {VERSIONED}) SELECT seq, {VERSIONED} FROM data_sets WHERE seq = ?",
        present.seq,
    )
    conn.run("UPDATE data_sets SET version = version + 1, updated_at = ? WHERE seq = ?", conn.now(), present.seq)
    return present


def _fill(conn: Connection, seq: int, number: int, table: Iterable[bytes]) -> list[str]:
    ordinals = count(1)
    columns: list[Column] | None = None
    notes: list[str] = []
    longest = 0
    for encoded in table:
        batch = batches.decoded(encoded)
        columns, notes = batch.columns, batch.notes
        longest = max((longest, *(len(row.cells) for row in batch.rows)))
        conn.executemany(
            "INSERT INTO data_set_rows (data_set, batch, ordinal, id, cells) VALUES (?, ?, ?, ?, ?)",
            [(seq, number, next(ordinals), row.id, as_json(row.cells)) for row in batch.rows],
        )
    if columns is None or longest > len(columns):
        raise TableUnreadable
    conn.run("UPDATE data_sets SET columns = ?, row_count = ? WHERE seq = ?", as_json(columns), next(ordinals) - 1, seq)
    return notes


def _name_rows(conn: Connection, present: Version, place: int | None) -> None:
    """Name the rows by the cells of another column, or by their numbers; earlier versions keep their rows as they are.

    Whoever calls has checked the cells.
    """
    name = "CAST(ordinal AS TEXT)" if place is None else f"json_extract(cells, '$[{place}]')"
    conn.run(
        "INSERT INTO data_set_rows (data_set, batch, ordinal, id, cells)"
        f" SELECT data_set, ?, ordinal, {name}, cells FROM data_set_rows WHERE data_set = ? AND batch = ?"
        " ORDER BY ordinal",
        *(present.version + 1, present.seq, present.batch),
    )
    conn.run("UPDATE data_sets SET batch = version WHERE seq = ?", present.seq)


def _check_columns(present: list[Column], wanted: list[Column]) -> None:
    if [column.name for column in present] != [column.name for column in wanted]:
        raise ColumnsInvalid(errors=(FieldError("columns", "must be the columns of the table, in their order"),))
    check_roles(wanted)


def _check_cells(conn: Connection, present: Version, wanted: list[Column]) -> None:
    """Check the cells of columns whose role changes. Each row is read once: all its cells are one JSON text."""
    changed = [place for place, column in enumerate(wanted) if column.role != present.columns[place].role]
    faults: list[FieldError] = []
    numbers: dict[str, int] = {}
    for row in rows.each(conn, present, Choice()) if changed else ():
        for place in changed:
            column, cell = wanted[place], row.cells[place]
            message = cell_fault(column.role, cell)
            if column.role == "id" and cell and numbers.setdefault(cell, row.ordinal) != row.ordinal:
                message = f"is the id of row {numbers[cell]}, too"
            if message is not None:
                faults.append(fault(row.ordinal, message, (place + 1, column.name)))
        if len(faults) >= MAX_NAMED_FAULTS:
            break
    if faults:
        raise RowsInvalid(errors=tuple(faults[:MAX_NAMED_FAULTS]))
