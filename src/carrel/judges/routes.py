"""`/evaluation/judges`: the passport of each judge, and the check that a judge can take."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.http.answers.response import Response
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Path, Query, Router, get, post
from carrel.judges import passports
from carrel.judges.checking import Checks
from carrel.judges.passports import check_cost, default_judges
from carrel.judges.schemas import CheckIn, DefaultJudges, JudgeCheck, JudgeCheckCost, JudgePassport, JudgePassports
from carrel.keys.store import ProviderKeyMissing
from carrel.kit.processes.pool import WorkerPool
from carrel.metering.quota import CallsUsedUp
from carrel.models import listing
from carrel.providers import prices
from carrel.providers.recent_lists import RecentLists
from carrel.providers.registry import Registry, canonical
from carrel.single_calls.caller import Caller
from carrel.single_calls.refusals import ModelCallFailed, ModelCallRefused, RateLimited
from carrel.vault.workspace import Workspace


@get("", guards=[guard.session], opt=scopes.READ)
async def list_judge_passports(workspace: Workspace, workers: WorkerPool) -> JudgePassports:
    """Every model that judged in the newest fifty finished runs or was checked, with its passport, free of cost."""
    return await passports.listed(workspace, workers)


@get("/default", guards=[guard.session], opt=scopes.READ)
async def read_default_judges(
    registry: Registry,
    workspace: Workspace,
    recent: RecentLists,
    candidate: Annotated[list[str] | None, Query(description="A candidate's model; as often as there are.")] = None,
) -> DefaultJudges:
    """Who judges these candidates unless you choose: models that are known to judge well, or nobody.

    Every provider with a stored key is asked for its list. One that does not answer within two seconds adds nothing.
    """
    await prices.ready()
    found = await listing.found(registry, recent, workspace)
    return workspace.read(default_judges, registry, found, [canonical(one) for one in candidate or ()])


@get("/check-cost", guards=[guard.session], opt=scopes.READ)
async def read_judge_check_cost(
    registry: Registry,
    workspace: Workspace,
    model: Annotated[str, Query(min_length=3, max_length=200, description="`provider:name`")],
) -> JudgeCheckCost:
    """What the check of a judge costs, before anything is spent."""
    await prices.ready()
    return workspace.read(check_cost, registry, canonical(model))


@get("/{model:path}", guards=[guard.session], opt=scopes.READ)
async def read_judge_passport(
    model: Annotated[str, Path(reads=canonical, description="`provider:name`; the name may hold slashes.")],
    workspace: Workspace,
    workers: WorkerPool,
    host: Annotated[
        str | None, Query(max_length=300, description="Where it answered; else the host of the stored key.")
    ] = None,
) -> JudgePassport:
    """One model's passport, at the host that its key names, or at another one."""
    return await passports.one(workspace, workers, model.removeprefix("/"), host)


@post(
    "/check",
    guards=[guard.full],
    status_code=200,
    opt=scopes.RUN | raises(ProviderKeyMissing, ModelCallRefused, RateLimited, CallsUsedUp, ModelCallFailed),
)
async def check_judge(
    data: CheckIn,
    workspace: Workspace,
    caller: Caller,
    judge_checks: Checks,
) -> Response[JudgeCheck]:
    """Have a judge compare the built-in pairs, whose better answers are known, in both orders.

    The calls are metered like any others. If it ends early, what was paid for is kept, and the next request goes on.
    """
    found = await judge_checks.check(workspace, data.judge)
    return Response(found, headers=caller.headers(workspace.uuid, data.judge.model))


router = Router(
    "/evaluation/judges",
    route_handlers=[
        list_judge_passports,
        read_default_judges,
        read_judge_check_cost,
        read_judge_passport,
        check_judge,
    ],
    tags=["Judges"],
)
