"""The user's settings: one object, read and replaced."""

from typing import Literal

import msgspec

from carrel_sdk.calls import Calls


class Settings(msgspec.Struct, kw_only=True):
    """The settings. Change them and pass them to `SettingsRoutes.save`."""

    theme: Literal["system", "light", "dark"] = "system"
    density: Literal["comfortable", "compact"] = "comfortable"
    locale: str = "en"
    timezone: str = "UTC"
    default_candidates: list[str] = msgspec.field(default_factory=list)
    default_judges: list[str] = msgspec.field(default_factory=list)
    resume_after_restart: bool = True
    retention_days: int | None = None
    etag: str = ""


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
