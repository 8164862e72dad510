"""One user's folder out of a backup, into a data folder whose service is stopped. Nobody else is touched."""

from pathlib import Path

from carrel.accounts import accounts as account_rows
from carrel.accounts import deletions, issuance, program_keys, roster
from carrel.accounts.accounts import Account, Accounts
from carrel.accounts.service import MIGRATIONS
from carrel.accounts.slots import file_key, folder_of
from carrel.backup.archive import SERVICE
from carrel.kit.clock import Clock
from carrel.kit.ids import NewId
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.migrate import migrate

_AHEAD_SECONDS = 90
"""As far ahead of the clock as a process that crashed may have issued tokens."""


def owner_of(data: Path, service_key: bytes, uuid: str) -> str:
    """The user's folder below `slots`."""
    return folder_of(data, service_key, uuid).relative_to(data / "slots").as_posix()


def put_back(fresh: Path, data: Path, service_key: bytes, uuid: str, *, clock: Clock, new_id: NewId) -> Path | None:
    """Move the user's folder from `fresh` to its place. What was there is kept beside it; the path of that, if any.

    Sessions and program keys from before are over: the backup does not know which of them had ended. The service knows
    the user again, also if the user was deleted since. Killed at any moment, it can be done again.

    Raises:
        NewerDatabase: a newer program made the backup.
        Damaged, DiskFull, Unavailable: nothing was moved.
    """
    owner = owner_of(data, service_key, uuid)
    with database.translated():
        connection = database.connect(data / SERVICE, file_key(service_key, "service"), clock=clock, new_id=new_id)
        try:
            migrate(connection, MIGRATIONS)
            beyond = max(int(clock.now()), issuance.latest(connection), deletions.valid_from(connection, owner))
            accounts = Accounts(fresh, service_key, clock=clock, new_id=new_id)
            accounts.run_here(uuid, lambda conn: _end_sessions(conn, beyond + _AHEAD_SECONDS))
            accounts.close()
            with database.transaction(connection):
                roster.add(connection, owner, uuid)
                deletions.take_back(connection, owner)
        finally:
            database.close(connection)
        place = data / "slots" / owner
        aside = place.with_name(f"{place.name}.{new_id()}.replaced") if place.exists() else None
        if aside is not None:
            place.rename(aside)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        (fresh / "slots" / owner).rename(place)
        database.sync_folder(place.parent)
    return aside


def _end_sessions(conn: Connection, valid_from: int) -> Account:
    program_keys.end_all(conn, "user")
    return account_rows.raise_valid_from(conn, valid_from)
