"""`carrel backup`: the data folder of a stopped service as one file."""

import os
from pathlib import Path

import rich_click as click

from carrel.backup import archive
from carrel.cli.interface.data_folder import (
    data_dir_option,
    env_file_option,
    json_option,
    one_line,
    print_summary,
    progress,
    settings_of,
)
from carrel.cli.interface.refusal import refuse
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.vault.data_folder import DataFolder, FolderTaken


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@data_dir_option
@env_file_option
@json_option
def command(file: Path, data_dir: str | None, env_file: Path | None, as_json: bool) -> None:
    """Copy everything that the service keeps into one FILE, which must not exist yet.

    The service must be stopped. The file is encrypted like the originals, and is checked after it is written.
    """
    settings = settings_of(env_file, data_dir)
    data, key = settings.data_dir, settings.service_key.reveal()
    if not data.is_dir():
        refuse(f"{data} is not there")
    if file.exists():
        refuse(f"{file} is there already; it was left as it is")
    clock = SystemClock()
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    with one_line(file, as_json=as_json):
        try:
            with DataFolder(data):
                descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "w+b") as out:
                    with progress("copying", archive.size_of(data), as_json=as_json) as on_progress:
                        archive.pack(data, key, out, clock, uuid7_factory(clock), on_progress)
                    out.flush()
                    os.fsync(out.fileno())
                    out.seek(0)
                    with progress("checking", os.fstat(out.fileno()).st_size, as_json=as_json) as on_progress:
                        manifest = archive.check(out, key, on_progress)
                fresh.rename(file)
                database.sync_folder(file.absolute().parent)
        except FolderTaken:
            refuse("the service is running, or another backup; stop it first, or use carrel admin backup")
        finally:
            fresh.unlink(missing_ok=True)
    print_summary(manifest, file, lambda held: f"{file} holds {held}", as_json=as_json)
