"""A zip that comes in, kept in pieces inside the encrypted database for as long as it is being read, and read there."""

import io
from typing import Final

from carrel.errors import Conflict
from carrel.kit.sqlite.database import Connection
from carrel.transfer.errors import ImportTooLarge

PIECE_BYTES: Final = 1024 * 1024
MOST_AT_ONCE: Final = 16 * 1024 * 1024
"""The most that is read in one go: `zipfile` reads a zip's table of contents so, whatever its size."""


class ImportReplaced(Conflict):
    """Another import of the same user began meanwhile."""

    code = "import-replaced"
    detail = "Another import began meanwhile; nothing was changed by this one."


def begin(conn: Connection) -> str:
    """An import's id. What an earlier one left, because it was broken off, goes."""
    conn.run("DELETE FROM import_pieces")
    return conn.new_id()


def put(conn: Connection, import_id: str, ordinal: int, body: bytes) -> None:
    """Keep a piece; all but the last have `PIECE_BYTES`.

    Raises:
        ImportReplaced: the pieces before it are gone.
    """
    before = conn.one("SELECT 1 FROM import_pieces WHERE import = ? AND ordinal = ?", import_id, ordinal - 1)
    if ordinal and before is None:
        raise ImportReplaced
    conn.run("INSERT INTO import_pieces (import, ordinal, body) VALUES (?, ?, ?)", import_id, ordinal, body)


def drop(conn: Connection, import_id: str) -> None:
    """Forget them."""
    conn.run("DELETE FROM import_pieces WHERE import = ?", import_id)


class PieceFile(io.RawIOBase):
    """The pieces as a file to be read; one of them is in memory."""

    def __init__(self, conn: Connection, import_id: str, size: int) -> None:
        self._conn = conn
        self._import_id = import_id
        self._size = size
        self._at = 0
        self._piece = (-1, b"")

    def seekable(self) -> bool:
        """Always."""
        return True

    def readable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go somewhere else.

        Raises:
            ValueError: before the beginning.
        """
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError
        self._at = start + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Up to `size` bytes, fewer only at the end.

        Raises:
            ImportTooLarge: that is too much at once.
            ImportReplaced: the pieces are gone.
        """
        left = max(0, self._size - self._at)
        wanted = left if size is None or size < 0 else min(size, left)
        if wanted > MOST_AT_ONCE:
            raise ImportTooLarge
        found = bytearray()
        while len(found) < wanted:
            ordinal, offset = divmod(self._at, PIECE_BYTES)
            part = self._load(ordinal)[offset : offset + wanted - len(found)]
            if not part:
                raise ImportReplaced
            found += part
            self._at += len(part)
        return bytes(found)

    def _load(self, ordinal: int) -> bytes:
        if self._piece[0] != ordinal:
            row = self._conn.one(
                "SELECT body FROM import_pieces WHERE import = ? AND ordinal = ?", self._import_id, ordinal
            )
            if row is None:
                raise ImportReplaced
            self._piece = (ordinal, row[0])
        return self._piece[1]
