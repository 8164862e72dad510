"""Lists in pages: an opaque cursor over an integer sequence, newest first, stable while rows are added."""

import base64
import binascii
import zlib
from collections.abc import Callable
from itertools import islice
from typing import Any, Generic, TypeVar

import msgspec

from carrel.errors import BadInput, FieldError
from carrel.kit.sqlite.database import Connection, Row
from carrel.kit.sqlite.rows import Select

T = TypeVar("T")
U = TypeVar("U")

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
PAGE_BYTES = 256 * 1024
"""A page ends with the row that passes this many bytes: reading and encoding 1 MB keeps the event loop for 5 ms."""
_CURSOR_BYTES = 10
_CURSOR_CHARACTERS = 14
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_SEQ_BYTES = 8


class InvalidCursor(BadInput):
    """Not a cursor that a list gave out."""

    code = "invalid-cursor"
    detail = "The cursor is not one that a list gave out."

    def __init__(self) -> None:
        super().__init__(errors=(FieldError("cursor", "must be the next_cursor of an earlier page"),))


class Page(msgspec.Struct, Generic[T], frozen=True):
    """One page; `next_cursor` is null on the last. A page of large rows ends before its limit."""

    items: list[T]
    next_cursor: str | None

    def map(self, change: Callable[[T], U]) -> "Page[U]":
        """The same page of what `change` makes of its items."""
        return Page([change(item) for item in self.items], self.next_cursor)


class Paging(msgspec.Struct, frozen=True):
    """Which page is asked for: at most `limit` rows beyond the row with sequence `after` (`None`: from the start)."""

    limit: int = DEFAULT_LIMIT
    after: int | None = None


def encode(seq: int) -> str:
    """An opaque cursor: base64url of the sequence and a check that tells a mistyped one."""
    number = seq.to_bytes(_SEQ_BYTES, "big")
    # Not by `urlsafe_b64encode`, which takes twice as long for so few bytes.
    encoded = binascii.b2a_base64(number + _check(number), newline=False)
    return encoded[:_CURSOR_CHARACTERS].translate(_URL_SAFE).decode("ascii")


def decode(cursor: str) -> int:
    """The sequence in `cursor`.

    Raises:
        InvalidCursor: it was not made by `encode`.
    """
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii") + b"==")
    except (UnicodeEncodeError, binascii.Error):
        raise InvalidCursor from None
    number, check = raw[:_SEQ_BYTES], raw[_SEQ_BYTES:]
    seq = int.from_bytes(number, "big")
    # Only the canonical form counts: the decoder skips characters that are not of its alphabet.
    if len(raw) != _CURSOR_BYTES or check != _check(number) or encode(seq) != cursor or seq >= 1 << 63:
        raise InvalidCursor
    return seq


def _check(number: bytes) -> bytes:
    return (zlib.crc32(number) & 0xFFFF).to_bytes(2, "big")


def fetch(
    conn: Connection,
    paging: Paging,
    select: Select[T],
    source: str,
    *params: Any,
    seq: str = "seq",
    ascending: bool = False,
) -> Page[T]:
    """One page of the records of `select`. `source` begins with its FROM clause and ends in its WHERE clause:

        fetch(conn, paging, _presets, "FROM presets WHERE deleted = ?", 0)

    Rows come newest first, or oldest first if `ascending`. `seq` names the column if the query joins tables. The page
    ends after `PAGE_BYTES`, if that is before the limit.
    """
    sql = f"SELECT {seq}, {select.bytes_sql}, {select.sql} {source}"
    comparison, order = (">", "ASC") if ascending else ("<", "DESC")
    if paging.after is not None:
        sql += f" {'AND' if 'WHERE' in source else 'WHERE'} {seq} {comparison} ?"
        params = (*params, paging.after)
    found = conn.each(f"{sql} ORDER BY {seq} {order} LIMIT ?", *params, paging.limit + 1)
    rows: list[Row] = []
    room = PAGE_BYTES
    for row in islice(found, paging.limit):
        rows.append(row)
        room -= row[1]
        if room <= 0:
            break
    is_last = next(found, None) is None
    return Page(select.records(rows, start=2), None if is_last else encode(rows[-1][0]))
