"""The user's settings: one object, read and replaced."""

from carrel_sdk.calls import Calls
from carrel_sdk.models import Settings


class SettingsRoutes:
    """The routes under `/settings`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def get(self) -> Settings:
        """The settings, or the defaults if none were saved."""
        return self._calls.get("/settings", Settings)

    def save(self, settings: Settings) -> Settings:
        """Replace them all.

        Raises:
            VersionMismatch: somebody else saved them since these were read.
        """
        written = {name: getattr(settings, name) for name in Settings.__struct_fields__ if name != "etag"}
        return self._calls.put("/settings", Settings, written, if_match=settings.etag or None)
