"""`/presets` (specification, section 4.2). Executing a preset makes a run, so that route is among those of runs."""

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.checks.compiler import Compiler
from carrel.config import Settings
from carrel.http.answers.etag import IfMatch
from carrel.http.answers.response import Response, tagged
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Router, delete, get, post, put
from carrel.kit.sqlite.paging import Page, Paging
from carrel.presets import store
from carrel.presets.check import BudgetUnpriced, CriterionNotSupported, sources
from carrel.presets.schemas import Preset, PresetChange, PresetIn, PresetSummary
from carrel.providers.registry import Registry
from carrel.vault.ids import PresetId
from carrel.vault.workspace import Workspace

REFUSALS = (CriterionNotSupported, BudgetUnpriced)
"""The errors that refuse a configuration, besides plain bad input."""


@post("", guards=[guard.full], opt=scopes.WRITE | raises(*REFUSALS))
async def create_preset(
    data: PresetIn,
    workspace: Workspace,
    registry: Registry,
    compiler: Compiler,
) -> Response[Preset]:
    """Save a new preset. Carrel checks everything that it names."""
    await compiler.require(workspace.uuid, sources(data))
    return tagged(await workspace.write(store.create, data, registry))


@get("", guards=[guard.session], opt=scopes.READ)
async def list_presets(workspace: Workspace, paging: Paging) -> Page[PresetSummary]:
    """The presets, newest first."""
    return workspace.read(store.find, paging)


@get("/{preset_id:str}", guards=[guard.session], opt=scopes.READ)
async def read_preset(preset_id: PresetId, workspace: Workspace) -> Response[Preset]:
    """One preset with its whole configuration."""
    preset = workspace.read(store.get_short, preset_id)
    if preset is None:
        preset = await workspace.scan(store.get, preset_id)
    return tagged(preset)


@put("/{preset_id:str}", guards=[guard.full], opt=scopes.WRITE | raises(*REFUSALS))
async def replace_preset(
    preset_id: PresetId,
    data: PresetChange,
    workspace: Workspace,
    registry: Registry,
    compiler: Compiler,
    if_match: IfMatch,
) -> Response[Preset]:
    """Replace everything but the id. Runs that were made from the preset do not change."""
    await compiler.require(workspace.uuid, sources(data))
    return tagged(await workspace.write(store.replace, preset_id, data, if_match, registry))


@delete("/{preset_id:str}", guards=[guard.session], opt=scopes.WRITE)
async def delete_preset(preset_id: PresetId, workspace: Workspace, if_match: IfMatch) -> None:
    """Remove a preset. Its runs stay."""
    await workspace.write(store.delete, preset_id, if_match)


@post("/{preset_id:str}/duplicate", guards=[guard.full], opt=scopes.WRITE)
async def duplicate_preset(preset_id: PresetId, workspace: Workspace, settings: Settings) -> Response[Preset]:
    """Copy a preset. The name of the copy says that it is one."""
    return tagged(await workspace.write(store.duplicate, preset_id, settings))


router = Router(
    "/presets",
    route_handlers=[create_preset, list_presets, read_preset, replace_preset, delete_preset, duplicate_preset],
    tags=["Presets"],
)
