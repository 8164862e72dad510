"""The files of a slot on their way from one disk to another: only the blocks that have changed since the last time.

On the wire each run of changed blocks is a line of JSON and then its bytes; the last line lists the files.
The source remembers what it has sent by a digest of each block, because what the target has is what was sent to it: a
gigabyte is read and compared in about a second, however slow the way to the other node is. A large slot's databases are
held before the release, so that the last copy reads only their logs.
"""

import asyncio
import hashlib
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
_BLOCK_BYTES: Final = 64 * 1024
_DIGEST_BYTES: Final = 16
LATELY_SECONDS: Final = 1.0
"""A file that was changed so lately may change again without a new time stamp, which is some milliseconds coarse."""

Stamp = tuple[int, int]
"""The size of a file, and when it was changed, in nanoseconds; 0 says that it has to be copied again."""


SentBlocks = dict[str, bytes]
"""The digests of the blocks of each file, as they were sent last."""


class _Head(msgspec.Struct, omit_defaults=True):
    """What stands before `length` bytes of a file from `at` on, or at the end of everything.

    With the last run of a file come its size and when it was changed.
    """

    path: str = ""
    at: int = 0
    length: int = 0
    is_whole: bool = False
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


async def sent(folder: Path, have: Mapping[str, Stamp], blocks: SentBlocks) -> AsyncIterator[bytes]:
    """What of a slot's files is not what the target has, in pieces of about a megabyte; without the last line.

    `blocks` is what was sent of them before, to a target that has kept all of it, and afterwards what was sent now.
    """
    pieces = _pieces(folder, have, blocks)
    while piece := await asyncio.to_thread(next, pieces, b""):
        yield piece


def ending(folder: Path) -> bytes:
    """The last line."""
    return _line(_Head(files=sorted(_listed(folder))))


def _pieces(folder: Path, have: Mapping[str, Stamp], blocks: SentBlocks) -> Iterator[bytes]:
    waiting = bytearray()
    for path, stamp in sorted(_listed(folder).items()):
        if have.get(path) == stamp:
            continue
        # A user who was deleted a moment ago.
        with suppress(FileNotFoundError), opened(folder / path) as descriptor:
            found = os.fstat(descriptor)
            is_late = abs(time.time_ns() - found.st_mtime_ns) < LATELY_SECONDS * 1e9
            known, now = blocks.pop(path, b"") if path in have else b"", bytearray()
            for at, run in _changed_runs(descriptor, found.st_size, known, now):
                waiting += _line(_Head(path, at, len(run))) + run
                if len(waiting) >= _PIECE_BYTES:
                    yield bytes(waiting)
                    waiting.clear()
            changed = 0 if is_late else found.st_mtime_ns
            waiting += _line(_Head(path, is_whole=True, size=found.st_size, changed=changed))
            blocks[path] = bytes(now)
    yield bytes(waiting)


def _changed_runs(descriptor: int, size: int, known: bytes, now: bytearray) -> Iterator[tuple[int, bytes]]:
    """Where each run of blocks begins whose digests are not the known ones; `now` gets the digest of every block."""
    for at in range(0, size, _PIECE_BYTES):
        wanted = min(size - at, _PIECE_BYTES)
        # What was cut off meanwhile is copied again later.
        piece = os.pread(descriptor, wanted, at).ljust(wanted, b"\0")
        run = bytearray()
        for start in range(0, wanted, _BLOCK_BYTES):
            block = piece[start : start + _BLOCK_BYTES]
            # Twice as fast as BLAKE2 where the processor has instructions for it.
            digest = hashlib.sha256(block).digest()[:_DIGEST_BYTES]
            if known[len(now) : len(now) + _DIGEST_BYTES] != digest:
                run += block
            elif run:
                yield at + start - len(run), bytes(run)
                run.clear()
            now += digest
        if run:
            yield at + wanted - len(run), bytes(run)


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A descriptor of the file, for the block."""
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
        if head.is_whole:
            await writing.add(head.path, head.size, None)
            files[head.path] = (head.size, head.changed)
        else:
            await writing.add(head.path, head.at, await source.readexactly(head.length))
            count += head.length


async def _head(source: CopySource) -> _Head:
    try:
        head = msgspec.json.decode(await source.readline(), type=_Head)
    except (msgspec.DecodeError, ValueError):
        raise CopyBroken from None
    paths = [head.path] if head.files is None else head.files
    if not all(_FILE.fullmatch(path) for path in paths) or min(head.at, head.size) < 0:
        raise CopyBroken
    if not 0 <= head.length <= _PIECE_BYTES:
        raise CopyBroken
    return head


class _Writing:
    """Writes many small files with one call of a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: list[tuple[str, int, bytes | None]] = []
        self._bytes = 0

    async def add(self, path: str, offset: int, piece: bytes | None) -> None:
        """Write a piece; `None` ends the file there."""
        self._waiting.append((path, offset, piece))
        self._bytes += len(piece or b"")
        if self._bytes >= _PIECE_BYTES:
            await self.flush()

    async def flush(self) -> None:
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        await asyncio.to_thread(self._write, waiting)

    def _write(self, pieces: list[tuple[str, int, bytes | None]]) -> None:
        with translated():
            for path, offset, piece in pieces:
                file = self._folder / path
                file.parent.mkdir(mode=0o700, exist_ok=True)
                descriptor = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600)
                with os.fdopen(descriptor, "wb") as out:
                    if piece is None:
                        out.truncate(offset)
                    else:
                        out.seek(offset)
                        out.write(piece)


def _keep_only(folder: Path, files: list[str]) -> None:
    with translated():
        for path in _listed(folder).keys() - set(files):
            (folder / path).unlink(missing_ok=True)
        for user in folder.iterdir():
            if user.is_dir() and not any(user.iterdir()):
                user.rmdir()
