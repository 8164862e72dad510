"""Written by `sdk/generate.py` from `carrel_sdk.provider_keys`. Change that, and run it again."""

from collections.abc import AsyncIterator

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.models import KeyTest, ProviderKey
from carrel_sdk.transport import segment


class AsyncProviderKeys:
    """The routes under `/provider-keys`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def store(self, provider: str, key: str, *, base_url: str | None = None) -> ProviderKey:
        """Store a key, replacing an earlier one of the same provider.

        With a `base_url`, `provider` may be any name for an OpenAI-compatible server of your own: `lan-vllm`.
        """
        body = {"provider": provider, "key": key} | ({} if base_url is None else {"base_url": base_url})
        return await self._calls.post("/provider-keys", ProviderKey, body)

    def each(self) -> AsyncIterator[ProviderKey]:
        """The stored keys, newest first."""
        return self._calls.each("/provider-keys", ProviderKey)

    async def get(self, provider: str) -> ProviderKey:
        """One stored key."""
        return await self._calls.get(f"/provider-keys/{segment(provider)}", ProviderKey)

    async def delete(self, provider: str) -> None:
        """Remove a key."""
        await self._calls.delete(f"/provider-keys/{segment(provider)}")

    async def test(self, provider: str) -> KeyTest:
        """Make one real, free call with the key."""
        return await self._calls.get(f"/provider-keys/test/{segment(provider)}", KeyTest)
