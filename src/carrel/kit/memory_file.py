"""Reads bytes that lie in memory already as a file."""

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer


class MemoryFile(io.RawIOBase):
    """A file that lies in memory already; `io.BytesIO` would copy it. Read it through an `io.BufferedReader`."""

    def __init__(self, body: memoryview) -> None:
        self._body = body
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._body)}[whence])
        return self._at

    def readinto(self, buffer: "Buffer") -> int:
        into = memoryview(buffer).cast("B")
        piece = self._body[self._at : self._at + len(into)]
        into[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
