"""`/admin/system-keys` (specification, section 4.2), behind the admin secret."""

from carrel.accounts.service import ServiceDatabase
from carrel.auth import guard
from carrel.config import Settings
from carrel.http.answers.answer import Answer
from carrel.http.answers.etag import IfMatch, etag
from carrel.http.requests.describe import raises, versioned
from carrel.http.requests.routing import Router, delete, get, post
from carrel.kit.sqlite.paging import Page, Paging
from carrel.providers import keys
from carrel.providers.base_url import ProviderHostNotAllowed
from carrel.providers.keys import ProviderKey, ProviderKeyIn
from carrel.system_keys.held import SystemKeys


@post("", opt=raises(ProviderHostNotAllowed) | versioned())
async def store_system_key(
    data: ProviderKeyIn,
    settings: Settings,
    system_keys: SystemKeys,
) -> Answer[ProviderKey]:
    """Store a key, replacing an earlier one of the same provider."""
    key, version = await system_keys.change(keys.put, data, settings.provider_hosts)
    return Answer(key, etag=etag(version))


@get("")
async def list_system_keys(service: ServiceDatabase, paging: Paging) -> Page[ProviderKey]:
    """The stored keys, newest first; only their last four characters are shown."""
    return await service.run(keys.listed, paging)


@get("/{provider:str}", opt=versioned())
async def read_system_key(provider: str, service: ServiceDatabase) -> Answer[ProviderKey]:
    """One stored key."""
    key, version = await service.run(keys.get, provider)
    return Answer(key, etag=etag(version))


@delete("/{provider:str}")
async def delete_system_key(provider: str, if_match: IfMatch, system_keys: SystemKeys) -> None:
    """Remove a key."""
    await system_keys.change(keys.delete, provider, if_match)


router = Router(
    "/admin/system-keys",
    guards=[guard.admin],
    route_handlers=[store_system_key, list_system_keys, read_system_key, delete_system_key],
    tags=["Admin"],
)
