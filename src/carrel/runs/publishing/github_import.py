"""Makes contents of files of a repository: it first fetches all of them and then writes them in one transaction."""

import asyncio
from typing import NamedTuple

from carrel.config import Settings
from carrel.contents import store as contents
from carrel.contents.schemas import ContentIn
from carrel.errors import BadInput, TooLarge
from carrel.github import repository
from carrel.github import store as connections
from carrel.github.client import Github, Target
from carrel.github.refusals import GithubUnavailable
from carrel.github.repository import BranchHead, Folders
from carrel.github.schemas import ConnectionId
from carrel.kit.plain_text import is_text
from carrel.kit.sqlite.database import Connection
from carrel.runs.publishing.github_schemas import ImportIn, ImportOutcome, Left, Taken
from carrel.vault.workspace import Workspace

TIMEOUT_SECONDS = 120.0
"""The time for all requests to GitHub that one request to Carrel causes."""

_MAX_BYTES = 32 * 1024 * 1024
_MAX_DESCRIPTION_CHARACTERS = 2_000


class _File(NamedTuple):
    path: str
    body: str


async def take(
    github: Github, workspace: Workspace, connection_id: ConnectionId, data: ImportIn, settings: Settings
) -> ImportOutcome:
    """Import the files. If one of them cannot become a content, the others still do.

    Raises:
        NotFound: there is no such connection.
        BadInput: a path is none, or comes twice.
        TooLarge: the files are larger than what is held at once.
        CarrelError: one of `refusals.OF_GITHUB`; nothing was imported.
    """
    target = workspace.read(connections.target, connection_id)
    for index, path in enumerate(data.paths):
        repository.check_path(path, f"paths[{index}]")
    if len(set(data.paths)) < len(data.paths):
        raise BadInput.at("paths", "must not name a file twice")
    async with github.turn(workspace.uuid, "fetch"):
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                point = await repository.start(github, target, data.commit)
                fetched, left = await _fetch(github, target, point, data, settings.max_body_bytes)
        except TimeoutError:
            raise GithubUnavailable from None
        origin = f"From {target.repository}, commit {point.commit[:12]}"
        taken, unfit = await workspace.write(_put, data, fetched, origin, settings)
    return ImportOutcome(point.commit, taken, left + unfit)


async def _fetch(
    github: Github, target: Target, point: BranchHead, data: ImportIn, most_bytes: int
) -> tuple[list[_File], list[Left]]:
    folders = Folders(github, target, point)
    fetched: list[_File] = []
    left: list[Left] = []
    total = 0
    for path in data.paths:
        file = await folders.file(path)
        if file is None or file.bytes > most_bytes:
            left.append(Left(path, "github-not-found" if file is None else "too-large"))
            continue
        if total + file.bytes > _MAX_BYTES:
            raise TooLarge
        found = await repository.read(github, target, file)
        # The size that the folder listed may be wrong.
        total += len(found)
        body = _text(found)
        if len(found) > most_bytes:
            left.append(Left(path, "too-large"))
        elif isinstance(body, str):
            fetched.append(_File(path, body))
        else:
            left.append(Left(path, "not-text"))
    return fetched, left


def _text(body: bytes) -> str | None:
    """The text without its byte order mark; `None` if it is not text."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return text if is_text(text) else None


def _put(
    conn: Connection, data: ImportIn, fetched: list[_File], origin: str, settings: Settings
) -> tuple[list[Taken], list[Left]]:
    taken: list[Taken] = []
    unfit: list[Left] = []
    for file in fetched:
        content = ContentIn(
            name=file.path.rpartition("/")[2][: settings.max_name_characters],
            type=data.type,
            body=file.body,
            description=f"{origin}: {file.path}"[:_MAX_DESCRIPTION_CHARACTERS],
            tags=data.tags,
        )
        try:
            # If it refuses, it does so before it writes.
            made = contents.create(conn, content, settings)
        except BadInput:
            unfit.append(Left(file.path, "invalid-input"))
        else:
            taken.append(Taken(file.path, made.id, made.name))
    return taken, unfit
