"""`/github-connections`: repositories that the user reads texts from and writes texts to.

Import and export are routes of features that know contents and runs.
"""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.config import Settings
from carrel.github import probe, repository, store
from carrel.github.client import Github
from carrel.github.refusals import OF_GITHUB, GithubHostNotAllowed
from carrel.github.schemas import (
    MAX_PATH_CHARACTERS,
    SHA,
    ConnectionChange,
    ConnectionId,
    ConnectionIn,
    ConnectionTest,
    GithubConnection,
    Tree,
)
from carrel.http.answers.etag import IfMatch
from carrel.http.answers.response import Response, tagged
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Query, Router, delete, get, post, put
from carrel.kit.sqlite.paging import Page, Paging
from carrel.vault.workspace import Workspace


@post("", guards=[guard.full], opt=scopes.PERSON | raises(GithubHostNotAllowed))
async def create_github_connection(
    data: ConnectionIn, workspace: Workspace, settings: Settings
) -> Response[GithubConnection]:
    """Connect a repository. The token is not shown again."""
    return tagged(await workspace.write(store.create, data, settings.github_hosts))


@get("", guards=[guard.session], opt=scopes.READ)
async def list_github_connections(workspace: Workspace, paging: Paging) -> Page[GithubConnection]:
    """The connections, newest first; only the last four characters of their tokens are shown."""
    return workspace.read(store.listed, paging)


@get("/{connection_id:str}", guards=[guard.session], opt=scopes.READ)
async def read_github_connection(connection_id: ConnectionId, workspace: Workspace) -> Response[GithubConnection]:
    """One connection."""
    return tagged(workspace.read(store.get, connection_id))


@put("/{connection_id:str}", guards=[guard.full], opt=scopes.PERSON | raises(GithubHostNotAllowed))
async def replace_github_connection(
    connection_id: ConnectionId,
    data: ConnectionChange,
    workspace: Workspace,
    settings: Settings,
    if_match: IfMatch,
) -> Response[GithubConnection]:
    """Change a connection. Without a token the stored one stays, unless the base URL is another one."""
    return tagged(await workspace.write(store.replace, connection_id, data, if_match, settings.github_hosts))


@delete("/{connection_id:str}", guards=[guard.session], opt=scopes.PERSON)
async def delete_github_connection(connection_id: ConnectionId, workspace: Workspace, if_match: IfMatch) -> None:
    """Delete a connection with its token. What was imported stays."""
    await workspace.write(store.delete, connection_id, if_match)


@post("/{connection_id:str}/test", guards=[guard.session], status_code=200, opt=scopes.READ)
async def check_github_connection(connection_id: ConnectionId, workspace: Workspace, github: Github) -> ConnectionTest:
    """Ask GitHub once what the token gives access to."""
    return await probe.probe(github, workspace, connection_id)


@get("/{connection_id:str}/tree", guards=[guard.session], opt=scopes.READ | raises(*OF_GITHUB))
async def list_github_files(
    connection_id: ConnectionId,
    workspace: Workspace,
    github: Github,
    path: Annotated[str, Query(max_length=MAX_PATH_CHARACTERS, description="A folder; the root if left out.")] = "",
    commit: Annotated[
        str | None, Query(pattern=SHA, description="At this commit; else where the branch stands now.")
    ] = None,
) -> Tree:
    """List one folder of the repository, subfolders first."""
    async with github.turn(workspace.uuid, "look"):
        return await repository.folder(github, workspace.read(store.target, connection_id), commit, path)


router = Router(
    "/github-connections",
    route_handlers=[
        create_github_connection,
        list_github_connections,
        read_github_connection,
        replace_github_connection,
        delete_github_connection,
        check_github_connection,
        list_github_files,
    ],
    tags=["GitHub connections"],
)
