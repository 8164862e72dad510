"""Makes a zip in memory, piece by piece, and holds the rules for its content.

The same entries give the same bytes: no entry carries a time, and nothing depends on the machine.
"""

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from typing import IO, Final

from carrel.errors import DiskFull

PIECE_BYTES: Final = 1024 * 1024
MAX_BYTES: Final = 256 * 1024 * 1024
"""The most that a zip may have, packed."""
MAX_UNPACKED_BYTES: Final = 1024 * 1024 * 1024

_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_MODE = 0o644 << 16
_LEVEL = 1
"""Level 6 makes texts 16 % smaller and takes four times the processor time."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_BREAK = re.compile(r"[;\t\r\n][;\s]*+([=+\-@＝＋－＠])?")
"""It matches a whole sequence of breaks at once, whatever follows, so no text makes it slow."""
_PLAIN = re.compile(r"[A-Za-z0-9][^;\t\r\n]*")
"""Nearly every cell: it begins with no formula and has no break after which one could begin."""

CellValue = str | int | float | None


class ExportTooLarge(DiskFull):
    """The run holds more than an export may have."""

    code = "export-too-large"
    detail = "The run holds more than an export may have; read its report and its answers one by one."


class Archive:
    """A zip under way. The caller takes out packed bytes in pieces, so memory never holds all of them at once."""

    def __init__(self, room: int = MAX_UNPACKED_BYTES) -> None:
        self.folder = ""
        """Prefix of the name of every new entry; it ends in a slash unless it is empty."""
        self._packed = _ZipFile()
        self._zip = _Zip(self._packed, "w")
        self._entry: IO[bytes] | None = None
        self._left = room
        self.written = 0
        """Bytes of all entries, unpacked."""

    def add(self, name: str, body: bytes) -> None:
        """One whole entry.

        Raises:
            ExportTooLarge: it does not fit.
        """
        self.begin(name)
        self.write(body)
        self.end()

    def begin(self, name: str) -> None:
        """Open an entry; until `end`, `write` adds to it."""
        info = zipfile.ZipInfo(self.folder + name, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.create_system = _UNIX
        info.external_attr = _MODE
        info._compresslevel = _LEVEL  # type: ignore[attr-defined]  # the only way before Python 3.13
        self._entry = self._zip.open(info, "w")

    def write(self, body: bytes) -> None:
        """Add to the open entry.

        Raises:
            ExportTooLarge: it does not fit.
        """
        self._left -= len(body)
        if self._left < 0 or self._entry is None:
            raise ExportTooLarge
        self.written += len(body)
        self._entry.write(body)

    def end(self) -> None:
        """Close the open entry."""
        if self._entry is not None:
            self._entry.close()
            self._entry = None

    def close(self) -> None:
        """Write the end of the zip; the next `take` returns the rest."""
        self._zip.close()
        self._packed.over = True

    def pieces(self) -> list[bytes]:
        """Take out packed bytes: whole pieces, and after `close` the rest."""
        return self._packed.take()


class _Zip(zipfile.ZipFile):
    def __del__(self) -> None:
        """Do nothing: an interrupted export needs no end, but `zipfile` would complain about the missing end."""


class _ZipFile(io.RawIOBase):
    """The file to which `zipfile` writes; it does not allow seeking."""

    def __init__(self) -> None:
        self.over = False
        self._bytes = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, body: bytes) -> int:  # type: ignore[override]  # zipfile gives bytes only
        self._bytes += body
        return len(body)

    def take(self) -> list[bytes]:
        end = len(self._bytes) if self.over else len(self._bytes) // PIECE_BYTES * PIECE_BYTES
        found = [bytes(self._bytes[at : min(at + PIECE_BYTES, end)]) for at in range(0, end, PIECE_BYTES)]
        del self._bytes[:end]
        return found


def csv_rows(rows: Iterable[Sequence[CellValue]]) -> bytes:
    """Rows of a CSV file (RFC 4180, UTF-8), whose cells no spreadsheet takes for formulas."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue().encode()


def _cell(value: CellValue) -> CellValue:
    """A cell of a CSV file. A text that a program could run as a formula gets an apostrophe in front.

    In countries that write a comma in numbers, Excel reads a semicolon as the end of a cell, and then quotation marks
    do not keep a cell of several lines together. So the function treats what follows a semicolon or a line break like
    the beginning of a cell.
    """
    if not isinstance(value, str) or _PLAIN.fullmatch(value):
        return value
    begins = value.startswith(_FORMULA) or value.lstrip().startswith(_FORMULA)
    return ("'" if begins else "") + _BREAK.sub(_apart, value)


def _apart(found: re.Match[str]) -> str:
    return f"{found[0][:-1]}'{found[1]}" if found[1] else found[0]
