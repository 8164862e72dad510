"""`carrel restore`: make a data folder from a backup, on this or another machine."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import rich_click as click

from carrel.backup import archive, cluster_backup, one_user
from carrel.backup.archive import BackupManifest
from carrel.backup.cluster_backup import ClusterManifest
from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import (
    data_dir_option,
    env_file_option,
    json_option,
    one_line,
    print_summary,
    progress,
    settings_of,
)
from carrel.cli.interface.printing import say
from carrel.cli.interface.refusal import refuse
from carrel.config import Settings
from carrel.kit import reserve
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.vault.data_folder import LOCK, DataFolder, FolderTaken

_FRESH: Final = ".restoring"
_NO_DATA: Final = frozenset({LOCK, reserve.NAME, _FRESH, "lost+found"})
"""What an empty folder may hold: a lock, room kept, the rest of a killed restore, and a folder of the file system."""


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--node", help="Of a backup of all nodes, only the slots that the map gives to this node.")
@click.option("--user", "uuid", help="Only this user's folder, into the data folder of a stopped service.")
@click.option("--replace", is_flag=True, help="With --user: the folder that is there is kept beside the restored one.")
@data_dir_option
@env_file_option
@json_option
def command(
    file: Path,
    node: str | None,
    uuid: str | None,
    replace: bool,
    data_dir: str | None,
    env_file: Path | None,
    as_json: bool,
) -> None:
    """Restore a backup into a new or empty data folder. Existing files are never replaced.

    The configuration must hold the service key of the backup. The whole backup is checked first. Every session from
    before ends.

    FILE is a folder if the backup is of all nodes of a cluster. With `--node` it is restored for one node of a cluster,
    which may have more or fewer nodes; without, for a service without a cluster. `--node` needs CARREL_ETCD.

    With `--user` only this user is put back, with the password and the credits of that time; all others stay.
    """
    if node is not None and file.exists() and not file.is_dir():
        refuse("--node: only with a backup of all nodes, which is a folder")
    settings = settings_of(env_file, data_dir)
    data, key = settings.data_dir.absolute(), settings.service_key.reveal()
    if uuid is not None:
        _restore_user(file, data, key, uuid, replace=replace, as_json=as_json)
        return
    if data.exists() and (not data.is_dir() or any(path.name not in _NO_DATA for path in data.iterdir())):
        refuse(f"{settings.data_dir} is not empty; move it away first")
    slots = cluster_backup.EVERY_SLOT if node is None else _slots(node, settings, as_json=as_json)
    clock = SystemClock()
    with one_line(file, as_json=as_json), _locked(data), _fresh_in(data) as fresh:
        manifest = _unpacked(file, key, fresh, slots, as_json=as_json)
        archive.end_sessions(fresh, key, clock, uuid7_factory(clock))
        sizes = None if node is None else [path.stat().st_size for path in fresh.rglob("*.db")]
        _take_place(fresh, data)
    print_summary(manifest, file, lambda held: f"{settings.data_dir} holds {held}", sizes=sizes, as_json=as_json)


def _restore_user(file: Path, data: Path, key: bytes, uuid: str, *, replace: bool, as_json: bool) -> None:
    if not (data / archive.SERVICE).is_file():
        refuse(f"--user: {data} is not the data folder of a service")
    owner, clock = one_user.owner_of(data, key, uuid), SystemClock()
    if (data / "slots" / owner).exists() and not replace:
        refuse(f"--user: the user has a folder, {data / 'slots' / owner}; say --replace to put another in its place")
    with one_line(file, as_json=as_json), _locked(data), _fresh_in(data) as fresh:
        _unpack_user(file, key, fresh, owner, as_json=as_json)
        if not (fresh / "slots" / owner / "account.db").is_file():
            terminal.end(terminal.EXIT_NOT_FOUND, f"{file}: has no such user", as_json=as_json)
        aside = one_user.put_back(fresh, data, key, uuid, clock=clock, new_id=uuid7_factory(clock))
    if as_json:
        terminal.print_json({"folder": str(data / "slots" / owner), "replaced": None if aside is None else str(aside)})
    else:
        say(f"{data / 'slots' / owner} is restored" + ("" if aside is None else f"; what was there is {aside}"))


def _unpack_user(file: Path, key: bytes, fresh: Path, owner: str, *, as_json: bool) -> None:
    if file.is_dir():
        _unpacked(file, key, fresh, frozenset({int(owner.partition("/")[0])}), as_json=as_json)
        return
    with file.open("rb") as opened, progress("restoring", file.stat().st_size, as_json=as_json) as on_progress:
        archive.unpack(opened, key, fresh, on_progress, lambda name: name.startswith(f"slots/{owner}/"))


def _unpacked(
    file: Path, key: bytes, fresh: Path, slots: frozenset[int], *, as_json: bool
) -> BackupManifest | ClusterManifest:
    if not file.is_dir():
        with file.open("rb") as opened, progress("restoring", file.stat().st_size, as_json=as_json) as on_progress:
            return archive.unpack(opened, key, fresh, on_progress)
    clock = SystemClock()
    with progress("restoring", cluster_backup.size_of(file), as_json=as_json) as on_progress:
        return cluster_backup.unpack(
            file, key, fresh, slots, clock=clock, new_id=uuid7_factory(clock), on_progress=on_progress
        )


def _slots(node: str, settings: Settings, *, as_json: bool) -> frozenset[int]:
    """The slots that the map gives to the node, none of which moves."""
    # Imported here: without a cluster nothing of it is loaded.
    from carrel.cli.interface.etcd import require_etcd, run
    from carrel.cluster import shares

    require_etcd(settings)
    with one_line(settings.data_dir, as_json=as_json):
        slots, is_moving = run(settings, lambda found: shares.slots_of(found, node), as_json=as_json)
    if is_moving:
        words = f"slots are moving from {node} or to it; carrel cluster abort stops them"
        terminal.end(terminal.EXIT_CONFLICT, words, as_json=as_json)
    return slots


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
