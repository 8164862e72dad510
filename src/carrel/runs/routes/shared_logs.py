"""`/admin/shared-logs`: the logs that users share with the operator."""

from carrel.accounts.service import ServiceDatabase
from carrel.auth import guard
from carrel.http.requests.routing import Router, get
from carrel.kit.sqlite.paging import Page, Paging
from carrel.runs.progress import sharing
from carrel.runs.progress.sharing import SharedLog, SharedLogSummary, ShareId


@get("", guards=[guard.admin])
async def list_shared_logs(service: ServiceDatabase, paging: Paging) -> Page[SharedLogSummary]:
    """The logs that users share with the operator, newest first."""
    return await service.run(sharing.find, paging)


@get("/{share_id:str}", guards=[guard.admin])
async def read_shared_log(share_id: ShareId, service: ServiceDatabase) -> SharedLog:
    """One shared log with its rows."""
    return await service.run(sharing.get, share_id)


router = Router("/admin/shared-logs", route_handlers=[list_shared_logs, read_shared_log], tags=["Admin"])
