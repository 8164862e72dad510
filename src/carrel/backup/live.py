"""A backup of a service that runs: the files of one user after the other, each as they were at one moment.

A database and its log belong together, and so do the two of a user. The account is copied first: what it holds back for
calls whose end the workspace knows already is settled when the workspace is opened again, as after a crash.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, aclosing, suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

from carrel.accounts.accounts import Accounts
from carrel.accounts.service import ServiceDatabase
from carrel.backup.archive import SERVICE, BackupRefused, Packing
from carrel.errors import Conflict, Unavailable
from carrel.kit.clock import Clock
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import WorkspacePool
from carrel.vault.workspace import Workspace

_IN_MEMORY_BYTES: Final = 1024 * 1024
_PIECE_BYTES: Final = 1024 * 1024
_LATELY_NANOSECONDS: Final = 100_000_000
"""The kernel marks files in ticks of some milliseconds: what was changed in this one may change in it again."""
_REST_SECONDS: Final = 0.1
_TRIES: Final = 600


class BackupInProgress(Conflict):
    """One is being made; two would only be in each other's way."""

    code = "backup-in-progress"
    detail = "A backup is being made already; wait for its end."


class _Copy(NamedTuple):
    """What one file was at one moment."""

    name: str
    file: IO[bytes]
    size: int


class LiveBackup:
    """Makes backups, one at a time. What they consist of is as encrypted as the files themselves."""

    def __init__(
        self,
        data: Path,
        service_key: bytes,
        accounts: Accounts,
        pool: WorkspacePool,
        service: ServiceDatabase,
        clock: Clock,
    ) -> None:
        self._data = data
        self._service_key = service_key
        self._accounts = accounts
        self._pool = pool
        self._service = service
        self._clock = clock
        self._under_way = False
        self._folders: dict[str, UserUuid] = {}

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The file, in pieces of a megabyte or so.

        Raises:
            BackupInProgress
            Unavailable: a user's files did not come to rest.
        """
        if self._under_way:
            raise BackupInProgress
        self._under_way = True
        try:
            packing = Packing()
            members = await self._service.run(lambda _: _copies(self._data, (SERVICE, f"{SERVICE}-wal")))
            async with aclosing(_sent(packing, members)) as sent:
                async for piece in sent:
                    yield piece
            for folder in await asyncio.to_thread(_folders, self._data):
                async with aclosing(_sent(packing, await self._user(folder))) as sent:
                    async for piece in sent:
                        yield piece
            yield b"".join(packing.end(self._service_key, self._clock))
        finally:
            self._under_way = False
            self._folders.clear()

    async def _user(self, folder: str) -> list[_Copy]:
        """A user's files; none if the user is being made or has gone."""
        account = await asyncio.to_thread(self._account, folder)
        with ExitStack() as undo:
            undo.callback(_close, account)
            workspace = await self._workspace(folder) if account else []
            undo.callback(_close, workspace)
            if (self._data / folder / "account.db").exists():
                undo.pop_all()
                return [*account, *workspace]
        return []

    def _account(self, folder: str) -> list[_Copy]:
        with self._accounts.still():
            return _copies(self._data, (f"{folder}/account.db", f"{folder}/account.db-wal"))

    async def _workspace(self, folder: str) -> list[_Copy]:
        names = (f"{folder}/workspace.db", f"{folder}/workspace.db-wal")
        for _ in range(_TRIES):
            copies = await asyncio.to_thread(_at_rest, self._data, names)
            if copies is None:
                copies = await self._while_open(folder, names)
            if copies is not None:
                return copies
            # Opened, closed or re-encrypted at this moment.
            await asyncio.sleep(_REST_SECONDS)
        raise Unavailable

    async def _while_open(self, folder: str, names: tuple[str, str]) -> list[_Copy] | None:
        """Copied by the one who writes, in a transaction: nothing is written or moved from the log meanwhile."""
        workspace = self._lease(folder)
        if workspace is None:
            return None
        try:
            with suppress(Unavailable):
                return await workspace.write(lambda _: _copies(self._data, names))
        finally:
            self._pool.give_back(workspace)
        return None

    def _lease(self, folder: str) -> Workspace | None:
        """The workspace in this folder, if it is open. Folders do not tell whose they are."""
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
        for piece in packing.member(*copy):
            waiting += piece
            if len(waiting) >= _PIECE_BYTES:
                yield bytes(waiting)
                waiting.clear()
    yield bytes(waiting)


def _folders(data: Path) -> list[str]:
    """The users' folders, in order; those of users who are being deleted have other names."""
    below = (path.relative_to(data).as_posix() for path in data.glob("slots/[0-9]*/*") if "." not in path.name)
    return sorted(below)


def _at_rest(data: Path, names: tuple[str, str]) -> list[_Copy] | None:
    """Copies of files that nobody has open; `None` if they changed meanwhile or just before."""
    before = [_mark(data / name) for name in names]
    # Not the service's clock, but the one by which files are marked.
    if any(mark is not None and time.time_ns() - mark[2] < _LATELY_NANOSECONDS for mark in before):
        return None
    copies = _copies(data, names)
    if [_mark(data / name) for name in names] == before:
        return copies
    _close(copies)
    return None


def _mark(path: Path) -> tuple[int, int, int] | None:
    with suppress(FileNotFoundError):
        found = os.stat(path)
        return found.st_ino, found.st_size, found.st_mtime_ns
    return None


def _copies(data: Path, names: tuple[str, ...]) -> list[_Copy]:
    """What is there of these files. Long ones are copied within the data folder, as encrypted as they are there."""
    found = []
    for name in names:
        with suppress(FileNotFoundError), (data / name).open("rb") as original:
            copy = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=str(data))  # noqa: SIM115  # closed when it was sent
            shutil.copyfileobj(original, copy, _PIECE_BYTES)
            size = copy.tell()
            copy.seek(0)
            found.append(_Copy(name, copy, size))
    return found
