"""`/github-connections/{id}/import` and `…/export`: texts that come from a repository or go to one."""

from litestar import Router, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.config import Settings
from carrel.github.client import Github
from carrel.github.refusals import OF_GITHUB
from carrel.github.schemas import ConnectionId
from carrel.kit.http.describe import raises
from carrel.runs.publishing import github_export, github_import
from carrel.runs.publishing.github_export import GithubTooMuch, NothingToExport
from carrel.runs.publishing.github_schemas import ExportedTo, ExportIn, ImportIn, ImportOutcome
from carrel.vault.workspace import Workspace


@post("/import", guards=[guard.full], opt=scopes.WRITE | raises(*OF_GITHUB))
async def import_from_github(
    connection_id: FromPath[ConnectionId],
    data: JSONBody[ImportIn],
    workspace: NamedDependency[Workspace],
    github: NamedDependency[Github],
    settings: NamedDependency[Settings],
) -> ImportOutcome:
    """Import files of the repository as contents. The answer lists those that Carrel cannot import, with the reason."""
    return await github_import.take(github, workspace, connection_id, data, settings)


@post("/export", guards=[guard.session], opt=scopes.WRITE | raises(*OF_GITHUB, NothingToExport, GithubTooMuch))
async def export_to_github(
    connection_id: FromPath[ConnectionId],
    data: JSONBody[ExportIn],
    workspace: NamedDependency[Workspace],
    github: NamedDependency[Github],
) -> ExportedTo:
    """Commit contents, or the answers of a run, to a branch. A repetition makes no second commit."""
    return await github_export.send_by_hand(github, workspace, connection_id, data)


router = Router(
    "/github-connections/{connection_id:str}",
    route_handlers=[import_from_github, export_to_github],
    tags=["GitHub connections"],
)
