"""`carrel restore`: make a data folder from a backup, on this or another machine."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

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
from carrel.vault.data_folder import LOCK, DataFolder, FolderTaken

_FRESH: Final = ".restoring"
_NO_DATA: Final = frozenset({LOCK, _FRESH, "lost+found"})
"""What an empty folder may hold: a lock, the rest of a restore that was killed, and a folder of the file system."""


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@data_dir_option
@env_file_option
@json_option
def command(file: Path, data_dir: str | None, env_file: Path | None, as_json: bool) -> None:
    """Restore a backup into a new or empty data folder. Existing files are never replaced.

    The configuration must hold the service key of the backup. The whole backup is checked first. Every session from
    before ends.
    """
    settings = settings_of(env_file, data_dir)
    data, key = settings.data_dir.absolute(), settings.service_key.reveal()
    if data.exists() and (not data.is_dir() or any(path.name not in _NO_DATA for path in data.iterdir())):
        refuse(f"{settings.data_dir} is not empty; move it away first")
    clock = SystemClock()
    with one_line(file, as_json=as_json), file.open("rb") as opened, _locked(data), _fresh_in(data) as fresh:
        with progress("restoring", file.stat().st_size, as_json=as_json) as on_progress:
            manifest = archive.unpack(opened, key, fresh, on_progress)
        archive.end_sessions(fresh, key, clock, uuid7_factory(clock))
        _take_place(fresh, data)
    print_summary(manifest, file, lambda held: f"{settings.data_dir} holds {held}", as_json=as_json)


@contextmanager
def _locked(data: Path) -> Iterator[None]:
    """Keep a service from starting in the folder. If nothing is restored, the folder stays as it was."""
    there, locked = data.exists(), (data / LOCK).exists()
    try:
        with DataFolder(data):
            try:
                yield
            finally:
                if not (data / archive.SERVICE).exists():
                    if not locked:
                        (data / LOCK).unlink()
                    if not there:
                        data.rmdir()
    except FolderTaken:
        refuse("a service runs in this folder")


@contextmanager
def _fresh_in(data: Path) -> Iterator[Path]:
    """A new folder inside the data folder, because that may be a separate disk."""
    fresh = data / _FRESH
    if fresh.exists():
        shutil.rmtree(fresh)
    fresh.mkdir(mode=0o700)
    try:
        yield fresh
    finally:
        with suppress(OSError):
            shutil.rmtree(fresh)


def _take_place(fresh: Path, data: Path) -> None:
    """Move the files to their places, the service's own database last: no service starts with users but without it."""
    for path in sorted(fresh.iterdir(), key=lambda path: (path.name == archive.SERVICE, path.name)):
        path.rename(data / path.name)
        database.sync_folder(data)
