"""The two ways to make a workspace file: creation at the first login, and re-encryption at a rekey.

Both make the new file under another name, make it durable, prove that it opens, and only then rename it, so a crash at
any instant leaves either the state before or the state after.
"""

import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from carrel.kit.clock import Clock
from carrel.kit.ids import NewId
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import KEY_BYTES, Cipher, Connection, Damaged, translated
from carrel.kit.sqlite.migrate import is_current, migrate, refuse_newer
from carrel.vault.keyring import UserUuid

MIGRATIONS = "carrel.vault.migrations"
_NEW = ".new"
_BLANK = "-blank"
_BESIDE = (f"{_BLANK}-wal", f"{_BLANK}-shm", f"{_BLANK}-journal", _BLANK, "-wal", "-shm", "-journal", "")
"""The files that SQLite makes beside a database, and last the database itself: as long as it is there, others may be,
too."""
_OWNER = "SELECT uuid FROM user_meta"


class Format(NamedTuple):
    """How the service writes and reads all workspace files. `max_megabytes` limits one file."""

    clock: Clock
    new_id: NewId
    cipher: Cipher = "chacha20"
    max_megabytes: int = 2048
    migrations: str = MIGRATIONS


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
            # The key fits, but somebody moved this file here from another place.
            raise Damaged
        if not readonly:
            connection.run(f"PRAGMA max_page_count = {form.max_megabytes * 256}")
        undo.pop_all()
    return connection


def open_current(path: Path, open_connection: Callable[[bool], Connection], form: Format) -> Connection:
    """Open the reading connection of a workspace, after migrating it if necessary. Nobody else has the workspace open.

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


class Blank:
    """A workspace of nobody, without rows, from which new ones are copied: that takes a quarter of making one.

    It has a key that nobody knows, and its file has no name. Threads take turns.
    """

    def __init__(self, form: Format) -> None:
        self._form = form
        self._lock = threading.Lock()
        self._made: Connection | None = None

    def copy_into(self, target: Connection) -> None:
        """Fill a new, empty database. The first time, the blank is made, under another name beside it."""
        with self._lock:
            if self._made is None:
                self._made = self._make(Path(f"{target.filename}{_BLANK}"))
            database.copy_under_another_key(self._made, target)

    def _make(self, path: Path) -> Connection:
        form, key = self._form, secrets.token_bytes(KEY_BYTES)
        path.unlink(missing_ok=True)
        try:
            connection = database.create(path, key, clock=form.clock, new_id=form.new_id, cipher=form.cipher)
            with ExitStack() as undo:
                undo.callback(database.discard, connection)
                migrate(connection, form.migrations)
                undo.pop_all()
            database.complete(connection)
            return database.connect(
                path, key, clock=form.clock, new_id=form.new_id, cipher=form.cipher, readonly=True, alone=True
            )
        finally:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Give it up."""
        with self._lock:
            if self._made is not None:
                database.discard(self._made)
            self._made = None


def create(path: Path, key: bytes | bytearray, uuid: UserUuid, form: Format, blank: Blank | None = None) -> None:
    """Make the user's workspace unless it exists, because an earlier first login may have died right after making it.

    A copy of `blank`, if there is one, is made sooner.

    Raises:
        DiskFull, Unavailable: nothing was made.
    """
    if path.exists():
        return
    with translated(), _new_beside(path) as new:
        connection = database.create(new, key, clock=form.clock, new_id=form.new_id, cipher=form.cipher)
        with ExitStack() as undo:
            undo.callback(database.discard, connection)
            if blank is None:
                migrate(connection, form.migrations)
            else:
                blank.copy_into(connection)
            connection.run("INSERT INTO user_meta (uuid, created_at) VALUES (?, ?)", uuid, connection.now())
            undo.pop_all()
        database.complete(connection)
        database.discard(open_workspace(new, key, uuid, form, readonly=True))
        database.sync_file(new)
        new.rename(path)
        database.sync_folder(path.parent)


def rekey(
    path: Path,
    old_key: bytes | bytearray,
    new_key: bytes | bytearray,
    uuid: UserUuid,
    form: Format,
    before: Callable[[], None],
) -> None:
    """Re-encrypt the workspace. The caller has closed every other connection to it.

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
        database.replace(path, new, before=before)


def _copy(
    path: Path, old_key: bytes | bytearray, new: Path, new_key: bytes | bytearray, uuid: UserUuid, form: Format
) -> None:
    source = open_workspace(path, old_key, uuid, form, readonly=False)
    try:
        refuse_newer(source, form.migrations)
        target = database.create(new, new_key, clock=form.clock, new_id=form.new_id, cipher=form.cipher)
        try:
            database.copy_under_another_key(source, target)
        finally:
            database.discard(target)
    finally:
        database.close(source)


@contextmanager
def _new_beside(path: Path) -> Iterator[Path]:
    """The name of the file that will replace `path`; afterwards nothing is left of it."""
    sweep(path)
    try:
        yield path.with_name(path.name + _NEW)
    finally:
        with suppress(OSError):
            # If a file cannot be removed now, the next opening removes it.
            sweep(path)


def sweep(path: Path) -> None:
    """Remove the files that an interrupted creation or rekey left beside `path`."""
    for suffix in _BESIDE:
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{_NEW}{suffix}")
