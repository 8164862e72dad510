"""`/users/me/export` and `/users/me/import`: export and import of everything that a user has."""

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
from carrel.http.requests.describe import produces, raises
from carrel.http.requests.routing import Router, get, post
from carrel.kit.processes.pool import WorkerPool
from carrel.presets.check import BudgetUnpriced, CriterionNotSupported
from carrel.presets.drafts import TooManyDrafts
from carrel.providers.own_prices import TooManyPrices
from carrel.providers.registry import Registry
from carrel.transfer import upload
from carrel.transfer.download import MEDIA_TYPE, pieces
from carrel.transfer.entries import Imported
from carrel.transfer.pieces import ImportForeign, ImportReplaced, ImportTooLarge, ImportUnreadable
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
    | raises(
        ImportUnreadable,
        ImportForeign,
        ImportTooLarge,
        ImportReplaced,
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
) -> Imported:
    """Import contents, data sets, presets and settings from such a zip, under new ids; all or nothing."""
    async with upload.kept(workspace, request.stream(), settings.max_import_bytes) as package:
        return await imports.bring_in(workspace, package, settings, registry, compiler, tables)


router = Router("/users/me", route_handlers=[export_workspace, import_workspace], tags=["Users"])
