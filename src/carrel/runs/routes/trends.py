"""`/presets/{id}/trends` and `/alternatives`: one candidate over the runs of a preset, and models in its place."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.config import Settings
from carrel.http.requests.routing import Query, Router, get
from carrel.kit.processes.pool import WorkerPool
from carrel.models import listing
from carrel.providers import prices
from carrel.providers.recent_lists import RecentLists
from carrel.providers.registry import Registry
from carrel.runs.creation import alternatives
from carrel.runs.creation.alternatives import Alternatives
from carrel.runs.findings import trends
from carrel.runs.findings.trend import Trends
from carrel.vault.ids import PresetId
from carrel.vault.workspace import Workspace


@get("/{preset_id:str}/trends", guards=[guard.session], opt=scopes.READ)
async def read_trends(
    preset_id: PresetId,
    workspace: Workspace,
    workers: WorkerPool,
    candidate: Annotated[
        str | None, Query(max_length=100, description="Its label; else the first of the newest run.")
    ] = None,
    baseline: Annotated[
        str | None, Query(max_length=100, description="The label of the candidate to compare with.")
    ] = None,
    margin: Annotated[float, Query(gt=0, lt=1, description="How much worse than the baseline is too much.")] = 0.05,
) -> Trends:
    """A candidate in the newest 50 finished runs of a preset, and the last good one. It costs no calls.

    Runs that have more than 50,000 tasks together are left out, the oldest first.
    """
    return await trends.answer(workspace, workers, preset_id, trends.TrendQuestion(candidate, baseline, margin))


@get("/{preset_id:str}/alternatives", guards=[guard.session], opt=scopes.READ)
async def read_alternatives(
    preset_id: PresetId,
    workspace: Workspace,
    registry: Registry,
    recent: RecentLists,
    settings: Settings,
    baseline: Annotated[str, Query(max_length=100, description="The label of the candidate that is used today.")],
) -> Alternatives:
    """Models that could take the place of a candidate, the cheapest first: price, context, reach and end.

    Every provider with a stored key is asked for its list, as by `GET /models`. It costs no calls.
    """
    await prices.ready()
    found = await listing.found(registry, recent, workspace)
    return await workspace.scan(alternatives.find, preset_id, baseline, found, registry, settings)


router = Router("/presets", route_handlers=[read_trends, read_alternatives], tags=["Presets"])
