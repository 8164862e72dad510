"""What the cells of an XLSX file look like: the formats of their numbers, the errors in them, and rows that it hides.

Beside calamine, which gives values only. Whatever is not as it should be is passed over: calamine has read the file.
"""

import io
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import IO, Final
from xml.parsers import expat

from carrel.datasets.cell_formats import BUILT_IN

ERROR: Final = "\0"
"""What begins a look that is an error such as `#N/A`, and no format."""
_PIECE_BYTES: Final = 64 * 1024
_LONGEST_ERROR: Final = 20
_LONGEST_TAG: Final = 4 * 1024
"""With the value behind it."""
_FEW_STYLES: Final = 20
_NAME: Final = re.compile(rb"<(\w+:|)worksheet\b")
_UNPLACED: Final = r"""(?![^<>]*\sr=)"""
_PLACE: Final = re.compile(rb"""\sr=["']([A-Z]{0,3})([0-9]{1,7})["']""")
_STYLE: Final = re.compile(rb"""\ss=["']([0-9]+)["']""")
_IS_ERROR: Final = re.compile(rb"""\st=["']e["']""")
_HIDDEN: Final = re.compile(rb"""<(?:\w+:)?row\s(?:[^<>]*\s)?hidden=["'](?:1|true)["']""")
_ERROR: Final = re.compile(rb"\s*(?:<(?:\w+:)?f\b[^<]*(?:</[^<>]*>)?)?\s*<(?:\w+:)?v\b[^<>]*>([^<]*)")
"""What stands behind a cell with an error: a formula, and the error."""
_LAME: Final = (expat.ExpatError, zipfile.BadZipFile, zlib.error, LookupError, OSError, RuntimeError, ValueError)

Looks = dict[int, str]
"""The looks of a row by the places of its cells, counted from 0."""


def looks(body: bytes, sheet: str, hidden: Counter[str]) -> Iterator[tuple[int, Looks]]:
    """The rows of a sheet of which cells have a look, by their numbers from 0; `hidden` counts the `rows` it hides."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            part, styles = _parts(archive, sheet)
            formats = _formats(archive, styles)
            yield from _rows(archive, part, formats, hidden)
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


def _rows(
    archive: zipfile.ZipFile, part: str, formats: dict[str, str], hidden: Counter[str]
) -> Iterator[tuple[int, Looks]]:
    """Looks for tags in the bytes: a parser would call back for each of half a million others."""
    row, place, found = -1, -1, Looks()
    left, is_more = b"", True
    with archive.open(part) as file:
        left = file.read(_PIECE_BYTES)
        tags = _tags(left, formats)
        while is_more:
            piece = file.read(_PIECE_BYTES)
            left, is_more = left + piece, bool(piece)
            # A tag near the end may not be whole.
            end = len(left) - _LONGEST_TAG * is_more
            if b"hidden=" in left:
                hidden["rows"] += sum(tag.start() < end for tag in _HIDDEN.finditer(left))
            for tag in tags.finditer(left):
                if tag.start() >= end:
                    break
                name, attributes = tag.groups()
                at = _PLACE.search(attributes)
                number = row + (name == b"row") if at is None else int(at[2]) - 1
                if name == b"row" or number != row:
                    if found:
                        yield row, found
                    row, place, found = number, -1, Looks()
                if name == b"c":
                    place = place + 1 if at is None else _column(at[1])
                    style = _STYLE.search(attributes)
                    error = _ERROR.match(left, tag.end()) if _IS_ERROR.search(attributes) else None
                    if error is not None:
                        found[place] = ERROR + error[1][:_LONGEST_ERROR].decode()
                    elif style is not None and (look := formats.get(style[1].decode())):
                        found[place] = look
            left = left[max(0, end) :] if is_more else b""
    if found:
        yield row, found


def _tags(head: bytes, formats: dict[str, str]) -> re.Pattern[bytes]:
    """The cells that have a format or an error. Where cells do not say where they are, such ones and rows, too."""
    name = _NAME.search(head)
    prefix = name[1].decode() if name is not None else ""
    styles = "|".join(formats) if 0 < len(formats) <= _FEW_STYLES else "[0-9]+"
    looks_ = rf"""(?=[^<>]*\s(?:s=["'](?:{styles})["']|t=["']e["']))"""
    if not re.search(rf"<{prefix}c(?=[\s>/]){_UNPLACED}".encode(), head):
        return re.compile(rf"<{prefix}(c){looks_}([^<>]*)>".encode())
    return re.compile(rf"<{prefix}(row|c)(?=[\s>/])(?:(?<=w)|{looks_}|{_UNPLACED})([^<>]*)>".encode())


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
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
