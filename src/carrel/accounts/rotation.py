"""The rotation of the service key, while the service is stopped.

`service.db` and every account are sealed with keys derived from the service key, and every folder is named by it. Each
step is one rename of a file or a folder, or one transaction; a later call finds out how far the last one came. So a
kill at any moment loses nothing, and the two keys together open everything.
"""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from carrel.accounts import deletions, issuance, roster
from carrel.accounts.accounts import Accounts
from carrel.accounts.service import MIGRATIONS, ServiceDatabaseMissing, ServiceKeyRejected
from carrel.accounts.slots import NOBODY, file_key, folder_of, former_decoy
from carrel.kit.clock import Clock
from carrel.kit.ids import NewId
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, Damaged, KeyRejected, Missing, transaction, translated
from carrel.kit.sqlite.migrate import migrate

_NEW: Final = ".rotated"
_BESIDE: Final = ("-wal", "-shm", "-journal", "")
_FOLDER: Final = re.compile(r"[0-9a-f]{32}")


class UsersUnknown(Exception):
    """There are folders of users whose uuids the service does not know, `count` of them. Nothing was changed."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


class Rotation:
    """From `old` to `new`, both service keys. The caller has locked `data`."""

    def __init__(self, data: Path, old: bytes, new: bytes, *, clock: Clock, new_id: NewId) -> None:
        self._data = data
        self._old = old
        self._new = new
        self._clock = clock
        self._new_id = new_id
        self._service = data / "service.db"

    def check(self, named: Iterable[str] = ()) -> None:
        """Whether a rotation from the old key could begin.

        Raises:
            UsersUnknown, ServiceDatabaseMissing, ServiceKeyRejected: it could not.
        """
        with translated():
            connection, _ = self._open_service()
            try:
                migrate(connection, MIGRATIONS)
                self._folders(connection, named)
            finally:
                database.close(connection)

    def run(self, named: Iterable[str] = (), on_user: Callable[[int, int], None] = lambda _done, _of: None) -> int:
        """Rotate, or finish a rotation that was interrupted. Return the number of users; 0 if there was nothing to do.

        `named` are uuids that the service may not know. `on_user` hears how many users are done, and of how many.
        Afterwards every session from before is over.

        Raises:
            UsersUnknown: nothing was changed.
            ServiceDatabaseMissing, ServiceKeyRejected: neither key is the one of this folder; nothing was changed.
            Damaged, DiskFull, Unavailable: call it again when that is mended.
        """
        with translated():
            uuids = self._begin(named)
            if uuids is None:
                return 0
            self._reseal(self._service, file_key(self._old, "service"), file_key(self._new, "service"))
            for number, uuid in enumerate(uuids, 1):
                self._move(uuid)
                on_user(number, len(uuids))
            self._end(uuids)
        return len(uuids)

    def _begin(self, named: Iterable[str]) -> list[str] | None:
        """The users; `None` if no rotation is under way and the new key is in force."""
        connection, is_new = self._open_service()
        try:
            migrate(connection, MIGRATIONS)
            if not roster.is_rotating(connection):
                if is_new:
                    return None
                self._mark(connection, named)
            return roster.uuids(connection)
        finally:
            database.close(connection)

    def _open_service(self) -> tuple[Connection, bool]:
        if not self._service.exists():
            raise ServiceDatabaseMissing
        for key in (self._new, self._old):
            with suppress(KeyRejected):
                return self._connect(self._service, file_key(key, "service")), key is self._new
        raise ServiceKeyRejected

    def _folders(self, connection: Connection, named: Iterable[str]) -> dict[str, str]:
        """The folders that are there, and whose they are."""
        known = {self._owner(self._old, uuid): uuid for uuid in (*roster.uuids(connection), *named)}
        known[former_decoy(self._old)] = NOBODY
        there = {
            f"{folder.parent.name}/{folder.name}"
            for folder in self._data.glob("slots/[0-9][0-9][0-9][0-9]/*")
            if _FOLDER.fullmatch(folder.name)
        }
        unknown = there - known.keys() - set(deletions.unfinished(connection))
        if unknown:
            raise UsersUnknown(len(unknown))
        return {owner: known[owner] for owner in there & known.keys()}

    def _mark(self, connection: Connection, named: Iterable[str]) -> None:
        self._folders(connection, named)
        accounts = Accounts(self._data, self._old, clock=self._clock, new_id=self._new_id)
        accounts.close()
        for owner in deletions.unfinished(connection):
            accounts.remove(owner)
            with transaction(connection):
                deletions.finish(connection, owner)
        accounts.remove_decoy()
        folders = self._folders(connection, named)
        with transaction(connection):
            for owner, uuid in folders.items():
                roster.add(connection, owner, uuid)
            # The records of deletions go by the old names. What they revoke is over with every other session.
            issuance.end_all(connection)
            deletions.forget_all(connection)
            roster.begin_rotation(connection)

    def _move(self, uuid: str) -> None:
        """Seal one account with the new key, then give the folder its new name."""
        before, after = folder_of(self._data, self._old, uuid), folder_of(self._data, self._new, uuid)
        if not before.exists():
            # It was moved before an interruption, or the user's creation never got so far as a folder.
            return
        with suppress(Missing):
            self._reseal(
                before / "account.db", file_key(self._old, "account", uuid), file_key(self._new, "account", uuid)
            )
        before.rename(after)
        database.sync_folder(after.parent)

    def _end(self, uuids: list[str]) -> None:
        connection = self._connect(self._service, file_key(self._new, "service"))
        try:
            with transaction(connection):
                for uuid in uuids:
                    roster.rename(connection, self._owner(self._old, uuid), self._owner(self._new, uuid))
                roster.end_rotation(connection)
        finally:
            database.close(connection)

    def _owner(self, key: bytes, uuid: str) -> str:
        folder = folder_of(self._data, key, uuid)
        return f"{folder.parent.name}/{folder.name}"

    def _reseal(self, path: Path, old_key: bytes, new_key: bytes) -> None:
        """Put a copy under the new key in the place of the file, unless it is one."""
        try:
            database.discard(self._connect(path, new_key))
        except KeyRejected:
            pass
        else:
            return
        new = path.with_name(path.name + _NEW)
        _sweep(new)
        try:
            source = self._connect(path, old_key)
        except KeyRejected:
            raise Damaged from None
        try:
            target = database.create(new, new_key, clock=self._clock, new_id=self._new_id)
            try:
                database.copy_under_another_key(source, target)
            finally:
                database.discard(target)
        finally:
            database.close(source)
        proof = self._connect(new, new_key)
        try:
            if proof.one("PRAGMA quick_check") != ("ok",):
                raise Damaged
        finally:
            database.close(proof)
        database.replace(path, new)
        _sweep(new)

    def _connect(self, path: Path, key: bytes) -> Connection:
        return database.connect(path, key, clock=self._clock, new_id=self._new_id, alone=True)


def _sweep(new: Path) -> None:
    """Remove what an interrupted copy left."""
    for suffix in _BESIDE:
        with suppress(FileNotFoundError):
            os.unlink(f"{new}{suffix}")
