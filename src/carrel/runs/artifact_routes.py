"""`/runs/{id}/…` (specification, section 4.2): what comes out of a run, and what happened in it.

Report and export have routes of their own.
"""

from typing import Annotated

from litestar import Router, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, HeaderParameter, QueryParameter

from carrel.accounts.accounts import Accounts
from carrel.accounts.service import ServiceDatabase
from carrel.auth import guard
from carrel.auth.sessions import Session
from carrel.kit.http import accept
from carrel.kit.http.answer import JSON, Answer
from carrel.kit.http.describe import produces, raises
from carrel.kit.http.etag import etag
from carrel.kit.http.event_stream import MEDIA_TYPE
from carrel.kit.processes.worker import Worker
from carrel.kit.sqlite.paging import Page, Paging
from carrel.runs import answers, log, moves, sharing, whatif
from carrel.runs.events import Only, Streams
from carrel.runs.hub import TooManyStreams
from carrel.runs.log import Entry, Level
from carrel.runs.schemas import Generated, LogCount, RankingOut, SharedLogOut
from carrel.runs.setup import RunId
from carrel.runs.sharing import SharedLog, SharedLogSummary
from carrel.runs.whatif import MAX_CHARACTERS, Question
from carrel.vault.workspace import Workspace

MARKDOWN = "text/markdown"

_Level = Annotated[Level | None, QueryParameter(description="Only of this level.")]
_TaskKey = Annotated[str | None, QueryParameter(max_length=200, description="Only about this task.")]


@get("/ranking", guards=[guard.session])
async def read_ranking(
    run_id: FromPath[RunId],
    workspace: NamedDependency[Workspace],
    worker: NamedDependency[Worker],
    round_number: Annotated[
        int | None, QueryParameter(name="round", ge=1, description="Of this round; else of the present one.")
    ] = None,
    without_judge: Annotated[
        str | None, QueryParameter(max_length=300, description="As it would be without this judge.")
    ] = None,
    weights: Annotated[
        str | None,
        QueryParameter(max_length=MAX_CHARACTERS, description='With other weights, as JSON: `{"local:reader": 2}`.'),
    ] = None,
    with_human: Annotated[
        bool, QueryParameter(description="With the person's blind votes among the judges, as judge `human`.")
    ] = False,
) -> RankingOut:
    """The ranking in words and figures. With other judges or weights it costs no calls and is marked as exploratory."""
    return await whatif.ranking(workspace, worker, run_id, Question(round_number, without_judge, weights, with_human))


@get("/generated/{generated_id:str}", guards=[guard.session], opt=produces(JSON, MARKDOWN))
async def read_generated(
    run_id: FromPath[RunId],
    generated_id: FromPath[str],
    workspace: NamedDependency[Workspace],
    wanted: Annotated[str | None, HeaderParameter(name="Accept")] = None,
) -> Answer[Generated | str]:
    """One answer: as JSON with its scores, or its text alone as Markdown."""
    kind = accept.choose(wanted, (JSON, MARKDOWN))
    found = await workspace.scan(answers.get, run_id, generated_id)
    if kind == MARKDOWN:
        return Answer(found.body, etag=etag(1, "md"), media_type=MARKDOWN)
    return Answer(found, etag=etag(found.version))


@get("/logs", guards=[guard.session])
async def read_logs(
    run_id: FromPath[RunId],
    workspace: NamedDependency[Workspace],
    paging: NamedDependency[Paging],
    level: _Level = None,
    task_key: _TaskKey = None,
) -> Page[Entry]:
    """What happened, newest first, in numbers and codes."""
    return await workspace.scan(log.page, run_id, paging, level=level, task_key=task_key)


@get("/logs/count", guards=[guard.session])
async def count_logs(
    run_id: FromPath[RunId], workspace: NamedDependency[Workspace], level: _Level = None, task_key: _TaskKey = None
) -> LogCount:
    """How many rows the log has."""
    return LogCount(await workspace.scan(log.count, run_id, level=level, task_key=task_key))


@get("/logs/tail", guards=[guard.session], opt=produces(MEDIA_TYPE) | raises(TooManyStreams))
async def tail_logs(
    run_id: FromPath[RunId],
    workspace: NamedDependency[Workspace],
    session: NamedDependency[Session],
    streams: NamedDependency[Streams],
    level: _Level = None,
    task_key: _TaskKey = None,
    last_event_id: Annotated[
        str | None, HeaderParameter(name="Last-Event-ID", description="Go on after this row.")
    ] = None,
) -> Answer[bytes]:
    """The rows as they are written, oldest first, as server-sent events; ends with `end`, or `reauthenticate`."""
    stream = streams.tail(session, run_id, last_event_id, Only(level, task_key))
    workspace.read(moves.present, run_id)
    return stream


@post("/share-logs", guards=[guard.session], status_code=200)
async def share_logs(
    run_id: FromPath[RunId],
    workspace: NamedDependency[Workspace],
    service: NamedDependency[ServiceDatabase],
    accounts: NamedDependency[Accounts],
) -> SharedLogOut:
    """Let the operator read a copy of the log for 14 days: times, keys, states, codes, models, counts; no text."""
    entries = await workspace.scan(sharing.copied, run_id)
    return await service.run(sharing.put, accounts.owner(workspace.uuid), entries)


@get("/events", guards=[guard.session], opt=produces(MEDIA_TYPE) | raises(TooManyStreams))
async def stream_events(
    run_id: FromPath[RunId],
    workspace: NamedDependency[Workspace],
    session: NamedDependency[Session],
    streams: NamedDependency[Streams],
    last_event_id: Annotated[
        str | None, HeaderParameter(name="Last-Event-ID", description="Go on after this event.")
    ] = None,
) -> Answer[bytes]:
    """The log as it is written, as server-sent events; ends with `end`, or with `reauthenticate`."""
    stream = streams.open(session, run_id, last_event_id)
    workspace.read(moves.present, run_id)
    return stream


@get("", guards=[guard.admin])
async def list_shared_logs(
    service: NamedDependency[ServiceDatabase], paging: NamedDependency[Paging]
) -> Page[SharedLogSummary]:
    """The logs that users share with the operator, newest first."""
    return await service.run(sharing.find, paging)


@get("/{share_id:str}", guards=[guard.admin])
async def read_shared_log(share_id: FromPath[str], service: NamedDependency[ServiceDatabase]) -> SharedLog:
    """One shared log with its rows."""
    return await service.run(sharing.get, share_id)


router = Router(
    "/runs/{run_id:str}",
    route_handlers=[read_ranking, read_generated, read_logs, count_logs, tail_logs, share_logs, stream_events],
    tags=["Run artifacts"],
)
shared = Router("/admin/shared-logs", route_handlers=[list_shared_logs, read_shared_log], tags=["Admin"])
