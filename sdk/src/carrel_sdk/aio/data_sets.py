"""Written by `sdk/generate.py` from `carrel_sdk.data_sets`. Change that, and run it again."""

from collections.abc import AsyncIterator, Mapping

import msgspec

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.data_sets import _fields, _path
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


class AsyncDataSets:
    """The routes under `/data-sets`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def upload(
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
        return await self._calls.post_file("/data-sets", UploadedDataSet, (file_name, body), fields)

    async def preview(
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
        return await self._calls.post_file("/data-sets/preview", TablePreview, (file_name, body), fields)

    async def add_version(
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
        return await self._calls.post_file(
            path, UploadedDataSet, (file_name, body), _fields(columns, sheet), if_match=if_match
        )

    def each(self) -> AsyncIterator[DataSetSummary]:
        """Every data set, newest first."""
        return self._calls.each("/data-sets", DataSetSummary)

    async def get(self, data_set_id: str) -> DataSet:
        """One data set, without its rows."""
        return await self._calls.get(_path(data_set_id), DataSet)

    def rows(self, data_set_id: str, *, version: int | None = None) -> AsyncIterator[DataSetRow]:
        """The rows in the order of the table."""
        return self._calls.each(f"{_path(data_set_id)}/rows", DataSetRow, {"version": version})

    def versions(self, data_set_id: str) -> AsyncIterator[DataSetVersion]:
        """Its versions, newest first."""
        return self._calls.each(f"{_path(data_set_id)}/versions", DataSetVersion)

    async def save(self, data_set: DataSet) -> DataSet:
        """Write a changed name or changed roles back, as a new version with the same rows.

        Raises:
            VersionMismatch: somebody else saved it since this one was read.
        """
        written = msgspec.convert(data_set, DataSetChange, from_attributes=True)
        return await self._calls.put(_path(data_set.id), DataSet, written, if_match=data_set.etag or None)

    async def delete(self, data_set_id: str, *, if_match: str | None = None) -> None:
        """Delete it with all versions. Runs keep the rows that they took.

        Raises:
            Conflict: `data-set-in-use`, `errors` names the presets.
        """
        await self._calls.delete(_path(data_set_id), if_match=if_match)
