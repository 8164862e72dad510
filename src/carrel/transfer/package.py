"""Reads the zip of an import without trust: it counts every byte, because the stated sizes may be false."""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Final, cast

from carrel.errors import Unavailable
from carrel.transfer.pieces import ImportForeign, ImportTooLarge, ImportUnreadable, PieceFile

MAX_UNPACKED_BYTES: Final = 1024 * 1024 * 1024
"""The limit for all entries together: a few kilobytes in a zip can unpack to gigabytes."""

_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED = 0x1
CHUNK_BYTES = 64 * 1024


class Package:
    """The entries of a zip that is in `file`.

    Raises, here and in every method:
        ImportUnreadable: it is damaged, or of a kind that exports never are.
        ImportTooLarge: more was unpacked than is allowed.
        Unavailable: `is_abandoned` says that nobody waits for the import any more.
    """

    def __init__(self, file: PieceFile, is_abandoned: Callable[[], bool] = lambda: False) -> None:
        self._left = MAX_UNPACKED_BYTES
        self._is_abandoned = is_abandoned
        with _readable():
            self._zip = zipfile.ZipFile(cast(IO[bytes], file))

    def lines(self, name: str, longest: int, *, or_nothing: bool = False) -> Iterator[bytes]:
        """The lines of an entry, none longer than `longest`.

        If the entry is missing, the zip is not an export; with `or_nothing`, there are no lines.
        """
        if or_nothing and name not in self._zip.NameToInfo:
            return
        with self._open(name, ImportForeign) as entry:
            # Put together once: a long line has dozens of chunks.
            begun: list[bytes] = []
            size = 0
            while chunk := self._chunk(entry):
                for number, part in enumerate(chunk.split(b"\n")):
                    if number:
                        yield b"".join(begun)
                        begun, size = [], 0
                    size += len(part)
                    if size > longest:
                        raise ImportTooLarge
                    begun.append(part)
            if size:
                yield b"".join(begun)

    def pieces(self, name: str) -> Iterator[bytes]:
        """The bytes of an entry, as they are unpacked; if it is missing, the zip is not an export."""
        with self._open(name, ImportForeign) as entry:
            while chunk := self._chunk(entry):
                yield chunk

    def text(self, name: str, most_bytes: int, missing: type[Exception] = ImportUnreadable) -> bytes:
        """A whole entry with a limit on its bytes."""
        found = bytearray()
        with self._open(name, missing) as entry:
            while chunk := self._chunk(entry):
                found += chunk
                if len(found) > most_bytes:
                    raise ImportTooLarge
        return bytes(found)

    @contextmanager
    def _open(self, name: str, missing: type[Exception]) -> Iterator[IO[bytes]]:
        info = self._zip.NameToInfo.get(name)
        if info is None:
            raise missing
        if info.compress_type not in _METHODS or info.flag_bits & _ENCRYPTED:
            raise ImportUnreadable
        with _readable():
            entry = self._zip.open(info)
        with entry:
            yield entry

    def _chunk(self, entry: IO[bytes]) -> bytes:
        if self._is_abandoned():
            raise Unavailable
        with _readable():
            chunk = entry.read(CHUNK_BYTES)
        self._left -= len(chunk)
        if self._left < 0:
            raise ImportTooLarge
        return chunk


@contextmanager
def _readable() -> Iterator[None]:
    """Turn every error of `zipfile` into ImportUnreadable, because its messages quote from the zip.

    It raises RuntimeError for what it cannot unpack, and ValueError for names that are not text.
    """
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OverflowError, RuntimeError, ValueError):
        raise ImportUnreadable from None
