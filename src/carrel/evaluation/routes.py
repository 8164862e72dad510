"""`/evaluation/score` and `/evaluation/compare`: one judge's word, outside of runs."""

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.config import Settings
from carrel.evaluation import single
from carrel.evaluation.schemas import Compared, CompareIn, Scored, ScoreIn
from carrel.http.answers.answer import Answer
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Router, post
from carrel.one_off.caller import Caller
from carrel.one_off.refusals import ModelCallFailed, ModelCallRefused, RateLimited
from carrel.providers.keys import ProviderKeyMissing
from carrel.vault.workspace import Workspace

_REFUSALS = (ProviderKeyMissing, ModelCallRefused, RateLimited, ModelCallFailed)


@post("/score", guards=[guard.full], status_code=200, opt=scopes.RUN | raises(*_REFUSALS))
async def score(
    data: ScoreIn,
    workspace: Workspace,
    caller: Caller,
    settings: Settings,
) -> Answer[Scored]:
    """Have one answer scored, as in runs. The calls are metered; nothing else is kept."""
    found = await single.score(caller, workspace, settings, data)
    return Answer(found, headers=caller.headers(workspace.uuid, data.judge.model))


@post("/compare", guards=[guard.full], status_code=200, opt=scopes.RUN | raises(*_REFUSALS))
async def compare(
    data: CompareIn,
    workspace: Workspace,
    caller: Caller,
    settings: Settings,
) -> Answer[Compared]:
    """Have two answers compared in both orders, as in runs. The calls are metered; nothing else is kept."""
    found = await single.compare(caller, workspace, settings, data)
    return Answer(found, headers=caller.headers(workspace.uuid, data.judge.model))


router = Router("/evaluation", route_handlers=[score, compare], tags=["Evaluation"])
