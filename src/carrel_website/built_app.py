"""The browser app as `npm run build` left it: one script with a fixed name, which loads the other files."""

from pathlib import Path
from typing import Final

from litestar.datastructures import CacheControlHeader
from litestar.router import Router
from litestar.static_files import create_static_files_router

APP_PATH: Final = "/app"
_SCRIPT: Final = "carrel.js"


class BuiltApp:
    """The folder of the built app. It may be missing, and may be filled while the website runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def script(self) -> str | None:
        """The address of the script; None if the app was not built."""
        return f"{APP_PATH}/{_SCRIPT}" if (self.folder / _SCRIPT).is_file() else None

    def routes(self) -> list[Router]:
        """The routes of the files, which are the same for every user."""
        # The script keeps its name from build to build, so a browser has to ask whether it is still the same.
        fresh = CacheControlHeader(no_cache=True)
        return [create_static_files_router(APP_PATH, [self.folder], name="app", cache_control=fresh)]
