"""`/rate-limits`: how fast each provider may be called for this user."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.http.answers.etag import IfMatch, etag
from carrel.http.answers.response import Response
from carrel.http.requests.describe import versioned
from carrel.http.requests.routing import Path, Router, delete, get, put
from carrel.keys import store as keys
from carrel.providers.registry import canonical
from carrel.rate_limits import store
from carrel.rate_limits.limiter import Limiter
from carrel.rate_limits.schemas import RateLimit, RateLimitIn, RateLimits
from carrel.rate_limits.store import DEFAULTS
from carrel.vault.workspace import Workspace

Provider = Annotated[str, Path(reads=canonical)]


@get("", guards=[guard.session], opt=scopes.READ)
async def list_rate_limits(workspace: Workspace, limiter: Limiter) -> RateLimits:
    """The limits of every provider and of the user's own servers, and how much of them is left."""
    providers = {*DEFAULTS, *workspace.read(keys.stored), *workspace.read(store.own)}
    return RateLimits([limiter.shown(workspace.uuid, provider) for provider in sorted(providers)])


@put("/{provider:str}", guards=[guard.session], opt=scopes.WRITE | versioned())
async def replace_rate_limit(
    provider: Provider,
    data: RateLimitIn,
    workspace: Workspace,
    limiter: Limiter,
    if_match: IfMatch,
) -> Response[RateLimit]:
    """Set a provider's limits. They apply immediately, also to runs in progress."""
    version = await workspace.write(store.put, provider, data, if_match)
    limiter.learn(workspace.uuid, workspace.read(store.own))
    return Response(limiter.shown(workspace.uuid, provider), etag=etag(version))


@delete("/{provider:str}", guards=[guard.session], opt=scopes.WRITE)
async def reset_rate_limit(
    provider: Provider,
    workspace: Workspace,
    limiter: Limiter,
    if_match: IfMatch,
) -> None:
    """Go back to the defaults."""
    await workspace.write(store.delete, provider, if_match)
    limiter.learn(workspace.uuid, workspace.read(store.own))


router = Router(
    "/rate-limits", route_handlers=[list_rate_limits, replace_rate_limit, reset_rate_limit], tags=["Rate limits"]
)
