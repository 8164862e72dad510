"""A disk that fails on demand: below the encryption for SQLite, and for the calls by which files change their names.

Every change of the disk is counted, so that a test can let each one fail in turn.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Literal
from unittest.mock import patch

import apsw

from carrel.kit.sqlite import database

Trouble = Literal["full", "broken", "unreadable"]
"""What the disk answers: no space left, an input/output error at a change, or one at a read."""

_NAME = "failing"
_KEYED = f"multipleciphers-{_NAME}"
_BENEATH = "unix-excl"
_SYSTEM_CALLS = ("fsync", "rename", "link")
_FSYNC = os.fsync


@dataclass
class Disk:
    """Counts changes, or reads if these are the trouble; the `fail_at`-th (from 1) is answered with `trouble`.

    So is every later one if the trouble is there `for_good`.
    """

    trouble: Trouble = "full"
    fail_at: int | None = None
    for_good: bool = False
    changes: int = field(default=0, init=False)

    def heal(self) -> None:
        """From now on nothing fails."""
        self.fail_at = None

    def fails(self) -> bool:
        """Whether the change that is about to happen fails."""
        self.changes += 1
        if self.fail_at is None:
            return False
        return self.changes >= self.fail_at if self.for_good else self.changes == self.fail_at


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__(_BENEATH, name, flags)
        self._disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  # SQLite's name
        if self._disk.trouble != "unreadable" and self._disk.fails():
            # What was under way when space ran out may be on the disk in part.
            super().xWrite(data[: len(data) // 2], offset)
            raise _error(self._disk, apsw.SQLITE_IOERR_WRITE)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802  # SQLite's name
        if self._disk.trouble == "broken" and self._disk.fails():
            raise _error(self._disk, apsw.SQLITE_IOERR_FSYNC)
        # Not passed on: no power is cut here, and waiting for a real disk is most of the time such a test takes.

    def xTruncate(self, size: int) -> None:  # noqa: N802  # SQLite's name
        if self._disk.trouble == "broken" and self._disk.fails():
            raise _error(self._disk, apsw.SQLITE_IOERR_TRUNCATE)
        super().xTruncate(size)


class _UnreadableFile(_File):
    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802  # SQLite's name
        if self._disk.fails():
            raise _error(self._disk, apsw.SQLITE_IOERR_READ)
        return super().xRead(amount, offset)


class _Vfs(apsw.VFS):
    def __init__(self) -> None:
        self.disk = Disk()
        super().__init__(_NAME, _BENEATH)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  # SQLite's
        kind = _UnreadableFile if self.disk.trouble == "unreadable" else _File
        return kind(self.disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802  # SQLite's name
        if self.disk.trouble == "broken" and self.disk.fails():
            raise _error(self.disk, apsw.SQLITE_IOERR_DELETE)
        super().xDelete(filename, syncdir)


def _error(disk: Disk, code: int) -> Exception:
    return apsw.exception_for(apsw.SQLITE_FULL if disk.trouble == "full" else code)


@contextmanager
def failing(disk: Disk, *further_calls: str) -> Iterator[Disk]:
    """Every database that is opened in the block is on `disk`; `further_calls` of `os` are counted and fail as well."""
    vfs = _vfs()
    vfs.disk = disk
    try:
        with ExitStack() as patches:
            for name in (*_SYSTEM_CALLS, *further_calls):
                patches.enter_context(patch.object(os, name, _counted(disk, getattr(os, name))))
            patches.enter_context(patch.object(database, "VFS", _KEYED))
            yield disk
    finally:
        vfs.disk = Disk()


@cache
def _vfs() -> _Vfs:
    vfs = _Vfs()
    # The engine makes the encrypting layer over a VFS when it is first named; it refers to the VFS for ever.
    apsw.Connection(":memory:", vfs=_KEYED).close()
    return vfs


def _counted(disk: Disk, call: Callable[..., None]) -> Callable[..., None]:
    def counted(*args: object, **kwargs: object) -> None:
        if disk.trouble != "unreadable" and disk.fails():
            raise OSError(errno.ENOSPC if disk.trouble == "full" else errno.EIO, "the disk failed")
        if call is not _FSYNC:
            call(*args, **kwargs)

    return counted


def every_failure(work: Callable[[Disk], None], *, limit: int = 2_000) -> int:
    """Run `work` once undisturbed, then once for each change it makes, each trouble, once and for good; the runs."""
    runs = 0
    for trouble in ("full", "broken"):
        undisturbed = Disk(trouble)
        work(undisturbed)
        assert 0 < undisturbed.changes < limit
        for for_good in (False, True):
            for fail_at in range(1, undisturbed.changes + 1):
                work(Disk(trouble, fail_at, for_good))
                runs += 1
    return runs
