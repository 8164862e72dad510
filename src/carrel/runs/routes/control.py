"""`/runs/{id}/…` (specification, section 4.2): control of a run, and its tasks."""

from functools import partial
from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.config import Settings
from carrel.contents.budget import ResolveBudget
from carrel.http.answers.response import Response
from carrel.http.requests.describe import raises
from carrel.http.requests.idempotency import Once
from carrel.http.requests.routing import Query, Router, get, post
from carrel.keys.store import ProviderKeyMissing
from carrel.keys.system_keys import SystemKeys
from carrel.kit.sqlite.paging import Page, Paging
from carrel.presets.check import BudgetUnpriced, CriterionNotSupported
from carrel.providers.registry import Registry
from carrel.runs.costs.keys import CreditsUnavailable
from carrel.runs.creation.text_cache import VariablesOpen
from carrel.runs.engine import commands
from carrel.runs.engine.engine import Engine
from carrel.runs.engine.reevaluate import reevaluate
from carrel.runs.engine.retry import retry
from carrel.runs.model.plan import Kind
from carrel.runs.model.schemas import Checkpoint, ReevaluateIn, Run, Task
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import NothingToRetry, RunStateConflict, TaskState, TaskStateConflict
from carrel.runs.progress import store, task_list
from carrel.runs.progress.task_list import TaskFilters
from carrel.vault.workspace import Workspace

_GOING_ON = (RunStateConflict, ProviderKeyMissing, CreditsUnavailable)


@post("/start", guards=[guard.full], status_code=202, opt=scopes.RUN | raises(*_GOING_ON))
async def start_run(
    run_id: RunId,
    workspace: Workspace,
    engine: Engine,
    once: Once,
    system_keys: SystemKeys,
) -> Response[Run]:
    """Start a pending run."""
    return await once(workspace.uuid, partial(engine.begin, workspace), commands.start, run_id, system_keys.providers)


@post("/pause", guards=[guard.session], status_code=202, opt=scopes.RUN | raises(RunStateConflict))
async def pause_run(run_id: RunId, workspace: Workspace, engine: Engine) -> Response[Run]:
    """Start no further tasks: 200 if nothing is in flight, else 202. Results of calls in flight are kept."""
    run = await engine.write(workspace, commands.pause, run_id)
    return Response(run, status_code=200 if run.quiesced else 202)


@post("/resume", guards=[guard.full], status_code=202, opt=scopes.RUN | raises(*_GOING_ON))
async def resume_run(
    run_id: RunId,
    workspace: Workspace,
    engine: Engine,
    system_keys: SystemKeys,
) -> Run:
    """Continue with the tasks that are not done yet."""
    return await engine.begin(workspace, commands.resume, run_id, system_keys.providers)


@post("/cancel", guards=[guard.session], status_code=200, opt=scopes.RUN | raises(RunStateConflict))
async def cancel_run(run_id: RunId, workspace: Workspace, engine: Engine) -> Run:
    """End the run for good, including calls in flight. Finished results stay."""
    return await engine.cancel(workspace, run_id)


@get("/checkpoint", guards=[guard.session], opt=scopes.READ)
async def read_checkpoint(run_id: RunId, workspace: Workspace) -> Checkpoint:
    """The run's durable state: what is done, what remains, and whether it is safe to kill."""
    return await workspace.scan(store.checkpoint, run_id)


@get("/tasks", guards=[guard.session], opt=scopes.READ)
async def list_tasks(
    run_id: RunId,
    workspace: Workspace,
    paging: Paging,
    only: Annotated[TaskState | None, Query(name="state", description="Only in this state.")] = None,
    kind: Annotated[Kind | None, Query(description="Only of this kind.")] = None,
    round_number: Annotated[int | None, Query(name="round", ge=1, description="Only of this round.")] = None,
    document: Annotated[int | None, Query(ge=1, description="Only for the input of this number.")] = None,
) -> Page[Task]:
    """The tasks, in the order of the plan."""
    return await workspace.scan(task_list.page, run_id, TaskFilters(only, kind, round_number, document), paging)


@post("/tasks/{task_key:str}/skip", guards=[guard.full], status_code=200, opt=scopes.RUN | raises(TaskStateConflict))
async def skip_task(
    run_id: RunId,
    task_key: str,
    workspace: Workspace,
    engine: Engine,
) -> Task:
    """Skip a task that is pending, running or failed. Later phases continue without it."""
    return await engine.skip(workspace, run_id, task_key)


@post("/retry", guards=[guard.full], status_code=202, opt=scopes.RUN | raises(*_GOING_ON, NothingToRetry))
async def retry_run(
    run_id: RunId,
    workspace: Workspace,
    engine: Engine,
    system_keys: SystemKeys,
) -> Run:
    """Try what failed in a run that has ended again. What succeeded is kept, and nothing is paid twice."""
    return await engine.begin(workspace, retry, run_id, system_keys.providers)


@post(
    "/reevaluate",
    guards=[guard.full],
    status_code=202,
    opt=scopes.RUN | raises(*_GOING_ON, CriterionNotSupported, BudgetUnpriced, VariablesOpen, ResolveBudget),
)
async def reevaluate_run(
    run_id: RunId,
    data: ReevaluateIn,
    workspace: Workspace,
    engine: Engine,
    registry: Registry,
    settings: Settings,
    system_keys: SystemKeys,
) -> Run:
    """Judge the same answers again, in a new round. Earlier rounds stay readable."""
    return await engine.begin(workspace, reevaluate, run_id, data, registry, settings, system_keys.providers)


router = Router(
    "/runs/{run_id:str}",
    route_handlers=[
        start_run, pause_run, resume_run, cancel_run, read_checkpoint, list_tasks, skip_task, retry_run, reevaluate_run,
    ],
    tags=["Run control"],
)  # fmt: skip
