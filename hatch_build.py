"""The build hook of the service's wheel: it adds the built browser app, and the guides.

Git ignores the app, which `make app` builds; `carrel demo` works on the guides.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT_APP = Path("web", "dist")
INSIDE_THE_PACKAGE = Path("carrel", "browser_app")
GUIDES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/user-guide/*.md")


class BrowserAppHook(BuildHookInterface[BuilderConfig]):
    """An editable install reads the app from `web/dist` itself and needs no copy."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name every file of the app, every guide, and their places in the wheel."""
        if version == "editable":
            return
        folder = Path(self.root) / BUILT_APP
        files = [path for path in folder.rglob("*") if path.is_file()]
        names = {path: path.relative_to(folder) for path in files}
        shown = {path: name for path, name in names.items() if not name.parts[0].startswith(".")}
        if not shown:
            self.app.display_warning("web/dist is empty: this wheel holds no browser app (`make app` builds it)")
        build_data["force_include"] |= {str(path): str(INSIDE_THE_PACKAGE / name) for path, name in shown.items()}
        guides = [path for pattern in GUIDES for path in Path(self.root).glob(pattern)]
        build_data["force_include"] |= {
            str(path): str(Path("carrel", "guides", path.relative_to(self.root))) for path in guides
        }
