"""`/data-sets`: tables whose rows are inputs of runs, in versions."""

import hashlib
from contextlib import aclosing
from functools import partial
from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.config import Settings
from carrel.datasets import batches, refusals, rows, store, upload
from carrel.datasets.readers import TableReaders
from carrel.datasets.schemas import (
    FORM,
    DataSet,
    DataSetChange,
    DataSetRow,
    DataSetSummary,
    DataSetVersion,
    TablePreview,
    TableUpload,
    UploadedDataSet,
)
from carrel.datasets.store import TableInfo
from carrel.errors import Malformed
from carrel.http.answers.etag import IfMatch
from carrel.http.answers.response import Response, tagged
from carrel.http.request import Request
from carrel.http.requests.body import MULTIPART
from carrel.http.requests.describe import raises
from carrel.http.requests.idempotency import Once
from carrel.http.requests.routing import Query, Router, delete, get, post, put
from carrel.kit.sqlite.paging import Page, Paging
from carrel.kit.sqlite.rows import as_json
from carrel.uploads.form import UploadTooLarge
from carrel.uploads.memory import UploadMemory, UploadReservation, UploadsBusy, brisk
from carrel.vault.ids import DataSetId
from carrel.vault.workspace import Workspace

_REFUSALS = (UploadTooLarge, refusals.TableFormatUnsupported, *refusals.TABLE_REFUSALS, Malformed, UploadsBusy)
_Version = Annotated[int | None, Query(ge=1, lt=1 << 31, description="As it was saved as this version.")]


@post("", guards=[guard.full], opt=scopes.WRITE | {MULTIPART: FORM} | raises(*_REFUSALS), max_body_bytes=None)
async def upload_data_set(
    request: Request,
    workspace: Workspace,
    room: UploadMemory,
    settings: Settings,
    tables: TableReaders,
    once: Once,
) -> Response[UploadedDataSet]:
    """Keep the rows of a table: all of them, or none if one breaks a rule."""
    with room.place(workspace.uuid) as place:
        file = await _read(request, settings, place)
        # The boundary of a form differs between two equal uploads.
        once, described = once.over(_digest(file)), _described(file)
        table = await tables.read(workspace.uuid, file)
        return await once(workspace.uuid, partial(Workspace.write, workspace), store.create, described, table)


@post(
    "/preview",
    guards=[guard.full],
    opt=scopes.WRITE | {MULTIPART: FORM} | raises(*_REFUSALS),
    status_code=200,
    max_body_bytes=None,
)
async def preview_table(
    request: Request, workspace: Workspace, room: UploadMemory, settings: Settings, tables: TableReaders
) -> TablePreview:
    """Read a table as an upload would, and say what it would become. Nothing of it is kept."""
    with room.place(workspace.uuid) as place:
        file = await _read(request, settings, place)
        return batches.preview(file.format, await tables.read(workspace.uuid, file))


@get("", guards=[guard.session], opt=scopes.READ)
async def list_data_sets(workspace: Workspace, paging: Paging) -> Page[DataSetSummary]:
    """The data sets, newest first."""
    return workspace.read(store.page, paging)


@get("/{data_set_id:str}", guards=[guard.session], opt=scopes.READ)
async def read_data_set(data_set_id: DataSetId, workspace: Workspace) -> Response[DataSet]:
    """One data set: its columns with their roles, and how many rows it has."""
    return tagged(workspace.read(store.get, data_set_id))


@put(
    "/{data_set_id:str}", guards=[guard.full], opt=scopes.WRITE | raises(refusals.ColumnsInvalid, refusals.RowsInvalid)
)
async def change_data_set(
    data_set_id: DataSetId,
    data: DataSetChange,
    workspace: Workspace,
    if_match: IfMatch,
) -> Response[DataSet]:
    """Save another name or other roles as a new version with the same rows."""
    return tagged(await workspace.write(store.change, data_set_id, data, if_match))


@post(
    "/{data_set_id:str}/versions",
    guards=[guard.full],
    opt=scopes.WRITE | {MULTIPART: FORM} | raises(*_REFUSALS),
    max_body_bytes=None,
)
async def upload_version(
    data_set_id: DataSetId,
    request: Request,
    workspace: Workspace,
    room: UploadMemory,
    settings: Settings,
    tables: TableReaders,
    if_match: IfMatch,
    once: Once,
) -> Response[UploadedDataSet]:
    """Keep a table as the next version. Its name stays, and columns of the same names keep their roles."""
    with room.place(workspace.uuid) as place:
        file = await _read(request, settings, place)
        once, described = once.over(_digest(file)), _described(file)
        before = workspace.read(store.present_columns, data_set_id, if_match)
        table = await tables.read(workspace.uuid, file, before)
        write = partial(Workspace.write, workspace)
        return await once(workspace.uuid, write, store.add_version, data_set_id, described, table, before, if_match)


@get("/{data_set_id:str}/versions", guards=[guard.session], opt=scopes.READ)
async def list_data_set_versions(data_set_id: DataSetId, workspace: Workspace, paging: Paging) -> Page[DataSetVersion]:
    """The versions, newest first, the present one included."""
    return workspace.read(rows.versions, data_set_id, paging)


@get("/{data_set_id:str}/rows", guards=[guard.session], opt=scopes.READ)
async def list_rows(
    data_set_id: DataSetId,
    workspace: Workspace,
    paging: Paging,
    version: _Version = None,
) -> Page[DataSetRow]:
    """The rows in the order of the table."""
    return await workspace.scan(rows.page, data_set_id, version, paging)


@delete("/{data_set_id:str}", guards=[guard.session], opt=scopes.WRITE | raises(refusals.DataSetInUse))
async def delete_data_set(data_set_id: DataSetId, workspace: Workspace, if_match: IfMatch) -> None:
    """Remove a data set with all its versions, unless a preset uses it. Runs keep the rows that they took."""
    await workspace.write(store.delete, data_set_id, if_match)


async def _read(request: Request, settings: Settings, place: UploadReservation) -> TableUpload:
    async with aclosing(brisk(request)) as stream:
        return await upload.read(stream, request.header(b"content-type") or "", settings, place.take)


def _digest(file: TableUpload) -> bytes:
    digest = hashlib.sha256(file.body)
    for name, body in file.others:
        digest.update(f"\0{name}\0".encode())
        digest.update(body)
    digest.update(f"\0{file.name}\0{file.format}\0{as_json(file.roles)}\0{file.sheet}\0{file.source}".encode())
    return digest.digest()


def _described(file: TableUpload) -> TableInfo:
    return TableInfo(file.name, "", file.format, len(file.body))


router = Router(
    "/data-sets",
    route_handlers=[
        upload_data_set,
        preview_table,
        list_data_sets,
        read_data_set,
        change_data_set,
        upload_version,
        list_data_set_versions,
        list_rows,
        delete_data_set,
    ],
    tags=["Data sets"],
)
