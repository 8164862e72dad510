"""What the cells of an XLSX file look like: the formats of their numbers, and the errors in them.

Beside calamine, which gives values only. Whatever is not as it should be is passed over: calamine has read the file.
"""

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Final
from xml.parsers import expat

from carrel.datasets.cell_formats import BUILT_IN

ERROR: Final = "\0"
"""What begins a look that is an error such as `#N/A`, and no format."""
_PIECE_BYTES: Final = 64 * 1024
_LONGEST_ERROR: Final = 20
_CELL: Final = re.compile("([A-Z]{1,3})([0-9]{1,7})")
_LAME: Final = (expat.ExpatError, zipfile.BadZipFile, zlib.error, LookupError, OSError, RuntimeError, ValueError)

Looks = dict[int, str]
"""The looks of a row by the places of its cells, counted from 0."""


def looks(body: bytes, sheet: str) -> Iterator[tuple[int, Looks]]:
    """The rows of a sheet of which cells have a look, by their numbers, counted from 0."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            part, styles = _parts(archive, sheet)
            formats = _formats(archive, styles)
            if formats or _has_errors(archive, part):
                yield from _rows(archive, part, formats)
    except _LAME:
        return


def _parts(archive: zipfile.ZipFile, sheet: str) -> tuple[str, str]:
    """The names of the sheet's part and that of the styles."""
    main = next((one for kind, _, one in _relations(archive, "") if kind == "officeDocument"), "xl/workbook.xml")
    related = list(_relations(archive, main))
    with archive.open(main) as file:
        ids = [
            next((value for key, value in attributes.items() if key.endswith("/relationships id")), "")
            for _, attributes in _elements(file, "sheet")
            if attributes.get("name") == sheet
        ]
    part = next(one for _, identity, one in related if identity == ids[0])
    return part, next((one for kind, _, one in related if kind == "styles"), "")


def _relations(archive: zipfile.ZipFile, source: str) -> Iterator[tuple[str, str, str]]:
    folder, name = posixpath.split(source)
    with archive.open(posixpath.join(folder, "_rels", f"{name}.rels")) as file:
        for _, one in _elements(file, "Relationship"):
            target = posixpath.normpath(posixpath.join("/", folder, one.get("Target", ""))).lstrip("/")
            yield one.get("Type", "").rpartition("/")[2], one.get("Id", ""), target


def _formats(archive: zipfile.ZipFile, styles: str) -> dict[str, str]:
    """The format of each style that has one."""
    if not styles:
        return {}
    codes: dict[str, str] = {str(number): code for number, code in BUILT_IN.items()}
    found: list[str] = []
    of_cells = False
    with archive.open(styles) as file:
        for name, one in _elements(file, "numFmt", "cellXfs", "cellStyles", "dxfs", "xf"):
            if name == "numFmt":
                codes[one.get("numFmtId", "")] = one.get("formatCode", "")
            elif name == "xf":
                if of_cells:
                    found.append(codes.get(one.get("numFmtId", ""), "General"))
            else:
                of_cells = name == "cellXfs"
    return {str(place): code for place, code in enumerate(found) if code.lower() != "general"}


def _has_errors(archive: zipfile.ZipFile, part: str) -> bool:
    before = b""
    with archive.open(part) as file:
        while piece := file.read(_PIECE_BYTES):
            if b't="e"' in before + piece:
                return True
            before = piece[-8:]
    return False


def _rows(archive: zipfile.ZipFile, part: str, formats: dict[str, str]) -> Iterator[tuple[int, Looks]]:
    reader = _SheetReader(formats)
    with archive.open(part) as file:
        while piece := file.read(_PIECE_BYTES):
            reader.parser.Parse(piece, False)
            # The last one may not be whole.
            yield from reader.found[:-1]
            del reader.found[:-1]
        reader.parser.Parse(b"", True)
    yield from reader.found


class _SheetReader:
    """Finds the cells that have a look; half a million others pass by in a second."""

    def __init__(self, formats: dict[str, str]) -> None:
        self.found: list[tuple[int, Looks]] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.buffer_text = True
        self._formats = formats
        self._row = self._place = -1
        self._error: Looks | None = None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(":")[2] if ":" in name else name
        if kind == "c":
            self._place += 1
            self._error = None
            look = self._formats.get(attributes.get("s", ""))
            is_error = attributes.get("t") == "e"
            if look is not None or is_error:
                if at := _CELL.fullmatch(attributes.get("r", "")):
                    self._place = _column(at[1])
                self._keep(ERROR if is_error else look or "")
                self._error = self.found[-1][1] if is_error else None
        elif kind == "row":
            number = attributes.get("r", "")
            self._row, self._place = int(number) - 1 if number.isdecimal() else self._row + 1, -1
        if self._error is not None:
            self.parser.CharacterDataHandler = self._said if kind == "v" else None

    def _keep(self, look: str) -> None:
        if not self.found or self.found[-1][0] != self._row:
            self.found.append((self._row, {}))
        self.found[-1][1][self._place] = look

    def _said(self, text: str) -> None:
        if self._error is not None:
            self._error[self._place] = (self._error[self._place] + text)[:_LONGEST_ERROR]


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _elements(file: IO[bytes], *names: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The elements of these names with their attributes."""
    found: list[tuple[str, dict[str, str]]] = []
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if local in names:
            found.append((local, attributes))

    parser.StartElementHandler = start
    while piece := file.read(_PIECE_BYTES):
        parser.Parse(piece, False)
        yield from found
        found.clear()
    parser.Parse(b"", True)
