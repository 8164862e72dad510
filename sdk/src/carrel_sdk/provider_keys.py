"""The user's own keys for model providers. The service returns only the last four characters of a key."""

from collections.abc import Iterator

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.transport import segment


class LastTest(msgspec.Struct, frozen=True):
    """The outcome of the last test call."""

    ok: bool
    at: str


class ProviderKey(msgspec.Struct, frozen=True, kw_only=True):
    """A stored key as it is shown."""

    provider: str
    hint: str
    created_at: str
    updated_at: str
    base_url: str | None = None
    last_test: LastTest | None = None


class KeyTest(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one real, free call with the key."""

    ok: bool
    latency_ms: int | None = None
    models: list[str] = msgspec.field(default_factory=list)
    code: str | None = None


class ProviderKeys:
    """The routes under `/provider-keys`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def store(self, provider: str, key: str, *, base_url: str | None = None) -> ProviderKey:
        """Store a key, replacing an earlier one of the same provider."""
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
