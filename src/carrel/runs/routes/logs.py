"""`/runs/{id}/logs`, `/share-logs` and `/events` (specification, section 4.2): what happened in a run."""

from typing import Annotated

from carrel.accounts.accounts import Accounts
from carrel.accounts.service import ServiceDatabase
from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.auth.sessions import Session
from carrel.http.answers.event_stream import MEDIA_TYPE
from carrel.http.answers.response import Response
from carrel.http.requests.describe import produces, raises
from carrel.http.requests.routing import Header, Query, Router, get, post
from carrel.kit.sqlite.paging import Page, Paging
from carrel.runs.model import log, run_transitions
from carrel.runs.model.log import Level, LogEntry
from carrel.runs.model.schemas import LogCount
from carrel.runs.model.setup import RunId
from carrel.runs.progress import sharing
from carrel.runs.progress.events import Only, Streams
from carrel.runs.progress.hub import TooManyStreams
from carrel.runs.progress.sharing import SharedLogOut
from carrel.vault.workspace import Workspace

_Level = Annotated[Level | None, Query(description="Only of this level.")]
_TaskKey = Annotated[str | None, Query(max_length=200, description="Only about this task.")]


@get("/logs", guards=[guard.session], opt=scopes.READ)
async def read_logs(
    run_id: RunId,
    workspace: Workspace,
    paging: Paging,
    level: _Level = None,
    task_key: _TaskKey = None,
) -> Page[LogEntry]:
    """The events of a run, newest first, in numbers and codes."""
    return await workspace.scan(log.page, run_id, paging, level=level, task_key=task_key)


@get("/logs/count", guards=[guard.session], opt=scopes.READ)
async def count_logs(run_id: RunId, workspace: Workspace, level: _Level = None, task_key: _TaskKey = None) -> LogCount:
    """How many rows the log has."""
    return LogCount(await workspace.scan(log.count, run_id, level=level, task_key=task_key))


@get("/logs/tail", guards=[guard.session], opt=scopes.READ | produces(MEDIA_TYPE) | raises(TooManyStreams))
async def tail_logs(
    run_id: RunId,
    workspace: Workspace,
    session: Session,
    streams: Streams,
    level: _Level = None,
    task_key: _TaskKey = None,
    last_event_id: Annotated[str | None, Header(name="Last-Event-ID", description="Go on after this row.")] = None,
) -> Response[bytes]:
    """The rows as they are written, oldest first, as server-sent events.

    The stream ends with `end` or `reauthenticate`.
    """
    stream = streams.tail(session, run_id, last_event_id, Only(level, task_key))
    workspace.read(run_transitions.present, run_id)
    return stream


@post("/share-logs", guards=[guard.session], status_code=200, opt=scopes.WRITE)
async def share_logs(
    run_id: RunId,
    workspace: Workspace,
    service: ServiceDatabase,
    accounts: Accounts,
) -> SharedLogOut:
    """Let the operator read a copy of the log for 14 days: times, keys, states, codes, models, counts; no text."""
    entries = await workspace.scan(sharing.copied, run_id)
    return await service.run(sharing.put, accounts.owner(workspace.uuid), entries)


@get("/events", guards=[guard.session], opt=scopes.READ | produces(MEDIA_TYPE) | raises(TooManyStreams))
async def stream_events(
    run_id: RunId,
    workspace: Workspace,
    session: Session,
    streams: Streams,
    last_event_id: Annotated[str | None, Header(name="Last-Event-ID", description="Go on after this event.")] = None,
    texts: Annotated[bool, Query(description="Also `text` events: parts of answers while models write them.")] = False,
) -> Response[bytes]:
    """The log as it is written, as server-sent events. The stream ends with `end` or `reauthenticate`.

    A `text` event has no id, and nothing keeps it: a reader who comes later, or is too slow, misses it. Its part of the
    answer is the beginning (`after` is `nothing`), or follows what came before (`text`), or follows a `gap`.
    """
    stream = streams.open(session, run_id, last_event_id, texts=texts)
    workspace.read(run_transitions.present, run_id)
    return stream


router = Router(
    "/runs/{run_id:str}",
    route_handlers=[read_logs, count_logs, tail_logs, share_logs, stream_events],
    tags=["Run artifacts"],
)
