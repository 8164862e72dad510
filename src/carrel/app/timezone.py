"""The user's time zone, for features below the settings."""

from datetime import tzinfo
from zoneinfo import ZoneInfo

from litestar.di import NamedDependency

from carrel.settings import store
from carrel.vault.workspace import Workspace


def provide_timezone(workspace: NamedDependency[Workspace]) -> tzinfo:
    """What a day is."""
    settings, _ = workspace.read(store.get)
    return ZoneInfo(settings.timezone)
