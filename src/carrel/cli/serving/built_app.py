"""Where the built browser app is."""

from pathlib import Path

_PLACES = (Path(__file__).parents[2] / "browser_app", Path(__file__).parents[4] / "web" / "dist")
"""In an installed package, or where `make app` builds it in the repository."""


def folder() -> Path | None:
    """The folder of the built browser app, if there is one."""
    return next(filter(Path.is_dir, _PLACES), None)
