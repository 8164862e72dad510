"""`/metering`: tokens and costs of calls."""

from datetime import tzinfo
from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.errors import BadInput
from carrel.http.requests.describe import raises
from carrel.http.requests.parameters import FromDay, ToDay
from carrel.http.requests.routing import Query, Router, get
from carrel.kit.sqlite.paging import Page, Paging
from carrel.metering import store
from carrel.metering.schemas import CallRow, Grouping, UsageReport
from carrel.metering.store import TooManyGroups
from carrel.providers.registry import canonical
from carrel.vault.workspace import Workspace

_GROUPINGS: dict[str, Grouping] = {
    "day": "day",
    "model": "model",
    "provider": "provider",
    "run": "run",
    "phase": "phase",
}


@get("/usage", guards=[guard.session], opt=scopes.READ | raises(TooManyGroups))
async def read_usage(
    workspace: Workspace,
    timezone: tzinfo,
    since: FromDay = None,
    until: ToDay = None,
    group_by: Annotated[
        str | None, Query(max_length=60, description="`day,model,provider,run,phase`, or some of them.")
    ] = None,
) -> UsageReport:
    """Sums over calls that have ended, by group. Days are those of the time zone in the settings."""
    span = store.span_of(timezone, since, until)
    return await workspace.scan(store.usage, span, _groupings(group_by))


@get("/calls", guards=[guard.session], opt=scopes.READ)
async def list_calls(
    workspace: Workspace,
    paging: Paging,
    run_id: Annotated[str | None, Query(max_length=64, description="Only of this run.")] = None,
    model: Annotated[str | None, Query(max_length=250, reads=canonical, description="Only of this model.")] = None,
) -> Page[CallRow]:
    """Every attempt to call a model, newest first."""
    return await workspace.scan(store.calls, paging, run_id, model)


def _groupings(text: str | None) -> list[Grouping]:
    if not text:
        return []
    try:
        return [_GROUPINGS[name] for name in text.split(",")]
    except KeyError:
        raise BadInput.at("group_by", "must be of day, model, provider, run and phase, with commas between") from None


router = Router("/metering", route_handlers=[read_usage, list_calls], tags=["Metering"])
