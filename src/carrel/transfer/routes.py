"""`/users/me/export` and `/users/me/import`: export and import of everything that a user has."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.checks.compiler import Compiler
from carrel.config import Settings
from carrel.contents.resolve import VariableCycle
from carrel.datasets.readers import TableReaders
from carrel.datasets.refusals import TABLE_REFUSALS
from carrel.http.answers.download import StreamedDownload
from carrel.http.answers.response import Response
from carrel.http.request import Request
from carrel.http.requests.body import TAKES
from carrel.http.requests.describe import also, produces, raises
from carrel.http.requests.routing import Header, Router, get, post
from carrel.kit.processes.pool import WorkerPool
from carrel.presets.check import BudgetUnpriced, CriterionNotSupported
from carrel.presets.drafts import TooManyDrafts
from carrel.providers.own_prices import TooManyPrices
from carrel.providers.registry import Registry
from carrel.transfer import upload
from carrel.transfer.download import MEDIA_TYPE, pieces
from carrel.transfer.entries import Imported, Received
from carrel.transfer.pieces import ImportForeign, ImportReplaced, ImportTooLarge, ImportUnreadable, PartMisplaced
from carrel.transfer.upload import Imports
from carrel.vault.workspace import Workspace


@get("/export", guards=[guard.session], opt=scopes.READ | produces(MEDIA_TYPE))
async def export_workspace(workspace: Workspace, workers: WorkerPool) -> Response[bytes]:
    """Download everything as a zip, from contents and data sets to runs and calls. It holds no key."""
    return StreamedDownload(lambda: pieces(workspace, workers), file_name="carrel-workspace.zip", media_type=MEDIA_TYPE)


@post(
    "/import",
    guards=[guard.full],
    max_body_bytes=None,
    opt=scopes.WRITE
    | {TAKES: MEDIA_TYPE}
    | also(202, Received)
    | raises(
        ImportUnreadable,
        ImportForeign,
        ImportTooLarge,
        ImportReplaced,
        PartMisplaced,
        VariableCycle,
        CriterionNotSupported,
        BudgetUnpriced,
        TooManyPrices,
        TooManyDrafts,
        *TABLE_REFUSALS,
    ),
)
async def import_workspace(
    request: Request,
    workspace: Workspace,
    settings: Settings,
    registry: Registry,
    compiler: Compiler,
    tables: TableReaders,
    imports: Imports,
    content_range: Annotated[
        str | None,
        Header(
            name="Content-Range",
            description="Of a part: `bytes 0-8388607/170000000`; of a question: `bytes */170000000`.",
        ),
    ] = None,
) -> Response[Imported | Received]:
    """Import contents, data sets, presets and settings from such a zip, under new ids; all or nothing.

    A zip may come in parts, each with `Content-Range`: 202 says where the next one begins, and the last one is answered
    as the whole is. After a cut, an empty part that asks is answered likewise.
    """
    part = upload.part_of(content_range)
    async with upload.kept(workspace, request.stream(), settings.max_import_bytes, part) as package:
        if not package.is_whole:
            return Response(Received(package.size), status_code=202)
        return Response(
            await imports.bring_in(workspace, package, settings, registry, compiler, tables), status_code=201
        )


router = Router("/users/me", route_handlers=[export_workspace, import_workspace], tags=["Users"])
