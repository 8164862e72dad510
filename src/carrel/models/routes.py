"""`/models`: what candidates and judges can be made of."""

from typing import Annotated

from litestar import Router, get
from litestar.di import NamedDependency
from litestar.params import PathParameter

from carrel.auth import guard
from carrel.models import listing
from carrel.models.schemas import Model, Models
from carrel.providers.registry import Registry


@get("", guards=[guard.session])
async def list_models(registry: NamedDependency[Registry]) -> Models:
    """Every model that can be called now."""
    return listing.everything(registry)


@get("/{model:path}", guards=[guard.session])
async def read_model(
    model: Annotated[str, PathParameter(description="`provider:name`; the name may hold slashes.")],
    registry: NamedDependency[Registry],
) -> Model:
    """One model by its full name."""
    return listing.get(registry, model.removeprefix("/"))


router = Router("/models", route_handlers=[list_models, read_model], tags=["Models"])
