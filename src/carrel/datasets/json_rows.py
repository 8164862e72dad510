"""Reads JSON as rows: objects, one in each line or in an array. Whatever is no text stays as it is written."""

import io
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec

from carrel.datasets.lines import read, require_few_empty, too_long
from carrel.datasets.names import Cells, TableReader, check_names
from carrel.datasets.refusals import TableUnreadable, fault
from carrel.datasets.schemas import MAX_ROW_ELEMENTS
from carrel.errors import FieldError
from carrel.kit import json_elements
from carrel.kit.plain_text import NOT_TEXT, is_text

_NO_OBJECT: Final = "is not a JSON object"
_READ_AT_ONCE: Final = 64 * 1024
_SPACE: Final = re.compile(r"[ \t\n\r]*+")
_TO_BRACE: Final = re.compile(r'[^"{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"{}]*+)*+', re.DOTALL)
"""What comes before the next brace that is in no text; it ends before a text that is not whole."""
_NO_NUMBER: Final = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+")|-?\b(?:NaN|Infinity)\b', re.DOTALL)
"""A text, or a number that is none."""
_line = msgspec.json.Decoder(dict[str, msgspec.Raw])
_text = msgspec.json.Decoder(str)


def of_objects(objects: Iterator[str]) -> TableReader:
    """Begin to read a table of which each row is an object.

    Raises:
        TableUnreadable, ColumnsInvalid, RowTooLarge: at a row while it is read.
    """
    table = TableReader([], iter(()))
    table.rows = _rows(objects, {}, table.columns, table.notes)
    return table


def members(source: io.TextIOWrapper, longest: int) -> Iterator[str]:
    """The objects of an array, one by one: all of them at once would take up to forty times the file's size.

    Objects one after another, as in JSON lines, are read, too, if there are several. None has more than `longest`
    characters, or a piece of the file more.

    Raises:
        TableUnreadable: this is no array of objects.
        RowTooLarge: one of them is longer than a row may be.
    """
    array = _Array(source, longest)
    row = 0
    sign = array.sign()
    if sign == "{":
        yield from _following(array)
        return
    if sign != "[":
        raise _no_array()
    sign = array.sign()
    if sign != "]":
        while True:
            row += 1
            if sign == "n":
                yield array.null(row)
            elif sign != "{":
                raise TableUnreadable(errors=(fault(row, _NO_OBJECT),))
            else:
                yield array.object(row)
            sign = array.sign()
            if sign != ",":
                break
            sign = array.sign()
    if sign != "]" or array.sign():
        raise _no_array(row)


def _following(array: "_Array") -> Iterator[str]:
    row, first = 1, array.object(1)
    sign = array.sign()
    if sign != "{":
        raise _no_array()
    yield first
    while sign == "{":
        row += 1
        yield array.object(row)
        sign = array.sign()
    if sign:
        raise TableUnreadable(errors=(fault(row + 1, _NO_OBJECT),))


class _Array:
    """A JSON text, of which no more is in memory than the object that is being looked for, and a piece."""

    def __init__(self, source: io.TextIOWrapper, longest: int) -> None:
        self._source = source
        self._longest = longest
        self._text = ""
        self._at = 0

    def sign(self) -> str:
        """Pass the next character that is no space, and return it; nothing at the end."""
        while True:
            self._pass(_SPACE)
            if self._at < len(self._text):
                self._at += 1
                return self._text[self._at - 1]
            if not self._more(self._at):
                return ""

    def object(self, row: int) -> str:
        """Pass the object whose first brace was passed, and return it; it is the row of this number.

        Raises:
            TableUnreadable: it does not end.
            RowTooLarge: it is longer than a row may be.
        """
        begin, depth = self._at - 1, 1
        while depth:
            self._pass(_TO_BRACE)
            brace = self._text[self._at : self._at + 1]
            if brace in ("{", "}"):
                depth += 1 if brace == "{" else -1
                self._at += 1
            elif len(self._text) - begin > self._longest:
                raise too_long(self._longest)
            elif self._more(begin):
                begin = 0
            else:
                raise TableUnreadable(errors=(fault(row, "does not end"),))
        return self._text[begin : self._at]

    def null(self, row: int) -> str:
        """Pass the rest of a null whose first letter was passed, and return it.

        Raises:
            TableUnreadable: it is something else.
        """
        if [self.sign() for _ in range(3)] != ["u", "l", "l"]:
            raise TableUnreadable(errors=(fault(row, _NO_OBJECT),))
        return "null"

    def _pass(self, what: "re.Pattern[str]") -> None:
        found = what.match(self._text, self._at)
        if found is not None:
            self._at = found.end()

    def _more(self, begin: int) -> bool:
        """Read on; what is before `begin` is not needed any more, and the text begins there afterwards."""
        self._text, self._at = self._text[begin:], self._at - begin
        # As much again as there is: a long object would otherwise be put together a hundred times.
        most = self._longest + 1 - len(self._text)
        found = read(self._source, max(_READ_AT_ONCE, min(len(self._text), most)))
        self._text += found
        return bool(found)


def _no_array(row: int = 0) -> TableUnreadable:
    if row:
        return TableUnreadable(errors=(fault(row, "is neither the last of the array nor followed by a comma"),))
    return TableUnreadable(errors=(FieldError("file", "is not a JSON array of objects"),))


def _rows(objects: Iterator[str], columns: dict[str, int], names: list[str], notes: list[str]) -> Iterator[Cells]:
    number = empty = nulls = twice = 0
    for line in objects:
        if (written := line.strip()) in ("", "null", "{}"):
            empty += 1
            nulls += bool(written)
            require_few_empty(empty)
            continue
        number += 1
        if line.count(",") > MAX_ROW_ELEMENTS and json_elements.are_more_than(MAX_ROW_ELEMENTS, line.encode()):
            raise TableUnreadable(errors=(fault(number, f"must have at most {MAX_ROW_ELEMENTS:,} elements"),))
        try:
            values = _decoded(line)
            twice += any(line.count(f'"{name}"') > 1 for name in values) and _names_twice(line)
            cells: Cells = [None] * len(names)
            for name, raw in values.items():
                if name not in columns:
                    columns[name] = len(names)
                    names.append(name if name.strip() else f"column {len(names) + 1}")
                    cells.append(None)
                    check_names(names, f"rows[{number}]")
                cells[columns[name]] = _cell(bytes(raw))
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            raise TableUnreadable(errors=(fault(number, _lack(line)),)) from None
        yield cells
    if twice:
        notes.append(f"{twice:,} {'row names' if twice == 1 else 'rows name'} a column twice: the last value counts.")
    if nulls:
        notes.append(f"Left out {nulls:,} {'row' if nulls == 1 else 'rows'} without any text.")


def _lack(line: str) -> str:
    """Why a line cannot be read. JSON can name half of a surrogate pair, which is no text."""
    with suppress(ValueError, RecursionError):
        if not is_text(json.dumps(json.loads(line), ensure_ascii=False)):
            return NOT_TEXT
    return _NO_OBJECT


def _names_twice(line: str) -> bool:
    # Not of interest, and Python makes no number of thousands of digits.
    pairs = json.loads(line, object_pairs_hook=lambda found: found, parse_int=str)
    return len({name for name, _ in pairs}) < len(pairs)


def _decoded(line: str) -> dict[str, msgspec.Raw]:
    try:
        return _line.decode(line)
    except msgspec.DecodeError:
        # Python and JavaScript write what JSON does not know.
        if "NaN" not in line and "Infinity" not in line:
            raise
        return _line.decode(_NO_NUMBER.sub(lambda found: found[1] or "null", line))


def _cell(raw: bytes) -> str | None:
    """A text as it is, nothing for null, and everything else as it is written."""
    if raw == b"null":
        return None
    return _text.decode(raw) if raw.startswith(b'"') else raw.decode()
