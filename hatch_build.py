"""The build hook of the service's wheel: it adds the built browser app, which git ignores and `make app` builds."""

from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT_APP = Path("web", "dist")
INSIDE_THE_PACKAGE = Path("carrel", "browser_app")


class BrowserAppHook(BuildHookInterface[BuilderConfig]):
    """An editable install reads the app from `web/dist` itself and needs no copy."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name every file of the app and its place in the wheel."""
        if version == "editable":
            return
        folder = Path(self.root) / BUILT_APP
        files = [path for path in folder.rglob("*") if path.is_file()]
        names = {path: path.relative_to(folder) for path in files}
        shown = {path: name for path, name in names.items() if not name.parts[0].startswith(".")}
        if not shown:
            self.app.display_warning("web/dist is empty: this wheel holds no browser app (`make app` builds it)")
        build_data["force_include"] |= {str(path): str(INSIDE_THE_PACKAGE / name) for path, name in shown.items()}
