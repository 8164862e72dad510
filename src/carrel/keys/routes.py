"""`/provider-keys`, and `/admin/system-keys` behind the admin secret (specification, section 4.2)."""

from typing import Annotated

from carrel.accounts.service import ServiceDatabase
from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.config import Settings
from carrel.http.answers.etag import IfMatch, etag
from carrel.http.answers.response import Response
from carrel.http.requests.auditing import AUDITED
from carrel.http.requests.describe import raises, versioned
from carrel.http.requests.routing import Path, Router, delete, get, post
from carrel.keys import probe
from carrel.keys import store as keys
from carrel.keys.probe import KeyTest, KeyTests, TooManyKeyTests
from carrel.keys.store import ProviderKey, ProviderKeyIn, TooManyProviderKeys
from carrel.keys.system_keys import SystemKeys
from carrel.kit.sqlite.paging import Page, Paging
from carrel.providers.base_url import ProviderHostNotAllowed
from carrel.providers.registry import Registry, canonical
from carrel.vault.workspace import Workspace

Provider = Annotated[str, Path(reads=canonical)]


@post("", guards=[guard.full], opt=scopes.PERSON | raises(ProviderHostNotAllowed, TooManyProviderKeys) | versioned())
async def store_provider_key(
    data: ProviderKeyIn,
    workspace: Workspace,
    settings: Settings,
    registry: Registry,
) -> Response[ProviderKey]:
    """Store a key, replacing an earlier one of the same provider."""
    key, version = await workspace.write(keys.put, data, settings.provider_hosts)
    remote = registry.remote(key.provider)
    if remote is not None:
        # Now, while nobody waits for an answer of a model.
        await remote.ready()
    return Response(key, etag=etag(version))


@get("", guards=[guard.session], opt=scopes.READ)
async def list_provider_keys(workspace: Workspace, paging: Paging) -> Page[ProviderKey]:
    """The stored keys, newest first; only their last four characters are shown."""
    return workspace.read(keys.listed, paging)


@get("/{provider:str}", guards=[guard.session], opt=scopes.READ | versioned())
async def read_provider_key(provider: Provider, workspace: Workspace) -> Response[ProviderKey]:
    """One stored key."""
    key, version = workspace.read(keys.get, provider)
    return Response(key, etag=etag(version))


@delete("/{provider:str}", guards=[guard.session], opt=scopes.PERSON)
async def delete_provider_key(provider: Provider, workspace: Workspace, if_match: IfMatch) -> None:
    """Remove a key."""
    await workspace.write(keys.delete, provider, if_match)


@get("/test/{provider:str}", guards=[guard.session], opt=scopes.READ | raises(TooManyKeyTests))
async def check_provider_key(
    provider: Provider,
    workspace: Workspace,
    registry: Registry,
    key_tests: KeyTests,
) -> KeyTest:
    """Make one real, free call with the key: ask the provider for its list of models."""
    _, version = workspace.read(keys.get, provider)
    key_tests.admit(workspace.uuid)
    outcome = await probe.probe(registry, provider, workspace.read(keys.access, provider))
    await workspace.write(keys.tested, provider, version, ok=outcome.ok)
    return outcome


router = Router(
    "/provider-keys",
    route_handlers=[
        store_provider_key,
        list_provider_keys,
        read_provider_key,
        delete_provider_key,
        check_provider_key,
    ],
    tags=["Provider keys"],
)


@post("", opt=raises(ProviderHostNotAllowed, TooManyProviderKeys) | versioned() | AUDITED)
async def store_system_key(
    data: ProviderKeyIn,
    settings: Settings,
    system_keys: SystemKeys,
) -> Response[ProviderKey]:
    """Store a key, replacing an earlier one of the same provider."""
    key, version = await system_keys.change(keys.put, data, settings.provider_hosts)
    return Response(key, etag=etag(version))


@get("")
async def list_system_keys(service: ServiceDatabase, paging: Paging) -> Page[ProviderKey]:
    """The stored keys, newest first; only their last four characters are shown."""
    return await service.run(keys.listed, paging)


@get("/{provider:str}", opt=versioned())
async def read_system_key(provider: Provider, service: ServiceDatabase) -> Response[ProviderKey]:
    """One stored key."""
    key, version = await service.run(keys.get, provider)
    return Response(key, etag=etag(version))


@delete("/{provider:str}", opt=AUDITED)
async def delete_system_key(provider: Provider, if_match: IfMatch, system_keys: SystemKeys) -> None:
    """Remove a key."""
    await system_keys.change(keys.delete, provider, if_match)


system_router = Router(
    "/admin/system-keys",
    guards=[guard.admin],
    route_handlers=[store_system_key, list_system_keys, read_system_key, delete_system_key],
    tags=["Admin"],
)
