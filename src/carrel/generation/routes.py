"""`/generation`: one prompt, one model."""

from litestar import Router, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from carrel.auth import guard
from carrel.generation import single
from carrel.generation.schemas import Generated, GenerationIn
from carrel.kit.answer import Answer
from carrel.kit.describe import raises
from carrel.one_off.caller import Caller
from carrel.one_off.refusals import ModelCallFailed, ModelCallRefused, RateLimited
from carrel.providers.keys import ProviderKeyMissing
from carrel.vault.workspace import Workspace


@post(
    "",
    guards=[guard.full],
    status_code=200,
    opt=raises(ProviderKeyMissing, ModelCallRefused, RateLimited, ModelCallFailed),
)
async def generate(
    data: JSONBody[GenerationIn], workspace: NamedDependency[Workspace], caller: NamedDependency[Caller]
) -> Answer[Generated]:
    """Ask one model once, outside of runs. The call is metered; nothing else is kept of it."""
    return Answer(await single.generate(caller, workspace, data), headers=caller.headers(workspace.uuid, data.model))


router = Router("/generation", route_handlers=[generate], tags=["Generation"])
