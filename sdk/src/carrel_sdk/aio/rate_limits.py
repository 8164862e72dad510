"""Written by `sdk/generate.py` from `carrel_sdk.rate_limits`. Change that, and run it again."""

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.models import RateLimit, RateLimitList
from carrel_sdk.transport import segment


class AsyncRateLimits:
    """The routes under `/rate-limits`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def list(self) -> list[RateLimit]:
        """Every provider, by name."""
        return (await self._calls.get("/rate-limits", RateLimitList)).items

    async def set(
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
        return await self._calls.put(f"/rate-limits/{segment(provider)}", RateLimit, body)

    async def reset(self, provider: str) -> None:
        """Go back to the defaults."""
        await self._calls.delete(f"/rate-limits/{segment(provider)}")
