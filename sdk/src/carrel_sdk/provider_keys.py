"""The user's own keys for model providers. The service returns only the last four characters of a key."""

from collections.abc import Iterator

from carrel_sdk.calls import Calls
from carrel_sdk.models import KeyTest, ProviderKey
from carrel_sdk.transport import segment


class ProviderKeys:
    """The routes under `/provider-keys`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def store(self, provider: str, key: str, *, base_url: str | None = None) -> ProviderKey:
        """Store a key, replacing an earlier one of the same provider.

        With a `base_url`, `provider` may be any name for an OpenAI-compatible server of your own: `lan-vllm`.
        """
        body = {"provider": provider, "key": key} | ({} if base_url is None else {"base_url": base_url})
        return self._calls.post("/provider-keys", ProviderKey, body)

    def each(self) -> Iterator[ProviderKey]:
        """The stored keys, newest first."""
        return self._calls.each("/provider-keys", ProviderKey)

    def get(self, provider: str) -> ProviderKey:
        """One stored key."""
        return self._calls.get(f"/provider-keys/{segment(provider)}", ProviderKey)

    def delete(self, provider: str) -> None:
        """Remove a key."""
        self._calls.delete(f"/provider-keys/{segment(provider)}")

    def test(self, provider: str) -> KeyTest:
        """Make one real, free call with the key."""
        return self._calls.get(f"/provider-keys/test/{segment(provider)}", KeyTest)
