"""The user's time zone, for features below the settings."""

from datetime import tzinfo
from zoneinfo import ZoneInfo

from carrel.settings import store
from carrel.vault.workspace import Workspace


def provide_timezone(workspace: Workspace) -> tzinfo:
    """What a day is."""
    settings, _ = workspace.read(store.get)
    return ZoneInfo(settings.timezone)
