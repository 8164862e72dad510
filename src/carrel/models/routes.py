"""`/models`: the models that candidates and judges can use."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.http.requests.routing import Path, Query, Router, get
from carrel.models import listing
from carrel.models.schemas import Model, ModelEndings, Models
from carrel.providers import prices
from carrel.providers.recent_lists import RecentLists
from carrel.providers.registry import Registry, canonical
from carrel.vault.workspace import Workspace


@get("", guards=[guard.session], opt=scopes.READ)
async def list_models(
    registry: Registry,
    workspace: Workspace,
    recent: RecentLists,
    of_keys: Annotated[bool, Query(description="Also those that the other stored keys open.")] = False,
) -> Models:
    """Every built-in model, and those of the user's own servers.

    With `of_keys`, every provider with a stored key is asked for its list too. One that does not answer within two
    seconds adds nothing.
    """
    await prices.ready()
    found = await listing.found(registry, recent, workspace, of_keys=of_keys)
    return workspace.read(listing.everything, registry, found)


@get("/endings", guards=[guard.session], opt=scopes.READ)
async def list_endings(
    registry: Registry,
    workspace: Workspace,
    model: Annotated[list[str], Query(description="`provider:name`, as often as there are models.")],
) -> ModelEndings:
    """Which of these models are switched off within 60 days, or were."""
    return workspace.read(listing.ending, registry, [canonical(one) for one in model])


@get("/{model:path}", guards=[guard.session], opt=scopes.READ)
async def read_model(
    model: Annotated[str, Path(reads=canonical, description="`provider:name`; the name may hold slashes.")],
    registry: Registry,
    workspace: Workspace,
) -> Model:
    """One model by its full name. A provider may know any name; only a call can tell."""
    await prices.ready()
    return workspace.read(listing.get, registry, model.removeprefix("/"))


router = Router("/models", route_handlers=[list_models, list_endings, read_model], tags=["Models"])
