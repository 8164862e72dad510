"""`/admin/shared-logs`: the logs that users share with the operator."""

from litestar import Router, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from carrel.accounts.service import ServiceDatabase
from carrel.auth import guard
from carrel.kit.sqlite.paging import Page, Paging
from carrel.runs.progress import sharing
from carrel.runs.progress.sharing import SharedLog, SharedLogSummary, ShareId


@get("", guards=[guard.admin])
async def list_shared_logs(
    service: NamedDependency[ServiceDatabase], paging: NamedDependency[Paging]
) -> Page[SharedLogSummary]:
    """The logs that users share with the operator, newest first."""
    return await service.run(sharing.find, paging)


@get("/{share_id:str}", guards=[guard.admin])
async def read_shared_log(share_id: FromPath[ShareId], service: NamedDependency[ServiceDatabase]) -> SharedLog:
    """One shared log with its rows."""
    return await service.run(sharing.get, share_id)


router = Router("/admin/shared-logs", route_handlers=[list_shared_logs, read_shared_log], tags=["Admin"])
