"""What can be known about a service before it starts: each rule says what it found, in words without a secret."""

import os
import platform
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

import apsw
import msgspec
from dotenv.main import dotenv_values

from carrel import __version__, config
from carrel.accounts import audit, issuance, roster
from carrel.accounts.audit import AuditBroken
from carrel.accounts.service import MIGRATIONS
from carrel.accounts.slots import file_key
from carrel.backup.live import MADE
from carrel.config import PREFIX, SECRETS_DIR, ConfigError, Settings
from carrel.errors import CarrelError
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.processes import private_memory
from carrel.kit.reserve import RESERVE_BYTES
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, KeyRejected
from carrel.kit.sqlite.migrate import latest

State = Literal["good", "look", "bad"]
_SHARE: Final = 0.1
"""Less than this of a disk should make the operator look."""
_AHEAD_SECONDS: Final = 120.0
"""Tokens may be issued some seconds ahead of the clock; more means that the clock went back."""
_DAYS: Final = 86_400.0
_OLD_DAYS: Final = 2.0
_OTHERS: Final = 0o077
_LEAST_LOCKED_BYTES: Final = 64 * 1024


class Finding(msgspec.Struct, frozen=True):
    """`look`: it works, and the operator should know."""

    what: str
    state: State
    words: str


def everything(env_file: Path, read: Callable[[], Settings]) -> Iterator[Finding]:
    """All that can be known on this machine; `read` loads the settings."""
    yield from of_process()
    yield from of_names(env_file)
    try:
        settings = read()
    except ConfigError as error:
        yield Finding("configuration", "bad", str(error))
        return
    yield from of_settings(settings, env_file)
    yield from of_folder(settings)


def of_process() -> Iterator[Finding]:
    """Versions, and whether others of the account can read the memory of the service."""
    engine = f"Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}"
    yield Finding("version", "good", f"Carrel {__version__}, {engine}")
    if private_memory.is_open_at_start():
        words = "other processes of the account can read the memory while it starts: let the account run the file of"
        yield Finding("memory", "look", f"{words} Python without reading it, or set kernel.yama.ptrace_scope to 1")
    else:
        yield Finding("memory", "good", "no other process of the account can read the memory of the service")
    _, most = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if os.geteuid() and most != resource.RLIM_INFINITY and most < _LEAST_LOCKED_BYTES:
        yield Finding("memory", "bad", f"only {most:,} bytes of memory for keys may be locked: raise memlock")


def of_names(env_file: Path) -> Iterator[Finding]:
    """Names that begin as settings do and mean nothing; those that `config.load` refuses are left to it."""
    names = (*os.environ, *dotenv_values(env_file, interpolate=False))
    for name, nearest in config.unknown(names).items():
        if nearest is None:
            yield Finding("configuration", "look", f"{name}: is not a setting")


def of_settings(settings: Settings, env_file: Path) -> Iterator[Finding]:
    """What follows from the settings, and who can read the files that hold secrets."""
    yield Finding("configuration", "good", "can be used")
    if settings.admin_secret is None:
        words = "CARREL_ADMIN_SECRET is not set: no backup of the running service, and no list of its users"
        yield Finding("secrets", "look", words)
    if settings.old_service_key is not None:
        yield Finding("secrets", "look", "CARREL_OLD_SERVICE_KEY is set: remove it after the rotation")
    if len(settings.plugin_secret) > 1:
        yield Finding("secrets", "look", "two plugin secrets are accepted: remove the old one after the rotation")
    folder = os.environ.get(SECRETS_DIR)
    files = [env_file, *(sorted(Path(folder).glob(f"{PREFIX}*")) if folder else ())]
    for file in files:
        if file.is_file() and file.stat().st_mode & 0o007:
            yield Finding("secrets", "bad", f"{file} can be read by every account of this machine: chmod 0600")


def of_folder(settings: Settings) -> Iterator[Finding]:
    """The data folder: who may use it, its disk, its key, its clock, its backups."""
    folder = settings.data_dir.absolute()
    if not folder.is_dir():
        parent = next(path for path in folder.parents if path.is_dir())
        state: State = "good" if os.access(parent, os.W_OK) else "bad"
        then = "the first start makes it" if state == "good" else "this account cannot make it"
        yield Finding("data", state, f"{folder} is not there; {then}")
        return
    try:
        found = folder.stat()
        if found.st_mode & _OTHERS:
            yield Finding("data", "look", f"{folder} is open to other accounts; the next start closes it")
        if found.st_uid != os.geteuid() and os.geteuid():
            yield Finding("data", "bad", f"{folder} is another account's")
    except OSError:
        yield Finding("data", "bad", f"{folder} cannot be looked at")
        return
    yield from _of_disk(folder)
    yield from _of_service_database(folder, settings)
    yield _of_backup(folder)


def seconds_off(date: str | None) -> float | None:
    """How far our clock is ahead of the `Date` of an answer; None if it has none."""
    try:
        return time.time() - parsedate_to_datetime(date).timestamp() if date else None
    except ValueError:
        return None


def _of_disk(folder: Path) -> Iterator[Finding]:
    disk = shutil.disk_usage(folder)
    words = f"{disk.free / 1e9:,.1f} of {disk.total / 1e9:,.1f} GB free"
    if disk.free < RESERVE_BYTES:
        yield Finding("disk", "bad", f"{words}: the service does not start")
    else:
        yield Finding("disk", "look" if disk.free < _SHARE * disk.total else "good", words)


@contextmanager
def service_database(folder: Path, service_key: bytes) -> Iterator[Connection]:
    """What `service.db` holds now, from a copy: opening it could leave files beside it that are another account's.

    Raises:
        KeyRejected: the key is another one.
        CarrelError: it cannot be read, perhaps because it is being written.
    """
    clock = SystemClock()
    with TemporaryDirectory() as scratch, database.translated():
        for path in folder.glob("service.db*"):
            shutil.copyfile(path, Path(scratch, path.name))
        connection = database.connect(
            Path(scratch, "service.db"),
            file_key(service_key, "service"),
            clock=clock,
            new_id=uuid7_factory(clock),
            readonly=True,
        )
        try:
            yield connection
        finally:
            database.discard(connection)


def _of_service_database(folder: Path, settings: Settings) -> Iterator[Finding]:
    if not (folder / "service.db").is_file():
        yield Finding("data", "good", f"{folder} holds no users yet")
        return
    try:
        with service_database(folder, settings.service_key.reveal()) as connection:
            yield from _of_rows(connection, folder)
    except KeyRejected:
        yield Finding("secrets", "bad", "CARREL_SERVICE_KEY is not the key that this data folder was sealed with")
    except AuditBroken as error:
        yield Finding("audit", "bad", str(error))
    except (CarrelError, apsw.Error):
        yield Finding("data", "look", "service.db could not be read just now")


def _of_rows(connection: Connection, folder: Path) -> Iterator[Finding]:
    version, ours = int(connection.value("PRAGMA user_version")), latest(MIGRATIONS)
    if version > ours:
        yield Finding("version", "bad", "a newer version wrote this data folder; this one does not start with it")
        return
    if version < ours:
        words = "an earlier version wrote this data folder; the next start migrates it: make a backup before"
        yield Finding("version", "look", words)
        return
    if roster.is_rotating(connection):
        yield Finding("secrets", "bad", "a rotation of the service key is unfinished: carrel rotate-service-key")
    yield Finding("data", "good", f"{folder} opens with the service key")
    count, _ = audit.verify(connection, folder)
    yield Finding("audit", "good", f"every entry is as it was written: {count:,} in all")
    behind = issuance.latest(connection) - connection.clock.now()
    if behind > _AHEAD_SECONDS:
        yield Finding("clock", "bad", f"the clock is {behind:,.0f} s behind what it was: users would be signed out")
    else:
        yield Finding("clock", "good", "not behind what it was when the service last wrote")


def _of_backup(folder: Path) -> Finding:
    try:
        days = (time.time() - (folder / MADE).stat().st_mtime) / _DAYS
    except OSError:
        return Finding("backup", "look", "none was ever made of the running service: carrel admin backup FILE")
    return Finding("backup", "look" if days > _OLD_DAYS else "good", f"the last one is {days:,.1f} days old")
