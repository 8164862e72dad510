"""`/generation`: one prompt, one model."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.generation import single, stream
from carrel.generation.schemas import Completion, GenerationIn
from carrel.http.answers import accept
from carrel.http.answers.answer import JSON, Answer
from carrel.http.answers.event_stream import MEDIA_TYPE
from carrel.http.requests.describe import produces, raises
from carrel.http.requests.routing import Header, Router, post
from carrel.one_off.caller import Caller
from carrel.one_off.refusals import ModelCallFailed, ModelCallRefused, RateLimited
from carrel.providers.keys import ProviderKeyMissing
from carrel.vault.workspace import Workspace


@post(
    "",
    guards=[guard.full],
    status_code=200,
    opt=scopes.RUN
    | produces(JSON, MEDIA_TYPE)
    | raises(ProviderKeyMissing, ModelCallRefused, RateLimited, ModelCallFailed),
)
async def generate(
    data: GenerationIn,
    workspace: Workspace,
    caller: Caller,
    wanted: Annotated[str | None, Header(name="Accept")] = None,
) -> Answer[Completion]:
    """Ask one model once, outside of runs. The call is metered; nothing else of it is stored.

    As `text/event-stream` the answer comes while it is written: `piece` events whose `text`s make up the whole, then
    `end` with the same body as without a stream, or `error` with a problem. A call that fails before its first piece
    has the status of its error. If you disconnect in the middle, the service still reads the answer to its end and
    meters the call.
    """
    if accept.choose(wanted, (JSON, MEDIA_TYPE)) == MEDIA_TYPE:
        return await stream.opened(caller, workspace, data)
    return Answer(await single.generate(caller, workspace, data), headers=caller.headers(workspace.uuid, data.model))


router = Router("/generation", route_handlers=[generate], tags=["Generation"])
