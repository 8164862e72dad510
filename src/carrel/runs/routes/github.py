"""`/github-connections/{id}/import` and `…/export`: texts that come from a repository or go to one."""

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.config import Settings
from carrel.github.client import Github
from carrel.github.refusals import OF_GITHUB
from carrel.github.schemas import ConnectionId
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Router, post
from carrel.runs.publishing import github_export, github_import
from carrel.runs.publishing.github_export import GithubTooMuch, NothingToExport
from carrel.runs.publishing.github_schemas import ExportedTo, ExportIn, ImportIn, ImportOutcome
from carrel.vault.workspace import Workspace


@post("/import", guards=[guard.full], opt=scopes.WRITE | raises(*OF_GITHUB))
async def import_from_github(
    connection_id: ConnectionId,
    data: ImportIn,
    workspace: Workspace,
    github: Github,
    settings: Settings,
) -> ImportOutcome:
    """Import files of the repository as contents. The answer lists those that Carrel cannot import, with the reason."""
    return await github_import.take(github, workspace, connection_id, data, settings)


@post("/export", guards=[guard.session], opt=scopes.WRITE | raises(*OF_GITHUB, NothingToExport, GithubTooMuch))
async def export_to_github(
    connection_id: ConnectionId,
    data: ExportIn,
    workspace: Workspace,
    github: Github,
) -> ExportedTo:
    """Commit contents, or the answers of a run, to a branch. A repetition makes no second commit."""
    return await github_export.send_by_hand(github, workspace, connection_id, data)


router = Router(
    "/github-connections/{connection_id:str}",
    route_handlers=[import_from_github, export_to_github],
    tags=["GitHub connections"],
)
