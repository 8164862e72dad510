"""How fast each provider may be called for the user."""

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.transport import segment


class RateLimit(msgspec.Struct, frozen=True, kw_only=True):
    """A provider's limits; `None` is no limit. `concurrency_now` is how many calls at once the provider accepts."""

    provider: str
    requests_per_minute: int | None
    tokens_per_minute: int | None
    concurrency: int
    is_default: bool
    concurrency_now: int
    in_flight: int
    wait_seconds: float


class _Listed(msgspec.Struct, frozen=True):
    items: list[RateLimit]


class RateLimits:
    """The routes under `/rate-limits`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(self) -> list[RateLimit]:
        """Every provider, by name."""
        return self._calls.get("/rate-limits", _Listed).items

    def set(
        self,
        provider: str,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        concurrency: int = 64,
    ) -> RateLimit:
        """Set a provider's limits. They apply at once."""
        body = {
            "requests_per_minute": requests_per_minute,
            "tokens_per_minute": tokens_per_minute,
            "concurrency": concurrency,
        }
        return self._calls.put(f"/rate-limits/{segment(provider)}", RateLimit, body)

    def reset(self, provider: str) -> None:
        """Go back to the defaults."""
        self._calls.delete(f"/rate-limits/{segment(provider)}")
