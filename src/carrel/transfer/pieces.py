"""Keeps an uploaded zip in pieces inside the encrypted database while it is read."""

import io
from typing import Final

from carrel.errors import BadInput, Conflict, TooLarge
from carrel.kit.sqlite.database import Connection


class ImportUnreadable(BadInput):
    """Not a zip, a damaged zip, or a zip with a file whose content does not match its name."""

    code = "import-unreadable"
    detail = "This is no zip, or a damaged one; nothing was changed."


class ImportForeign(BadInput):
    """A zip that is not an export."""

    code = "import-foreign"
    detail = "This zip is not the export of a Carrel workspace, or of a later version; nothing was changed."


class ImportTooLarge(TooLarge):
    """An export, or a zip bomb, that is larger than an import may be."""

    code = "import-too-large"
    detail = "The zip holds more than an import may bring in; nothing was changed."


PIECE_BYTES: Final = 256 * 1024
MOST_AT_ONCE: Final = 20 * 1024 * 1024
"""The most that one read may return: `zipfile` reads a zip's table of contents at once, whatever its size."""
MAX_ENTRIES: Final = 150_000
"""The most entries that a table of contents may have: `zipfile` makes an object of 500 bytes for each."""
_WEEK_SECONDS: Final = 7 * 86_400
_ENTRY: Final = b"PK\x01\x02"
"""What each entry in a table of contents begins with. Counting it says how many there are, whatever the zip states."""


class PartMisplaced(Conflict):
    """A part of an import that does not begin where the parts before it end."""

    code = "import-part-misplaced"
    detail = "The part does not go on where the last one ended; ask with Content-Range: bytes */<length> where that is."


class ImportReplaced(Conflict):
    """The same user began another import meanwhile."""

    code = "import-replaced"
    detail = "Another import began meanwhile; nothing was changed by this one."


def begin(conn: Connection) -> str:
    """Begin an import and return its id. Pieces of an earlier import that was interrupted are deleted."""
    conn.run("DELETE FROM import_pieces")
    return conn.new_id()


def is_given_up(conn: Connection) -> bool:
    """Whether an import is here that began a week ago."""
    return conn.one("SELECT 1 FROM import_pieces WHERE import < ? LIMIT 1", _week_ago(conn)) is not None


def sweep(conn: Connection) -> None:
    """Delete the pieces of such an import."""
    conn.run("DELETE FROM import_pieces WHERE import < ?", _week_ago(conn))


def _week_ago(conn: Connection) -> str:
    """What the ids of a week ago begin with: they tell their time (RFC 9562, section 5.7)."""
    told = f"{int((conn.clock.now() - _WEEK_SECONDS) * 1000):012x}"
    return f"{told[:8]}-{told[8:]}"


def resume(conn: Connection, start: int | None) -> tuple[str, int]:
    """The id of the import that was begun, and how many bytes of it are here: `start`, unless that is `None`.

    Raises:
        PartMisplaced: it is another number, or no import was begun.
    """
    found = conn.one("SELECT import, sum(length(body)) FROM import_pieces GROUP BY import")
    if found is None or start not in (None, found[1]):
        raise PartMisplaced
    return found


def put(conn: Connection, import_id: str, ordinal: int, body: bytes) -> None:
    """Store the next part of an import from its piece `ordinal` on. All pieces but the last have `PIECE_BYTES`.

    Raises:
        ImportReplaced: the earlier pieces were deleted, or the same part came twice at once and the other is ahead.
    """
    last = conn.value("SELECT coalesce(max(ordinal), -1) FROM import_pieces WHERE import = ?", import_id)
    if last != ordinal - 1:
        raise ImportReplaced
    for number, start in enumerate(range(0, len(body), PIECE_BYTES), start=ordinal):
        piece = body[start : start + PIECE_BYTES]
        conn.run("INSERT INTO import_pieces (import, ordinal, body) VALUES (?, ?, ?)", import_id, number, piece)


def drop(conn: Connection, import_id: str) -> None:
    """Delete the pieces."""
    conn.run("DELETE FROM import_pieces WHERE import = ?", import_id)


class PieceFile(io.RawIOBase):
    """The pieces as a file that can be read. One piece at a time is in memory."""

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
        """The position of the next byte."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Change the position.

        Raises:
            ValueError: the position is before the beginning.
        """
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError
        self._at = start + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Up to `size` bytes, fewer only at the end.

        Raises:
            ImportTooLarge: `size` is too much to read at once, or the bytes are a table of too many entries.
            ImportReplaced: the pieces were deleted.
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
        if found.count(_ENTRY) > MAX_ENTRIES:
            raise ImportTooLarge
        return bytes(found)

    def _load(self, ordinal: int) -> bytes:
        if self._piece[0] != ordinal:
            body: bytes | None = self._conn.value(
                "SELECT body FROM import_pieces WHERE import = ? AND ordinal = ?", self._import_id, ordinal
            )
            if body is None:
                raise ImportReplaced
            self._piece = (ordinal, body)
        return self._piece[1]
