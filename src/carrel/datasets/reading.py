"""Reads the bytes of a table as rows of cells: CSV with any usual separator, JSON, or a spreadsheet.

A cell is a text or nothing. Carrel never evaluates it: formulas stay text, and numbers, lists and objects in JSON stay
as they are written. The bytes come in pieces, and one row at a time is in memory: what a row may have is counted before
it is taken apart. Pure: nothing is kept.
"""

import codecs
import importlib
from collections.abc import Iterable
from itertools import chain
from typing import Final

from carrel.datasets import csv_rows, json_rows
from carrel.datasets.lines import lines, opened, western
from carrel.datasets.names import TableReader
from carrel.datasets.refusals import TableUnreadable
from carrel.datasets.schemas import SPREADSHEETS, Format
from carrel.errors import FieldError

BOOKS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
"""What packages and old Office files begin with."""
_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BEFORE_TEXT: Final = codecs.BOM_UTF8 + codecs.BOM_UTF16 + b" \t\r\n"


def read(kind: Format, pieces: Iterable[bytes], longest: int, sheet: str | None = None) -> TableReader:
    """Begin to read a table. Rows come one by one, none of more than `longest` characters in the file.

    Of a spreadsheet the whole `sheet` is in memory, or the first one.

    Raises:
        TableUnreadable, ColumnsInvalid, RowTooLarge: at the beginning, or at a row while it is read.
    """
    left = iter(pieces)
    head = next(left, b"")
    pieces = chain((head,), left)
    # People give spreadsheets and CSV each other's names.
    if head.startswith(BOOKS) and kind not in ("json", "jsonl"):
        # Only workers import it.
        spreadsheets = importlib.import_module("carrel.datasets.spreadsheets")
        found: TableReader = spreadsheets.read(b"".join(pieces), longest, sheet)
        return found
    if kind in SPREADSHEETS and not _is_plain(head):
        raise TableUnreadable(errors=(FieldError("file", "is no spreadsheet; save it as XLSX or as CSV"),))
    if kind == "json" or (kind == "jsonl" and head.lstrip(_BEFORE_TEXT).startswith(b"[")):
        return json_rows.of_objects(json_rows.members(opened(pieces, newline="\n"), longest))
    if kind == "jsonl":
        # No line of JSON holds a line break, so any of them ends it.
        return json_rows.of_objects(lines(opened(pieces, newline=None), longest))
    notes: list[str] = []
    text = opened(western(pieces, notes), newline="")
    table = csv_rows.read(lines(text, longest), "\t" if kind == "tsv" else None, longest)
    notes += table.notes
    table.notes = notes
    return table


def _is_plain(head: bytes) -> bool:
    """Whether it looks like a text, and neither like a web page nor like a program's own file."""
    return (
        bool(head)
        and not head.lstrip(_BEFORE_TEXT).startswith((b"<", b"%PDF"))
        and (b"\0" not in head or head[:2] in _MARKS)
    )
