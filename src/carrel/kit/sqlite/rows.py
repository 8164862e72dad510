"""Rows by name: the columns of a query follow from the fields of the record that each row becomes.

    class Note(NamedTuple):
        id: str
        author: str
        tags: list[str]

    _notes = Select(Note, table="notes", author="authors.name")
    _notes.one(conn, "FROM notes JOIN authors ON authors.seq = author WHERE notes.seq = ?", seq)

A field is the column of the same name, unless the query says in SQL where the field comes from. A field of a type that
no column holds (a list, a mapping, a struct) is JSON in its column, and a `bool` is 0 or 1. So a new column is read
once the record has a field for it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, signature
from itertools import starmap
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import asdict

from carrel.kit.sqlite.database import Connection, Row

_encode = msgspec.json.Encoder().encode


def as_json(value: object) -> str:
    """`value` as JSON."""
    return _encode(value).decode()


T = TypeVar("T")

Decode = Callable[[Any], object]

_COLUMN = re.compile(r"[\w.]+")
_HELD = (str, int, float, bytes, NoneType)
"""The types whose values a column holds as they are."""
_SHORT = ("name", "body_preview")
"""Texts of a few hundred characters at most: to count them in every row of a list takes longer than it spares."""


class SqlColumn(NamedTuple):
    """Where a field comes from, in SQL, and what makes its value of the column's, which may be `None`."""

    sql: str
    decode: Decode


class Select(Generic[T]):
    """Reads rows as records. `record` is a NamedTuple, a struct, or a function whose parameters are the fields."""

    long_columns: dict[str, bool]
    """Those that may hold long texts, and whether they may be NULL."""

    def __init__(
        self, record: Callable[..., T], *, table: str = "", **columns: "str | SqlColumn | Select[Any]"
    ) -> None:
        """`columns` say where fields come from; the others are columns of `table`, which a join needs to name.

        A field for which there is another `Select` is a record itself, made of several columns of the same row.

        Raises:
            TypeError: the record has no field of a name in `columns`.
        """
        fields = fields_of(record)
        unknown = columns.keys() - set(fields)
        if unknown:
            raise TypeError(f"{record.__name__} has no field {', '.join(sorted(unknown))}")
        hints = get_type_hints(record)
        found: list[str] = []
        long: dict[str, bool] = {}
        self._make = _by_position(record)
        self._decoders: list[tuple[int, Decode]] = []
        self._inner: list[tuple[slice, Select[Any]]] = []
        for name in fields:
            column = columns.get(name, f"{table}.{name}" if table else name)
            if isinstance(column, Select):
                self._inner.insert(0, (slice(len(found), len(found) + len(column.columns)), column))
                found += column.columns
                long |= column.long_columns
                continue
            decode = _decoder(hints[name]) if isinstance(column, str) else column.decode
            if decode is not None:
                self._decoders.append((len(found), decode))
            found.append(column if isinstance(column, str) else column.sql)
            if isinstance(column, str) and _COLUMN.fullmatch(column) and _may_be_long(name, hints[name]):
                long[column] = NoneType in get_args(hints[name])
        self.columns: tuple[str, ...] = tuple(found)
        self.sql = ", ".join(found)
        """What stands between `SELECT` and `FROM`."""
        self.long_columns = long
        """Those that may hold long texts, and whether they may be NULL."""
        lengths = (
            f"ifnull(octet_length({name}), 0)" if empty else f"octet_length({name})" for name, empty in long.items()
        )
        self.bytes_sql = " + ".join(lengths) or "0"
        """How many bytes the texts of a row have, without ids, times and words of the program's own."""

    def record(self, row: Sequence[Any]) -> T:
        """The record of one row of these columns."""
        values = list(row)
        for index, decode in self._decoders:
            values[index] = decode(values[index])
        for place, inner in self._inner:
            values[place] = [inner.record(values[place])]
        return self._make(*values)

    def records(self, rows: Sequence[Row], start: int = 0) -> list[T]:
        """The records of rows in which these columns begin at `start`."""
        # Column by column, so that the loops over rows are the interpreter's own: lists are a fifth faster.
        return list(self._made(list(zip(*rows, strict=True))[start:])) if rows else []

    def _made(self, columns: list[Any]) -> Iterator[T]:
        for index, decode in self._decoders:
            columns[index] = map(decode, columns[index])
        for place, inner in self._inner:
            columns[place] = [inner._made(columns[place])]
        return map(self._make, *columns)

    def one(self, conn: Connection, source: str, *params: Any) -> T | None:
        """The record of the first row, or `None`. `source` is the query from its `FROM` on."""
        row = conn.one(f"SELECT {self.sql} {source}", *params)
        return None if row is None else self.record(row)

    def all(self, conn: Connection, source: str, *params: Any) -> list[T]:
        """The records of all rows; the caller's SQL bounds their number."""
        return self.records(conn.all(f"SELECT {self.sql} {source}", *params))

    def each(self, conn: Connection, source: str, *params: Any) -> Iterator[T]:
        """The records of rows one by one, for a scan that holds only one of them."""
        rows = conn.execute(f"SELECT {self.sql} {source}", params)
        return map(self.record, rows) if self._decoders or self._inner else starmap(self._make, rows)


def fields_of(record: Callable[..., object]) -> tuple[str, ...]:
    """The names of the fields of a NamedTuple, a struct or a function, in the order in which they are given."""
    return tuple(signature(record).parameters)


def columns_of(struct: msgspec.Struct) -> dict[str, object]:
    """The columns that a struct fills, by name, as `Select` reads them."""
    return {name: value if isinstance(value, _HELD) else as_json(value) for name, value in asdict(struct).items()}


def insert(conn: Connection, table: str, columns: Mapping[str, object]) -> None:
    """Add a row."""
    marks = ", ".join("?" * len(columns))
    conn.run(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", *columns.values())


def update(conn: Connection, table: str, columns: Mapping[str, object], where: str, *params: object) -> int:
    """Change the rows for which `where` holds; how many there were."""
    changes = ", ".join(f"{name} = ?" for name in columns)
    return conn.run(f"UPDATE {table} SET {changes} WHERE {where}", *columns.values(), *params)


def _by_position(record: Callable[..., T]) -> Callable[..., T]:
    if any(one.kind is Parameter.KEYWORD_ONLY for one in signature(record).parameters.values()):
        names = fields_of(record)
        return lambda *values: record(**dict(zip(names, values, strict=True)))
    return record


def _decoder(hint: Any) -> Decode | None:
    """What makes a field of this type of its column; `None` if the column holds it as it is."""
    while hasattr(hint, "__supertype__") or get_origin(hint) is Annotated:
        hint = hint.__supertype__ if hasattr(hint, "__supertype__") else get_args(hint)[0]
    if get_origin(hint) in (Union, UnionType):
        members = [member for member in get_args(hint) if member is not NoneType]
        decoders = [decode for decode in map(_decoder, members) if decode is not None]
        if not decoders:
            return None
        return _unless_null(decoders[0] if len(members) == 1 else _from_json(hint))
    if hint is bool:
        return bool
    if hint in _HELD or hint is Any or get_origin(hint) is Literal:
        return None
    return _from_json(hint)


def _may_be_long(name: str, hint: Any) -> bool:
    """Whether a field holds a long text of the user's: plain text or JSON; no name, id, time or known word."""
    if get_origin(hint) in (Union, UnionType):
        return any(_may_be_long(name, member) for member in get_args(hint))
    return (hint is str and name not in _SHORT and not name.endswith("_at")) or get_origin(hint) in (list, dict)


def _from_json(hint: Any) -> Decode:
    return msgspec.json.Decoder(hint).decode


def _unless_null(decode: Decode) -> Decode:
    return lambda value: None if value is None else decode(value)
