"""Sends contents, or the answers of a run, to a repository as one commit on a branch."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from carrel.errors import BadInput, Conflict, FieldError
from carrel.github import commits, repository
from carrel.github import store as connections
from carrel.github.client import Github
from carrel.github.commits import MAX_BYTES, MAX_FILES, Memory
from carrel.github.refusals import GithubUnavailable
from carrel.github.schemas import ConnectionId
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.runs.model import log
from carrel.runs.model import setup as setups
from carrel.runs.model.names import answer_name, file_name
from carrel.runs.model.setup import RunId
from carrel.runs.publishing import library
from carrel.runs.publishing.github_import import TIMEOUT_SECONDS
from carrel.runs.publishing.github_schemas import ExportedTo, ExportIn
from carrel.runs.verdicts import rankings
from carrel.vault.ids import ContentId
from carrel.vault.workspace import Workspace

_ENDINGS = (".md", ".markdown", ".txt", ".yaml", ".yml", ".html", ".csv")


class _Answer(NamedTuple):
    document: int
    name: str
    candidate: int
    repeat: int
    repeats: int
    seq: int


_answers = Select(_Answer, seq="generated.seq")


class NothingToExport(Conflict):
    """The run has no answer to send."""

    code = "nothing-to-export"
    detail = "The run has no answers to export: nobody leads, or it has not ended. Ask for all answers."


class GithubTooMuch(Conflict):
    """The export is larger than one commit may be."""

    code = "github-too-much"
    detail = "One export to GitHub holds at most 500 files and 16 MiB."


async def send(
    github: Github, workspace: Workspace, connection_id: ConnectionId, data: ExportIn, memory: Memory | None = None
) -> ExportedTo:
    """Export the contents or the answers. A repetition changes nothing and makes no second commit.

    Raises:
        NotFound: there is no such connection, run or content.
        BadInput: not exactly one of contents and run, or the path or branch is none.
        NothingToExport, GithubTooMuch
        CarrelError: one of `refusals.OF_GITHUB`; the branch is as it was.
    """
    target = workspace.read(connections.target, connection_id)
    if (data.contents is None) == (data.run is None):
        raise BadInput.at("contents", "give exactly one of contents and run")
    if data.path:
        repository.check_path(data.path, "path")
    texts = await workspace.scan(_gathered, data)
    files = {f"{data.path}/{name}" if data.path else name: body for name, body in texts.items()}
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            done = await commits.commit(github, target, files, message=data.message, branch=data.branch, memory=memory)
    except TimeoutError:
        raise GithubUnavailable from None
    return ExportedTo(done.commit, done.branch, done.new_branch, done.changed, sorted(files))


async def send_by_hand(github: Github, workspace: Workspace, connection_id: ConnectionId, data: ExportIn) -> ExportedTo:
    """Call `send`, and record in the run's log that its answers were sent, as for automatic deliveries."""
    done = await send(github, workspace, connection_id, data)
    if data.run is not None:
        await workspace.write(_note, data.run)
    return done


def _note(conn: Connection, run_id: RunId) -> None:
    seq = conn.value("SELECT seq FROM runs WHERE id = ?", run_id)
    if seq is not None:
        log.write(conn, seq, "answers-sent")


def _gathered(conn: Connection, data: ExportIn) -> dict[str, str]:
    if data.run is not None:
        return _bounded(_of_run(conn, data.run, best=data.answers == "best"))
    return _bounded(_of_contents(conn, data.contents or []))


def _bounded(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    size = 0
    for name, body in texts:
        found[name] = body
        size += len(body.encode())
        if len(found) > MAX_FILES or size > MAX_BYTES:
            raise GithubTooMuch
    return found


def _of_contents(conn: Connection, ids: list[ContentId]) -> Iterator[tuple[str, str]]:
    """Each content under its own name. If names are equal, the later ones get a number."""
    used: set[str] = set()
    for index, content_id in enumerate(ids):
        row = conn.one("SELECT name, type, body FROM contents WHERE id = ?", content_id)
        if row is None:
            raise BadInput(errors=(FieldError(f"contents[{index}]", "is not the id of a content"),))
        name, kind, body = row
        yield _unused(file_name(name) or "text", ".yaml" if kind == "criteria" else ".md", used), body


def _unused(name: str, ending: str, used: set[str]) -> str:
    stem, own = name, ending
    for known in _ENDINGS:
        if name.lower().endswith(known) and len(name) > len(known):
            stem, own = name[: -len(known)], known
    number = 1
    found = stem + own
    # Some file systems do not distinguish capital letters from small ones.
    while found.lower() in used:
        number += 1
        found = f"{stem}-{number}{own}"
    used.add(found.lower())
    return found


def _of_run(conn: Connection, run_id: RunId, *, best: bool) -> Iterator[tuple[str, str]]:
    """The delivered answers, a folder for each document, with the names of the zip export."""
    setup = setups.require(conn, run_id)
    seq = setup.seq
    labels = [one.label for one in setup.candidates]
    wanted = list(range(1, len(labels) + 1))
    if best:
        ranking = rankings.newest(conn, seq)
        wanted = [] if ranking is None else library.wanted(ranking, "best", labels)
    rows = _answers.all(
        conn,
        "FROM generated JOIN run_documents ON run_documents.run = generated.run AND run_documents.ordinal = document"
        " JOIN run_candidates ON run_candidates.run = generated.run AND run_candidates.ordinal = candidate"
        " WHERE generated.run = ? AND delivered ORDER BY document, candidate, repeat",
        seq,
    )
    chosen = [row for row in rows if row.candidate in wanted]
    if not chosen:
        raise NothingToExport
    for one in chosen:
        body: str = conn.value("SELECT body FROM generated WHERE seq = ?", one.seq)
        label = labels[one.candidate - 1]
        yield answer_name((one.document, one.name), (one.candidate, label), one.repeat, one.repeats), body
