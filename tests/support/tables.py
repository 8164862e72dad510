"""Tables for tests: read in this process, as a worker reads them; and some that no reader should take apart whole."""

from collections.abc import Callable, Sequence

from carrel.datasets.batches import cleaned, read_table
from carrel.datasets.schemas import Column, Format, Role
from carrel.datasets.store import TableInfo
from carrel.datasets.table import Limits
from tests.support.workspace import SETTINGS

LIMITS = Limits(SETTINGS.max_data_set_rows, SETTINGS.max_body_bytes, 2 * SETTINGS.max_body_bytes)


def uploaded(
    body: bytes,
    roles: dict[str, Role] | None = None,
    *,
    name: str = "Questions",
    kind: Format = "csv",
    before: Sequence[Column] = (),
) -> tuple[TableInfo, list[bytes]]:
    """What `store.create` takes: what belongs to the table besides its rows, and its rows in batches."""
    table = read_table(iter([body]), kind, roles or {}, list(before), LIMITS)
    return TableInfo(name, "", kind, len(body)), cleaned(list(table))


def hostile(size: int) -> dict[str, tuple[Format, Callable[[], bytes]]]:
    """Tables of so many bytes that are one row, cell, header or array; each is refused."""
    return {
        "one row of short cells": ("csv", lambda: b"a,b\n" + b"ab," * (size // 3)),
        "one row of empty cells": ("csv", lambda: b"a,b\n" + b"," * size),
        "a header of short names": ("csv", lambda: b"ab," * (size // 3)),
        "a header of quotation marks": ("csv", lambda: b'"' * size),
        "a cell that does not end": ("csv", lambda: b'a\n"' + b"x\n" * (size // 2)),
        "a record of dense lines": ("csv", lambda: b"a\n" + b'x",,,,,,,,,,,,"\n' * (size // 16)),
        "an array of numbers": ("json", lambda: b"[" + b"1," * (size // 2)),
        "an array of arrays": ("json", lambda: b"[" + b"[]," * (size // 3)),
        "an array of spaces": ("json", lambda: b"[" + b" " * size),
        "an object that does not end": ("json", lambda: b'[{"a":' + b"[1]," * (size // 4)),
        "a text that does not end": ("json", lambda: b'[{"a":"' + b"x" * size),
        "an object of objects": ("json", lambda: b'[{"a":' + b'{"a":' * (size // 5)),
        "a line of keys": (
            "jsonl",
            lambda: b"{" + b",".join(b'"%06x":1' % number for number in range(size // 11)) + b"}",
        ),
        "empty lines": ("csv", lambda: b"a\n" + b"\n" * size),
        "empty lines of JSON": ("jsonl", lambda: b"\n" * size),
        "a line of brackets": ("jsonl", lambda: b"[" * size),
    }
