"""`/generation`, one prompt for one model, and `/evaluation`, one word of one judge: both outside of runs."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.config import Settings
from carrel.http.answers import accept
from carrel.http.answers.event_stream import MEDIA_TYPE
from carrel.http.answers.response import JSON, Response
from carrel.http.requests.describe import produces, raises
from carrel.http.requests.routing import Header, Router, post
from carrel.keys.store import ProviderKeyMissing
from carrel.metering.quota import CallsUsedUp
from carrel.single_calls import evaluation, generation, stream
from carrel.single_calls.caller import Caller
from carrel.single_calls.refusals import ModelCallFailed, ModelCallRefused, RateLimited
from carrel.single_calls.schemas import Compared, CompareIn, Completion, GenerationIn, Scored, ScoreIn
from carrel.vault.workspace import Workspace


@post(
    "",
    guards=[guard.full],
    status_code=200,
    opt=scopes.RUN
    | produces(JSON, MEDIA_TYPE)
    | raises(ProviderKeyMissing, ModelCallRefused, RateLimited, CallsUsedUp, ModelCallFailed),
)
async def generate(
    data: GenerationIn,
    workspace: Workspace,
    caller: Caller,
    wanted: Annotated[str | None, Header(name="Accept")] = None,
) -> Response[Completion]:
    """Ask one model once, outside of runs. The call is metered; nothing else of it is stored.

    As `text/event-stream` the answer comes while it is written: `piece` events whose `text`s make up the whole, then
    `end` with the same body as without a stream, or `error` with a problem. A call that fails before its first piece
    has the status of its error. If you disconnect in the middle, the service still reads the answer to its end and
    meters the call.
    """
    if accept.choose(wanted, (JSON, MEDIA_TYPE)) == MEDIA_TYPE:
        return await stream.opened(caller, workspace, data)
    return Response(
        await generation.generate(caller, workspace, data), headers=caller.headers(workspace.uuid, data.model)
    )


generation_router = Router("/generation", route_handlers=[generate], tags=["Generation"])


_REFUSALS = (ProviderKeyMissing, ModelCallRefused, RateLimited, ModelCallFailed)


@post("/score", guards=[guard.full], status_code=200, opt=scopes.RUN | raises(*_REFUSALS))
async def score(
    data: ScoreIn,
    workspace: Workspace,
    caller: Caller,
    settings: Settings,
) -> Response[Scored]:
    """Have one answer scored, as in runs. The calls are metered; nothing else is kept."""
    found = await evaluation.score(caller, workspace, settings, data)
    return Response(found, headers=caller.headers(workspace.uuid, data.judge.model))


@post("/compare", guards=[guard.full], status_code=200, opt=scopes.RUN | raises(*_REFUSALS))
async def compare(
    data: CompareIn,
    workspace: Workspace,
    caller: Caller,
    settings: Settings,
) -> Response[Compared]:
    """Have two answers compared in both orders, as in runs. The calls are metered; nothing else is kept."""
    found = await evaluation.compare(caller, workspace, settings, data)
    return Response(found, headers=caller.headers(workspace.uuid, data.judge.model))


evaluation_router = Router("/evaluation", route_handlers=[score, compare], tags=["Evaluation"])
