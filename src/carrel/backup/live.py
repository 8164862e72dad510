"""A backup of a running service. It copies one user after the other, all files of a user as of one moment.

A database and its write-ahead log belong together, and so do the two databases of a user: an account from before a call
and a workspace from after it would not charge the call. The service's own database comes last. So if a user is deleted
and created again meanwhile, it records that the deletion is complete.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, aclosing, suppress
from pathlib import Path
from typing import IO, Final, NamedTuple, Protocol

import msgspec

from carrel.accounts.accounts import Accounts
from carrel.accounts.service import ServiceDatabase
from carrel.backup.archive import SERVICE, BackupPart, Packing
from carrel.backup.refusals import BackupRefused
from carrel.errors import Conflict, Unavailable
from carrel.kit.clock import Clock
from carrel.kit.sqlite.database import translated
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import WorkspacePool
from carrel.vault.workspace import Workspace, WorkspaceClosed

MADE: Final = "last-backup"
"""An empty file of the data folder, as old as the last backup that was sent to its end."""
_IN_MEMORY_BYTES: Final = 1024 * 1024
_PIECE_BYTES: Final = 4 * 1024 * 1024
"""To send a piece takes 0.3 ms of the event loop, however long it is, besides what the kernel takes to copy it."""
_LATELY_NANOSECONDS: Final = 100_000_000
"""The kernel's time stamps are some milliseconds coarse: a file that was just changed may change in the same tick."""
REST_SECONDS: Final = 0.1
TRIES: Final = 600


class BackupInProgress(Conflict):
    """A backup is being made already, and two would only slow each other down."""

    code = "backup-in-progress"
    detail = "A backup is being made already; wait for its end."


class _Copy(NamedTuple):
    """The content of one file at one moment."""

    name: str
    file: IO[bytes]
    size: int


class Share(Protocol):
    """What a node of a cluster serves of all users."""

    def part(self) -> BackupPart:
        """The slots that it serves now."""

    def copy(self, slot: int) -> str | None:
        """The name of the copy that it serves now; `None` if it does not serve the slot."""


class LiveBackup:
    """Makes backups, one at a time. A backup is encrypted like the files themselves.

    A node copies only what it serves: a slot that it has released, or that is arriving, has its owner elsewhere.
    """

    def __init__(
        self,
        data: Path,
        service_key: bytes,
        accounts: Accounts,
        pool: WorkspacePool,
        service: ServiceDatabase,
        clock: Clock,
        share: Share | None = None,
    ) -> None:
        self._data = data
        self._service_key = service_key
        self._accounts = accounts
        self._pool = pool
        self._service = service
        self._clock = clock
        self._share = share
        self._under_way = False
        self._folders: dict[str, UserUuid] = {}

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The backup, in pieces of four to five megabytes; each user's last is shorter.

        Raises:
            BackupInProgress
            Unavailable: a user's files kept changing, or something cannot be read.
            DiskFull: there is no room for a copy.
        """
        if self._under_way:
            raise BackupInProgress
        self._under_way = True
        try:
            packing = Packing()
            part = None if self._share is None else self._share.part()
            for folder in await asyncio.to_thread(_folders, self._data):
                if part is not None and not self._serves(part, _slot(folder)):
                    part.slots.pop(_slot(folder), None)
                    continue
                async with aclosing(_sent(packing, await self._user(folder))) as sent:
                    async for piece in sent:
                        yield piece
            members = await self._service.run(lambda _: _copies(self._data, _with_log(SERVICE)))
            async with aclosing(_sent(packing, members)) as sent:
                async for piece in sent:
                    yield piece
            if part is not None:
                served = {slot: copy for slot, copy in part.slots.items() if self._serves(part, slot)}
                part = msgspec.structs.replace(part, slots=served)
            yield b"".join(packing.end(self._service_key, self._clock, part))
            (self._data / MADE).touch()
        finally:
            self._under_way = False
            self._folders.clear()

    def _serves(self, part: BackupPart, slot: int) -> bool:
        """Whether the node still serves the copy of the slot that it served when the backup began."""
        copy = part.slots.get(slot)
        return self._share is not None and copy is not None and self._share.copy(slot) == copy

    async def _user(self, folder: str) -> list[_Copy]:
        """A user's files; none if the user is being created or was deleted."""
        for _ in range(TRIES):
            copies = await asyncio.to_thread(self._at_rest, folder)
            if copies is None:
                copies = await self._while_open(folder)
            if copies is not None:
                return copies
            # The workspace was being opened, closed or re-encrypted.
            await asyncio.sleep(REST_SECONDS)
        raise Unavailable

    def _at_rest(self, folder: str) -> list[_Copy] | None:
        """Copies of the files of a workspace that is not open; `None` if they changed meanwhile or just before."""
        files = [self._data / name for name in _with_log(f"{folder}/workspace.db")]
        with translated():
            before = [_mark(file) for file in files]
            # Not the service's clock, but the file system's, which may have been set back since.
            if any(mark is not None and abs(time.time_ns() - mark[2]) < _LATELY_NANOSECONDS for mark in before):
                return None
            copies = self._both(folder)
            if [_mark(file) for file in files] == before:
                return copies
        _close(copies)
        return None

    async def _while_open(self, folder: str) -> list[_Copy] | None:
        """Copies made by the writing thread, in a transaction: the files do not change meanwhile."""
        workspace = self._lease(folder)
        if workspace is None:
            return None
        try:
            with suppress(WorkspaceClosed):
                return await workspace.write(lambda _: self._both(folder))
        finally:
            self._pool.release(workspace)
        return None

    def _both(self, folder: str) -> list[_Copy]:
        """Copies of the workspace and then of the account, while the workspace does not change."""
        with ExitStack() as undo:
            workspace = _copies(self._data, _with_log(f"{folder}/workspace.db"))
            undo.callback(_close, workspace)
            with self._accounts.still():
                account = _copies(self._data, _with_log(f"{folder}/account.db"))
            if not account:
                return []
            undo.pop_all()
        return [*account, *workspace]

    def _lease(self, folder: str) -> Workspace | None:
        """The workspace in this folder, if it is open. A folder's name does not say whose it is."""
        if folder not in self._folders:
            known = frozenset(self._folders.values())
            new = (uuid for uuid in self._pool.opened if uuid not in known)
            self._folders |= {f"slots/{self._accounts.owner(uuid)}": uuid for uuid in new}
        uuid = self._folders.get(folder)
        return None if uuid is None else self._pool.try_lease(uuid)


async def _sent(packing: Packing, copies: list[_Copy]) -> AsyncGenerator[bytes, None]:
    pieces = _packed(packing, copies)
    try:
        while piece := await asyncio.to_thread(next, pieces, b""):
            yield piece
    except BackupRefused:
        raise Unavailable from None
    finally:
        _close(copies)


def _close(copies: list[_Copy]) -> None:
    for copy in copies:
        copy.file.close()


def _packed(packing: Packing, copies: list[_Copy]) -> Iterator[bytes]:
    waiting = bytearray()
    for copy in copies:
        with translated():
            for piece in packing.member(*copy):
                waiting += piece
                if len(waiting) >= _PIECE_BYTES:
                    yield bytes(waiting)
                    waiting.clear()
    yield bytes(waiting)


def _folders(data: Path) -> list[str]:
    """The users' folders, in order. Folders of users who are being deleted have other names, and marks are files."""
    below = (path for path in data.glob("slots/[0-9]*/*") if "." not in path.name and path.is_dir())
    return sorted(path.relative_to(data).as_posix() for path in below)


def _slot(folder: str) -> int:
    return int(folder.split("/")[1])


def _mark(path: Path) -> tuple[int, int, int] | None:
    with suppress(FileNotFoundError):
        found = os.stat(path)
        return found.st_ino, found.st_size, found.st_mtime_ns
    return None


def _with_log(name: str) -> tuple[str, str]:
    """A database and its write-ahead log."""
    return name, f"{name}-wal"


def _copies(data: Path, names: tuple[str, ...]) -> list[_Copy]:
    """Copies of those files that exist. Copies of long files are in the data folder, and encrypted like the files."""
    found: list[_Copy] = []
    with translated(), ExitStack() as undo:
        undo.callback(_close, found)
        for name in names:
            with suppress(FileNotFoundError), (data / name).open("rb") as original:
                copy = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=str(data))  # noqa: SIM115  # closed when it was sent
                found.append(_Copy(name, copy, _filled(copy, original)))
        undo.pop_all()
    return found


def _filled(copy: IO[bytes], original: IO[bytes]) -> int:
    try:
        shutil.copyfileobj(original, copy, _IN_MEMORY_BYTES)
        size = copy.tell()
        copy.seek(0)
    except OSError:
        copy.close()
        raise
    return size
