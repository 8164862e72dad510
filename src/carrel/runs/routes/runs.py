"""`/runs` (specification, section 4.2) and `POST /presets/{id}/execute`: making, listing and deleting runs."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.auth.sessions import Session
from carrel.checks.compiler import Compiler
from carrel.config import Settings
from carrel.contents.budget import ResolveBudget
from carrel.http.answers.etag import IfMatch
from carrel.http.answers.response import Response, tagged
from carrel.http.requests.describe import also, raises
from carrel.http.requests.idempotency import Once
from carrel.http.requests.routing import Query, Router, delete, get, post, put
from carrel.keys.store import ProviderKeyMissing
from carrel.keys.system_keys import SystemKeys
from carrel.kit.sqlite.paging import Page, Paging
from carrel.presets.check import BudgetUnpriced, CriterionNotSupported, sources
from carrel.providers.registry import Registry
from carrel.runs.costs.keys import CreditsUnavailable
from carrel.runs.creation.estimate import estimate, rehearse
from carrel.runs.creation.text_cache import VariablesOpen
from carrel.runs.engine import commands
from carrel.runs.engine.engine import Engine
from carrel.runs.model.schemas import BulkIn, Deleted, DryRun, ExecuteIn, Run, RunChange, RunCount, RunIn, RunSummary
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import RunStateConflict, State
from carrel.runs.progress import labels, store
from carrel.vault.ids import PresetId
from carrel.vault.workspace import Workspace

_MAKING = (VariablesOpen, ResolveBudget, CriterionNotSupported, BudgetUnpriced)

_BEGINNING = (ProviderKeyMissing, CreditsUnavailable)

DryRunWanted = Annotated[bool, Query(description="Only say what it would take and could decide.")]


@post("", guards=[guard.full], opt=scopes.RUN | raises(*_MAKING) | also(200, DryRun))
async def create_run(
    data: RunIn,
    session: Session,
    workspace: Workspace,
    engine: Engine,
    registry: Registry,
    settings: Settings,
    compiler: Compiler,
    once: Once,
    dry_run: DryRunWanted = False,
) -> Response[Run | DryRun]:
    """Create a pending run of a preset or a configuration. The run copies every text, so later edits change nothing.

    With `dry_run`, nothing is created: 200 with what it would take. A program needs the scope `write` as well if its
    configuration has another `output` than `none`.
    """
    own = data.configuration
    if own is not None and own.output.destination != "none":
        session.require("write")
    if own is not None:  # what a preset holds was compiled before it was stored
        await compiler.require(workspace.uuid, sources(own, "configuration"))
    if dry_run:
        return Response(await workspace.scan(estimate, data, registry, settings), status_code=200)
    return await once(workspace.uuid, partial(engine.write, workspace), commands.create, data, registry, settings)


@get("", guards=[guard.session], opt=scopes.READ)
async def list_runs(
    workspace: Workspace,
    paging: Paging,
    only: Annotated[State | None, Query(name="state", description="Only in this state.")] = None,
    tag: Annotated[str | None, Query(max_length=50, description="Only with this tag.")] = None,
    trial: Annotated[bool, Query(description="The trials on one input, in place of the other runs.")] = False,
) -> Page[RunSummary]:
    """The runs, newest first, without trials."""
    return workspace.read(store.find, paging, only, tag, trial=trial)


@get("/count", guards=[guard.session], opt=scopes.READ)
async def count_runs(workspace: Workspace) -> RunCount:
    """How many runs there are, in all and in each state, without trials."""
    return await workspace.scan(store.count)


@get("/{run_id:str}", guards=[guard.session], opt=scopes.READ)
async def read_run(run_id: RunId, workspace: Workspace) -> Response[Run]:
    """One run with the configuration that it was made from."""
    run = workspace.read(store.get_short, run_id)
    if run is None:
        run = await workspace.scan(store.get, run_id)
    return tagged(run)


@put("/{run_id:str}", guards=[guard.full], opt=scopes.WRITE)
async def replace_run(
    run_id: RunId,
    data: RunChange,
    workspace: Workspace,
    engine: Engine,
    if_match: IfMatch,
) -> Response[Run]:
    """Replace a run's name, tags and pin. Its configuration and its texts stay as they were."""
    return tagged(await engine.write(workspace, labels.put, run_id, data, if_match))


@delete("/{run_id:str}", guards=[guard.session], opt=scopes.WRITE | raises(RunStateConflict))
async def delete_run(
    run_id: RunId,
    workspace: Workspace,
    engine: Engine,
    if_match: IfMatch,
) -> None:
    """Remove a run with everything that belongs to it, unless it is running."""
    await engine.write(workspace, store.delete, run_id, if_match)


@delete("/bulk", guards=[guard.session], status_code=200, opt=scopes.WRITE)
async def delete_runs(
    workspace: Workspace,
    engine: Engine,
    data: BulkIn | None = None,
    only: Annotated[State | None, Query(name="state", description="Instead of ids: every run in this state.")] = None,
) -> Deleted:
    """Remove many runs at once, by their ids or by their state, at most 1,000. Runs that are running are refused."""
    left: Sequence[str] = await workspace.scan(store.to_delete, data.ids if data is not None else None, only)
    done = Deleted([], [])
    while left:
        some, left = await engine.write(workspace, store.delete_some, left)
        done = Deleted(done.deleted + some.deleted, done.refused + some.refused)
    return done


@post(
    "/{preset_id:str}/execute",
    guards=[guard.full],
    status_code=202,
    opt=scopes.RUN | raises(*_MAKING, *_BEGINNING) | also(200, DryRun),
)
async def execute_preset(
    preset_id: PresetId,
    workspace: Workspace,
    engine: Engine,
    registry: Registry,
    settings: Settings,
    once: Once,
    system_keys: SystemKeys,
    data: ExecuteIn | None = None,
    dry_run: DryRunWanted = False,
) -> Response[Run | DryRun]:
    """Create a run of the preset and start it. With `dry_run`, nothing is created: 200 with what it would take."""
    wanted = data or ExecuteIn()
    if dry_run:
        return Response(await workspace.scan(rehearse, preset_id, wanted, registry, settings), status_code=200)
    write = partial(engine.begin, workspace)
    system = system_keys.providers
    return await once(workspace.uuid, write, commands.execute, preset_id, wanted, registry, settings, system)


router = Router(
    "/runs",
    route_handlers=[create_run, list_runs, count_runs, read_run, replace_run, delete_run, delete_runs],
    tags=["Runs"],
)
execution = Router("/presets", route_handlers=[execute_preset], tags=["Presets"])
