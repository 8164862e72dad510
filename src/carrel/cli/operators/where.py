"""`carrel where`: which folder is a user's. Its name tells nobody who has not the service key."""

from pathlib import Path

import rich_click as click

from carrel.accounts.slots import folder_of, slot_of
from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import data_dir_option, env_file_option, json_option, settings_of
from carrel.cli.interface.printing import say


@click.command("where")
@click.argument("uuid")
@data_dir_option
@env_file_option
@json_option
def command(uuid: str, data_dir: str | None, env_file: Path | None, as_json: bool) -> None:
    """Print the folder of a user. The exit code is 4 if it is not there."""
    settings = settings_of(env_file, data_dir)
    folder = folder_of(settings.data_dir.absolute(), settings.service_key.reveal(), uuid)
    if as_json:
        terminal.print_json({"folder": str(folder), "slot": slot_of(uuid), "there": folder.is_dir()})
    else:
        say(str(folder))
    if not folder.is_dir():
        raise SystemExit(terminal.EXIT_NOT_FOUND)
