"""The files of a slot on their way from one disk to another: only what has changed since the last time.

On the wire each file is a line of JSON and then its bytes; the last line lists the files that there are.
"""

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import msgspec

from carrel.accounts import slot_rows
from carrel.kit.sqlite.database import translated

_FILE: Final = re.compile(rf"{re.escape(slot_rows.FILE)}|[0-9a-f]{{32}}/(account|workspace)\.db(-wal)?")
_PIECE_BYTES: Final = 1024 * 1024
_LATELY_NANOSECONDS: Final = 1_000_000_000
"""A file that was changed so lately may change again without a new time stamp, which is some milliseconds coarse."""

Stamp = tuple[int, int]
"""The size of a file, and when it was changed, in nanoseconds; 0 says that it has to be copied again."""


class _Head(msgspec.Struct, omit_defaults=True):
    """What stands before the bytes of a file, or at the end."""

    path: str = ""
    size: int = 0
    changed: int = 0
    files: list[str] | None = None


class CopyResult(NamedTuple):
    """What the target has after a copy, and how many bytes came."""

    files: dict[str, Stamp]
    bytes: int


class CopyBroken(Exception):
    """What came is no copy, or ended in the middle."""


class CopySource(Protocol):
    """Where a copy comes from: as much of a stream as is needed."""

    async def readline(self) -> bytes:
        """A line, with its end."""
        ...

    async def readexactly(self, n: int) -> bytes:
        """So many bytes."""
        ...


async def sent(folder: Path, have: Mapping[str, Stamp]) -> AsyncIterator[bytes]:
    """The files of a slot that are not what the target has, in pieces of about a megabyte; without the last line."""
    pieces = _pieces(folder, have)
    while piece := await asyncio.to_thread(next, pieces, b""):
        yield piece


def ending(folder: Path) -> bytes:
    """The last line."""
    return _line(_Head(files=sorted(_listed(folder))))


def _pieces(folder: Path, have: Mapping[str, Stamp]) -> Iterator[bytes]:
    waiting = bytearray()
    for path, stamp in sorted(_listed(folder).items()):
        if have.get(path) == stamp:
            continue
        # A user who was deleted a moment ago.
        with suppress(FileNotFoundError), _opened(folder / path) as descriptor:
            found = os.fstat(descriptor)
            is_late = abs(time.time_ns() - found.st_mtime_ns) < _LATELY_NANOSECONDS
            waiting += _line(_Head(path, found.st_size, 0 if is_late else found.st_mtime_ns))
            left = found.st_size
            while left:
                # What was cut off meanwhile is copied again later.
                piece = os.read(descriptor, min(left, _PIECE_BYTES)) or bytes(min(left, _PIECE_BYTES))
                left -= len(piece)
                waiting += piece
                if len(waiting) >= _PIECE_BYTES:
                    yield bytes(waiting)
                    waiting.clear()
    yield bytes(waiting)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _listed(folder: Path) -> dict[str, Stamp]:
    found: dict[str, Stamp] = {}
    for parent in (folder, *(entry for entry in folder.iterdir() if entry.is_dir())):
        for entry in os.scandir(parent):
            path = os.path.relpath(entry.path, folder)
            if _FILE.fullmatch(path):
                with suppress(FileNotFoundError):
                    stat = entry.stat()
                    found[path] = (stat.st_size, stat.st_mtime_ns)
    return found


def _line(head: _Head) -> bytes:
    return msgspec.json.encode(head) + b"\n"


async def received(source: CopySource, folder: Path, have: Mapping[str, Stamp]) -> CopyResult:
    """Write what comes into the folder of the slot, and remove what is gone. Nothing is durable yet.

    Raises:
        CopyBroken
        DiskFull, Unavailable: the disk does not take it.
    """
    files, count = dict(have), 0
    writing = _Writing(folder)
    while True:
        head = await _head(source)
        if head.files is not None:
            await writing.flush()
            await asyncio.to_thread(_keep_only, folder, head.files)
            return CopyResult({path: files[path] for path in head.files if path in files}, count)
        left, offset = head.size, 0
        while left or not offset:
            piece = await source.readexactly(min(left, _PIECE_BYTES))
            await writing.add(head.path, offset, piece)
            left, offset = left - len(piece), offset + len(piece)
            if not left:
                break
        files[head.path] = (head.size, head.changed)
        count += head.size


async def _head(source: CopySource) -> _Head:
    try:
        head = msgspec.json.decode(await source.readline(), type=_Head)
    except (msgspec.DecodeError, ValueError):
        raise CopyBroken from None
    paths = [head.path] if head.files is None else head.files
    if not all(_FILE.fullmatch(path) for path in paths) or head.size < 0:
        raise CopyBroken
    return head


class _Writing:
    """Writes many small files with one call of a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: list[tuple[str, int, bytes]] = []
        self._bytes = 0

    async def add(self, path: str, offset: int, piece: bytes) -> None:
        self._waiting.append((path, offset, piece))
        self._bytes += len(piece)
        if self._bytes >= _PIECE_BYTES:
            await self.flush()

    async def flush(self) -> None:
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        await asyncio.to_thread(self._write, waiting)

    def _write(self, pieces: list[tuple[str, int, bytes]]) -> None:
        with translated():
            for path, offset, piece in pieces:
                file = self._folder / path
                file.parent.mkdir(mode=0o700, exist_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | (0 if offset else os.O_TRUNC)
                descriptor = os.open(file, flags, 0o600)
                with os.fdopen(descriptor, "wb") as out:
                    out.seek(offset)
                    out.write(piece)


def _keep_only(folder: Path, files: list[str]) -> None:
    with translated():
        for path in _listed(folder).keys() - set(files):
            (folder / path).unlink(missing_ok=True)
        for user in folder.iterdir():
            if user.is_dir() and not any(user.iterdir()):
                user.rmdir()
