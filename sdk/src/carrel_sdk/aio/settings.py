"""Written by `sdk/generate.py` from `carrel_sdk.settings`. Change that, and run it again."""

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.models import Settings


class AsyncSettingsRoutes:
    """The routes under `/settings`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def get(self) -> Settings:
        """The settings, or the defaults if none were saved."""
        return await self._calls.get("/settings", Settings)

    async def save(self, settings: Settings) -> Settings:
        """Replace them all.

        Raises:
            VersionMismatch: somebody else saved them since these were read.
        """
        written = {name: getattr(settings, name) for name in Settings.__struct_fields__ if name != "etag"}
        return await self._calls.put("/settings", Settings, written, if_match=settings.etag or None)
