"""`carrel restore`: a backup becomes a data folder, here or on another machine."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import rich_click as click

from carrel.backup import archive
from carrel.cli.operating import data_dir_option, env_file_option, json_option, one_line, progress, settings_of, tell
from carrel.cli.refusal import refuse
from carrel.kit import database
from carrel.vault.data_folder import LOCK, DataFolder, FolderTaken


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@data_dir_option
@env_file_option
@json_option
def command(file: Path, data_dir: str | None, env_file: Path | None, as_json: bool) -> None:
    """Put a backup into a data folder that is new or empty; nothing that is there is ever replaced.

    The configuration must hold the service key of the backup. Nothing takes the folder's name before all is checked.
    """
    settings = settings_of(env_file, data_dir)
    data = settings.data_dir.absolute()
    if data.exists() and (not data.is_dir() or any(path.name != LOCK for path in data.iterdir())):
        refuse(f"{settings.data_dir} is not empty; move it away first")
    fresh = data.with_name(f".{data.name}.restoring.{os.getpid()}")
    with one_line(file, as_json=as_json), file.open("rb") as opened:
        fresh.mkdir(mode=0o700, parents=True)
        try:
            with progress("restoring", file.stat().st_size, as_json=as_json) as told:
                manifest = archive.unpack(opened, settings.service_key.reveal(), fresh, told)
            _take_name(fresh, data)
        finally:
            with suppress(OSError):
                shutil.rmtree(fresh)
    tell(manifest, file, lambda held: f"{settings.data_dir} holds {held}", as_json=as_json)


def _take_name(fresh: Path, data: Path) -> None:
    try:
        # No service may start in the folder while another takes its place.
        with DataFolder(data):
            (data / LOCK).unlink()
            # Whatever came into it meanwhile makes this fail.
            fresh.rename(data)
    except FolderTaken:
        refuse("a service runs in this folder")
    database.sync_folder(data.parent)
