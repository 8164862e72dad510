"""`carrel rotate-service-key`: another service key for the data folder of a stopped service."""

import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

import rich_click as click
from dotenv.main import dotenv_values
from rich.progress import MofNCompleteColumn

from carrel.accounts.rotation import Rotation, UsersUnknown
from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import data_dir_option, env_file_option, json_option, one_line, settings_of
from carrel.cli.interface.printing import say
from carrel.cli.interface.progress_bar import progress_bar
from carrel.cli.interface.refusal import refuse
from carrel.evaluation.words import counted
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.vault.data_folder import DataFolder, FolderTaken

_KEY: Final = "CARREL_SERVICE_KEY"
_OLD: Final = "CARREL_OLD_SERVICE_KEY"


@click.command("rotate-service-key")
@click.option(
    "--users",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File with one uuid a line, for users who have not signed in since an upgrade.",
)
@data_dir_option
@env_file_option
@json_option
def command(users: Path | None, data_dir: str | None, env_file: Path | None, as_json: bool) -> None:
    """Give the data folder another service key. The service must be stopped.

    The new key is made and put into the `.env` beside the old one, which is removed at the end. If the key comes from
    elsewhere, set CARREL_SERVICE_KEY to the new key and CARREL_OLD_SERVICE_KEY to the old one first. Killed at any
    moment, it goes on where it was when it is started again. Older backups still need the old key.
    """
    path = (env_file or Path(".env")).resolve()
    is_in_environment = bool(os.environ.get(_KEY))
    settings = settings_of(env_file, data_dir)
    if not settings.data_dir.is_dir():
        refuse(f"{settings.data_dir} is not there")
    clock = SystemClock()
    named = [line.strip() for line in users.read_text("utf-8").splitlines() if line.strip()] if users else []
    with one_line(settings.data_dir, as_json=as_json):
        try:
            with DataFolder(settings.data_dir):
                new_id = uuid7_factory(clock)
                old, new = settings.old_service_key, settings.service_key.reveal()
                if old is None:
                    Rotation(settings.data_dir, new, new, clock=clock, new_id=new_id).check(named)
                    fresh = None if is_in_environment else _prepare(path, new)
                    if fresh is None:
                        refuse(f"{_KEY} does not come from {path}: set it to the new key, and {_OLD} to the old one")
                    old, new = settings.service_key, fresh
                rotation = Rotation(settings.data_dir, old.reveal(), new, clock=clock, new_id=new_id)
                with progress_bar("accounts", None, MofNCompleteColumn(), as_json=as_json) as update:
                    count = rotation.run(named, lambda done, of: update(completed=done, total=of))
                is_removed = _change(path, lambda text: _without(text, _OLD))
        except FolderTaken:
            refuse("the service is running; stop it first")
        except UsersUnknown as error:
            terminal.end(
                terminal.EXIT_FAILED,
                f"users whose uuids are not known: {error.count}; list them with --users. Nothing was changed",
                as_json=as_json,
            )
    if as_json:
        terminal.print_json({"users": count})
        return
    accounts = counted(count, "account")
    say(f"{accounts} of users with the new service key. Keep a copy of it; old backups need the old one.")
    if not is_removed:
        say(f"Remove {_OLD} from the configuration now.")


def _prepare(path: Path, key: bytes) -> bytes | None:
    """Make a new key and put it into the configuration file, the present one beside it. `None` if it is not there."""
    if not path.is_file() or (dotenv_values(path, interpolate=False).get(_KEY) or "").lower() != key.hex():
        return None
    fresh = secrets.token_hex(32)
    _change(path, lambda text: _line(_KEY).sub(f"{_KEY}={fresh}\n{_OLD}={key.hex()}\n", text, count=1))
    return bytes.fromhex(fresh)


def _line(name: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*(?:export[ \t]+)?{name}[ \t]*=.*(?:\n|\Z)", re.MULTILINE)


def _without(text: str, name: str) -> str:
    return _line(name).sub("", text)


def _change(path: Path, change: Callable[[str], str]) -> bool:
    """Replace the file durably, with its mode and owner, if `change` changes its text. Whether it did."""
    if not path.is_file():
        return False
    before = path.read_text("utf-8")
    after = change(before)
    if after == before:
        return False
    fresh, state = path.with_name(f"{path.name}.new"), path.stat()
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(after)
        os.fchmod(file.fileno(), state.st_mode & 0o777)
        if (state.st_uid, state.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(file.fileno(), state.st_uid, state.st_gid)
        file.flush()
        os.fsync(file.fileno())
    fresh.rename(path)
    database.sync_folder(path.parent)
    return True
