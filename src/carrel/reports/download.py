"""Sends an export to the client."""

from typing import Final

from carrel.http.answers import download
from carrel.http.answers.etag import etag
from carrel.reports import export_store as store
from carrel.reports.export_store import StoredExport
from carrel.runs.model.setup import RunId
from carrel.vault.workspace import Workspace

MEDIA_TYPE: Final = "application/zip"


class ExportDownload(download.Download):
    """The answer that streams the zip."""

    def __init__(self, workspace: Workspace, run_id: RunId, export: StoredExport) -> None:
        async def piece(ordinal: int) -> bytes:
            return await workspace.scan(store.piece, export, ordinal)

        super().__init__(
            piece,
            export.bytes,
            file_name=f"carrel-{run_id}.zip",
            media_type=MEDIA_TYPE,
            etag=etag(export.basis, "zip"),
        )
