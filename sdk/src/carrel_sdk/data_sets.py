"""Data sets: tables whose rows are the inputs of runs, in versions."""

from collections.abc import Iterator, Mapping

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.models import (
    ColumnRole,
    DataSet,
    DataSetChange,
    DataSetRow,
    DataSetSummary,
    DataSetVersion,
    TablePreview,
    UploadedDataSet,
)
from carrel_sdk.transport import segment


class DataSets:
    """The routes under `/data-sets`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def upload(
        self,
        file_name: str,
        body: bytes,
        *,
        name: str | None = None,
        columns: Mapping[str, ColumnRole] | None = None,
        sheet: str | None = None,
        source: str | None = None,
    ) -> UploadedDataSet:
        """Keep the rows of a table: all of them, or none. `columns` chooses roles; names suggest the others.

        `sheet` is one of a spreadsheet; without it the first one is read. `source` is the program that wrote a file of
        results, such as `promptfoo`, or `guess`.

        Raises:
            CarrelApiError: a code that begins with `data-set-` says what is wrong; `errors` names row and column.
        """
        fields = _fields(columns, sheet, source) | ({} if name is None else {"name": name})
        return self._calls.post_file("/data-sets", UploadedDataSet, (file_name, body), fields)

    def preview(
        self,
        file_name: str,
        body: bytes,
        *,
        columns: Mapping[str, ColumnRole] | None = None,
        sheet: str | None = None,
        source: str | None = None,
    ) -> TablePreview:
        """What `upload` would keep: columns with their roles, the first rows, and what is left out. Keeps nothing.

        Raises:
            CarrelApiError: as `upload`.
        """
        fields = _fields(columns, sheet, source)
        return self._calls.post_file("/data-sets/preview", TablePreview, (file_name, body), fields)

    def add_version(
        self,
        data_set_id: str,
        file_name: str,
        body: bytes,
        *,
        columns: Mapping[str, ColumnRole] | None = None,
        sheet: str | None = None,
        if_match: str | None = None,
    ) -> UploadedDataSet:
        """Keep a table as the next version. Columns of the same names keep their roles.

        Raises:
            CarrelApiError: as `upload`.
            VersionMismatch: `if_match` names another version than the present one.
        """
        path = f"{_path(data_set_id)}/versions"
        return self._calls.post_file(
            path, UploadedDataSet, (file_name, body), _fields(columns, sheet), if_match=if_match
        )

    def each(self) -> Iterator[DataSetSummary]:
        """Every data set, newest first."""
        return self._calls.each("/data-sets", DataSetSummary)

    def get(self, data_set_id: str) -> DataSet:
        """One data set, without its rows."""
        return self._calls.get(_path(data_set_id), DataSet)

    def rows(self, data_set_id: str, *, version: int | None = None) -> Iterator[DataSetRow]:
        """The rows in the order of the table."""
        return self._calls.each(f"{_path(data_set_id)}/rows", DataSetRow, {"version": version})

    def versions(self, data_set_id: str) -> Iterator[DataSetVersion]:
        """Its versions, newest first."""
        return self._calls.each(f"{_path(data_set_id)}/versions", DataSetVersion)

    def save(self, data_set: DataSet) -> DataSet:
        """Write a changed name or changed roles back, as a new version with the same rows.

        Raises:
            VersionMismatch: somebody else saved it since this one was read.
        """
        written = msgspec.convert(data_set, DataSetChange, from_attributes=True)
        return self._calls.put(_path(data_set.id), DataSet, written, if_match=data_set.etag or None)

    def delete(self, data_set_id: str, *, if_match: str | None = None) -> None:
        """Delete it with all versions. Runs keep the rows that they took.

        Raises:
            Conflict: `data-set-in-use`, `errors` names the presets.
        """
        self._calls.delete(_path(data_set_id), if_match=if_match)


def _fields(columns: Mapping[str, ColumnRole] | None, sheet: str | None, source: str | None = None) -> dict[str, str]:
    chosen = {} if not columns else {"roles": msgspec.json.encode(dict(columns)).decode()}
    return chosen | {name: value for name, value in (("sheet", sheet), ("source", source)) if value is not None}


def _path(data_set_id: str) -> str:
    return f"/data-sets/{segment(data_set_id)}"
