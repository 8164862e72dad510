"""Tests a stored key with one real call that costs nothing."""

import msgspec

from carrel.providers.base import Access, ProviderError
from carrel.providers.keys import KeyNotFound
from carrel.providers.registry import Registry


class KeyTest(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one call with the key: the models that it may call, or the code of the error."""

    ok: bool
    latency_ms: int | None = None
    models: list[str] = []
    code: str | None = None


async def probe(registry: Registry, provider: str, access: Access | None) -> KeyTest:
    """Ask the provider which models the key may call.

    Raises:
        KeyNotFound: there is no key.
    """
    remote = registry.remote(provider)
    if remote is None or access is None:
        raise KeyNotFound
    try:
        offer = await remote.offered(access)
    except ProviderError as error:
        return KeyTest(ok=False, code=error.code)
    return KeyTest(ok=True, latency_ms=offer.latency_ms, models=list(offer.models))
