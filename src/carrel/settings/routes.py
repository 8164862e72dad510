"""`/settings` (specification, section 4.2): one object, read and replaced."""

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.http.answers.etag import IfMatch, etag
from carrel.http.answers.response import Response
from carrel.http.requests.describe import versioned
from carrel.http.requests.routing import Router, get, put
from carrel.providers.registry import Registry
from carrel.settings import store
from carrel.settings.schemas import UserSettings
from carrel.vault.workspace import Workspace


@get("", guards=[guard.session], opt=scopes.READ | versioned())
async def read_settings(workspace: Workspace) -> Response[UserSettings]:
    """The user's settings; the defaults as long as none were saved."""
    settings, version = workspace.read(store.get)
    return Response(settings, etag=etag(version))


@put("", guards=[guard.session], opt=scopes.WRITE | versioned())
async def replace_settings(
    data: UserSettings,
    workspace: Workspace,
    registry: Registry,
    if_match: IfMatch,
) -> Response[UserSettings]:
    """Replace them all; what is left out goes back to its default."""
    settings, version = await workspace.write(store.put, data, if_match, registry)
    return Response(settings, etag=etag(version))


router = Router("/settings", route_handlers=[read_settings, replace_settings], tags=["Settings"])
