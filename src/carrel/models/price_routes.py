"""`/model-prices`: what the user says that models cost."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.http.answers.etag import IfMatch, etag
from carrel.http.answers.response import Response
from carrel.http.requests.describe import raises, versioned
from carrel.http.requests.routing import Path, Router, delete, get, put
from carrel.models.schemas import ModelPrices
from carrel.providers import own_prices
from carrel.providers.own_prices import ModelPrice, ModelPriceIn, TooManyPrices
from carrel.providers.registry import canonical
from carrel.vault.workspace import Workspace

PricedModel = Annotated[
    str,
    Path(reads=canonical, description="`provider:name`, or a provider for all its models whose price is not known."),
]


@get("", guards=[guard.session], opt=scopes.READ)
async def list_model_prices(workspace: Workspace) -> ModelPrices:
    """Every price that you have set, by model."""
    return ModelPrices(workspace.read(own_prices.listed))


@put("/{model:path}", guards=[guard.session], opt=scopes.WRITE | raises(TooManyPrices) | versioned())
async def replace_model_price(
    model: PricedModel,
    data: ModelPriceIn,
    workspace: Workspace,
    if_match: IfMatch,
) -> Response[ModelPrice]:
    """Say what a model costs with your own key. Calls that begin from now on cost this; credits never do."""
    price, version = await workspace.write(own_prices.put, model.removeprefix("/"), data, if_match)
    return Response(price, etag=etag(version))


@delete("/{model:path}", guards=[guard.session], opt=scopes.WRITE)
async def delete_model_price(model: PricedModel, workspace: Workspace, if_match: IfMatch) -> None:
    """Remove a price that you have set. Calls that were made keep their costs."""
    await workspace.write(own_prices.delete, model.removeprefix("/"), if_match)


router = Router(
    "/model-prices",
    route_handlers=[list_model_prices, replace_model_price, delete_model_price],
    tags=["Models"],
)
