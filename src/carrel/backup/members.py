"""Reads the tar of a backup once, from beginning to end, and tells a short file from a damaged or foreign one.

`tarfile` cannot be used for that: it takes a missing end or a broken header in the middle for the end of the archive.
"""

import hashlib
import tarfile
from collections.abc import Callable, Iterator
from typing import IO, Final

from carrel.backup.refusals import BackupDamaged, BackupTruncated, NotABackup

OnProgress = Callable[[int], None]
"""Hears how many more bytes were read."""

PIECE_BYTES: Final = 1024 * 1024
_BLOCK: Final = tarfile.BLOCKSIZE
_END: Final = bytes(_BLOCK)
"""Two such blocks end a tar."""
_BEGINNINGS: Final = (b"service.db", b"slots/")
"""A backup begins with the name of its first file."""
_MAGIC: Final = slice(257, 262)


class Member:
    """One file in the tar. Its bytes can be read once."""

    def __init__(self, name: str, size: int, tar: IO[bytes], on_progress: OnProgress) -> None:
        self.name = name
        self.size = size
        self._tar = tar
        self._on_progress = on_progress
        self._left = size
        self._hash = hashlib.sha256()

    def pieces(self) -> Iterator[bytes]:
        """The bytes that were not read yet.

        Raises:
            BackupTruncated
        """
        while self._left:
            body = _exactly(self._tar, min(self._left, PIECE_BYTES))
            self._left -= len(body)
            self._hash.update(body)
            self._on_progress(len(body))
            yield body

    def digest(self) -> str:
        """The SHA-256 of the bytes that were read, in hex."""
        return self._hash.hexdigest()


def members(tar: IO[bytes], on_progress: OnProgress) -> Iterator[Member]:
    """Each file in its order. Bytes that the caller leaves unread are read before the next file.

    Raises:
        NotABackup, BackupTruncated, BackupDamaged
    """
    is_first = True
    while True:
        head = tar.read(_BLOCK)
        if is_first and not _may_begin(head):
            raise NotABackup
        if len(head) < _BLOCK:
            raise BackupTruncated
        if head == _END:
            break
        try:
            info = tarfile.TarInfo.frombuf(head, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeDecodeError):
            raise BackupDamaged from None
        if not info.isreg() or info.size < 0:
            raise NotABackup
        member = Member(info.name, info.size, tar, on_progress)
        yield member
        for _ in member.pieces():
            pass
        _exactly(tar, -info.size % _BLOCK)
        is_first = False
    if _exactly(tar, _BLOCK) != _END:
        raise BackupDamaged


def _may_begin(head: bytes) -> bool:
    """Whether a backup can begin with these bytes, or did before one of them changed."""
    return head[_MAGIC] == b"ustar" or any(name[: len(head)] == head[: len(name)] for name in _BEGINNINGS)


def _exactly(tar: IO[bytes], size: int) -> bytes:
    body = tar.read(size)
    if len(body) < size:
        raise BackupTruncated
    return body
