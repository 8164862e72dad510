"""How fast each provider may be called for the user."""

from carrel_sdk.calls import Calls
from carrel_sdk.models import RateLimit, RateLimitList
from carrel_sdk.transport import segment


class RateLimits:
    """The routes under `/rate-limits`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(self) -> list[RateLimit]:
        """Every provider, by name."""
        return self._calls.get("/rate-limits", RateLimitList).items

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
