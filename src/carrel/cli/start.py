"""`carrel start`: the service for one person, with a small website in front of it, on this machine alone."""

import os
import sys
import webbrowser
from pathlib import Path

import rich_click as click

from carrel.cli.interface.refusal import refuse
from carrel.cli.serving import built_app


@click.command("start")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="Where everything is kept.")
@click.option("--app", type=click.Path(path_type=Path, file_okay=False), hidden=True, help="The built browser app.")
@click.option("--browser/--no-browser", default=True, help="Whether to open the website in your browser.")
@click.option("--end-with-parent", is_flag=True, hidden=True, help="End when the program that started it is killed.")
def command(folder: Path | None, app: Path | None, browser: bool, end_with_parent: bool) -> None:
    """Start Carrel for yourself: the service and a small website, until Ctrl-C. Sign up there with any address.

    Everything is kept in one folder, by default `carrel` in XDG_DATA_HOME or in ~/.local/share.
    """
    try:
        # Imported here: who only serves needs no website.
        from carrel_website import start
    except ModuleNotFoundError as error:
        refuse(f"this command needs what requirements-demo.lock names, and {error.name} is not installed")
    if end_with_parent:
        start.end_with_parent()
    kept = folder or Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share", "carrel")
    built = app or built_app.folder() or kept / "no-app"
    try:
        start.run(start.Paths(kept.resolve(), built.resolve()), _open if browser and _has_screen() else None)
    except start.StartFailed as failed:
        refuse(str(failed), 1)


def _has_screen() -> bool:
    """Whether there is a browser with windows. One in the terminal would take it from the website's messages."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open(address: str) -> None:
    webbrowser.open(address)
