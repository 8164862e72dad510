"""Every way in which a workspace file comes into being: creation at the first login, re-encryption at a rekey.

Both make the new file under another name, make it durable, prove that it opens, and only then rename it, so a crash at
any instant leaves either the state before or the state after.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from carrel.errors import Unavailable
from carrel.kit.clock import Clock
from carrel.kit.ids import NewId
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Cipher, Connection, Damaged, translated
from carrel.kit.sqlite.migrate import is_current, migrate, refuse_newer
from carrel.vault.keyring import UserUuid

_BACKUP_PAGES = 1024
_NEW = ".new"
_BESIDE = ("-wal", "-shm", "-journal", "")
"""What SQLite makes beside a file, and last the file itself: while it is there, there may be more to remove."""
_OWNER = "SELECT uuid FROM user_meta"


class Format(NamedTuple):
    """How workspace files are written and read, the same for all of them. `max_megabytes` bounds one file."""

    clock: Clock
    new_id: NewId
    cipher: Cipher = "chacha20"
    max_megabytes: int = 2048
    migrations: str = "carrel.vault.migrations"


def open_workspace(path: Path, key: bytes | bytearray, uuid: UserUuid, form: Format, *, readonly: bool) -> Connection:
    """A further connection to an existing workspace; reading `user_meta` proves the key (specification, section 5.4).

    Raises:
        KeyRejected, Missing, Damaged: the file is untouched.
    """
    with translated(), ExitStack() as undo:
        try:
            connection = database.connect(
                path,
                key,
                clock=form.clock,
                new_id=form.new_id,
                cipher=form.cipher,
                proof=_OWNER,
                readonly=readonly,
            )
        except apsw.SQLError:
            # The key fits, but this is no workspace.
            raise Damaged from None
        undo.callback(database.discard, connection)
        if connection.one(_OWNER) != (uuid,):
            # The key fits a file that was put here from somewhere else.
            raise Damaged
        if not readonly:
            connection.run(f"PRAGMA max_page_count = {form.max_megabytes * 256}")
        undo.pop_all()
    return connection


def open_current(path: Path, open_connection: Callable[[bool], Connection], form: Format) -> Connection:
    """The reading connection of a workspace that is up to date, migrated if it was not. Nobody else has it open.

    Raises:
        NewerDatabase: the file is untouched.
        KeyRejected, Missing, Damaged: likewise.
    """
    with translated():
        if os.path.exists(f"{path}{_NEW}"):
            sweep(path)
        with ExitStack() as undo:
            reader = open_connection(True)
            undo.callback(database.discard, reader)
            if is_current(reader, form.migrations):
                undo.pop_all()
                return reader
        writer = open_connection(False)
        try:
            migrate(writer, form.migrations)
        finally:
            database.close(writer)
        return open_connection(True)


def create(path: Path, key: bytes | bytearray, uuid: UserUuid, form: Format) -> None:
    """Make the user's workspace unless it is there: an earlier first login may have died after making it.

    Raises:
        DiskFull, Unavailable: nothing was made.
    """
    if path.exists():
        return
    with translated(), _new_beside(path) as new:
        connection = database.create(new, key, clock=form.clock, new_id=form.new_id, cipher=form.cipher)
        with ExitStack() as undo:
            undo.callback(database.discard, connection)
            migrate(connection, form.migrations)
            connection.run("INSERT INTO user_meta (uuid, created_at) VALUES (?, ?)", uuid, connection.now())
            undo.pop_all()
        database.complete(connection)
        database.discard(open_workspace(new, key, uuid, form, readonly=True))
        database.sync_file(new)
        _publish(new, path)


def rekey(
    path: Path,
    old_key: bytes | bytearray,
    new_key: bytes | bytearray,
    uuid: UserUuid,
    form: Format,
    before: Callable[[], None],
) -> None:
    """Re-encrypt the workspace: every other connection to it is closed.

    `PRAGMA rekey` can lose both keys under SIGKILL, so a copy under the new key takes the old file's place. `before`
    runs when the copy is proven and durable, just before the rename.

    Raises:
        KeyRejected: `old_key` does not open it; nothing has changed.
        NewerDatabase, DiskFull: nothing has changed.
    """
    with translated(), _new_beside(path) as new:
        _copy(path, old_key, new, new_key, uuid, form)
        proof = open_workspace(new, new_key, uuid, form, readonly=True)
        try:
            if proof.one("PRAGMA quick_check") != ("ok",):
                raise Damaged
        finally:
            database.discard(proof)
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            # An old log beside the new file would be replayed into it.
            raise Unavailable
        database.sync_file(new)
        before()
        _publish(new, path)


def _copy(
    path: Path, old_key: bytes | bytearray, new: Path, new_key: bytes | bytearray, uuid: UserUuid, form: Format
) -> None:
    source = open_workspace(path, old_key, uuid, form, readonly=False)
    try:
        refuse_newer(source, form.migrations)
        target = database.create(new, new_key, clock=form.clock, new_id=form.new_id, cipher=form.cipher)
        try:
            # The copy is worthless until it is complete, so it needs no journal of its own.
            target.execute("PRAGMA journal_mode = OFF").fetchall()
            with target.backup("main", source, "main") as backup:
                while not backup.done:
                    backup.step(_BACKUP_PAGES)
        finally:
            database.discard(target)
    finally:
        database.close(source)


def _publish(new: Path, path: Path) -> None:
    new.rename(path)
    database.sync_folder(path.parent)


@contextmanager
def _new_beside(path: Path) -> Iterator[Path]:
    """The name of the file that is to replace `path`; nothing is left of it afterwards."""
    sweep(path)
    try:
        yield path.with_name(path.name + _NEW)
    finally:
        with suppress(OSError):
            # What cannot be removed now is removed by the next opening.
            sweep(path)


def sweep(path: Path) -> None:
    """Remove what an interrupted creation or rekey left beside `path`."""
    for suffix in _BESIDE:
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{_NEW}{suffix}")
