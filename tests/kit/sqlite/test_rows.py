"""Rows become records by the names of their fields."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, NewType

import msgspec
import pytest

from carrel.kit.sqlite import database, rows
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, SqlColumn
from tests.support.clock import FakeClock

NoteId = NewType("NoteId", Annotated[str, msgspec.Meta(max_length=9)])


class Place(msgspec.Struct, frozen=True):
    x: int
    y: int


class Note(msgspec.Struct, frozen=True):
    id: NoteId
    kind: Literal["long", "short"] | Literal["other"]
    pinned: bool
    tags: list[str]
    place: Place | None = None
    origin: list[str] | dict[str, str] | None = None
    done: bool | None = None


class KeywordNote(msgspec.Struct, frozen=True, kw_only=True):
    id: NoteId
    tags: list[str]


class Priced(NamedTuple):
    id: NoteId
    author: str
    price: Decimal


class Both(NamedTuple):
    kept: KeywordNote
    mark: str
    cents: int


A = Note(NoteId("a"), "long", True, ["red", "blue"], Place(1, 2), {"from": "here"}, False)
B = Note(NoteId("b"), "short", False, [])


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Connection]:
    conn = database.create(tmp_path / "rows.db", bytes(32), clock=FakeClock(), new_id=lambda: "id")
    conn.execute("CREATE TABLE authors (id TEXT, name TEXT) STRICT")
    conn.execute(
        "CREATE TABLE notes (cents INTEGER DEFAULT 150, tags TEXT, id TEXT, place TEXT,"
        " author TEXT DEFAULT 'z', kind TEXT, origin TEXT,"
        " done INTEGER, pinned INTEGER) STRICT"
    )
    conn.run("INSERT INTO authors (id, name) VALUES ('z', 'Zoe')")
    for note in (A, B):
        rows.insert(conn, "notes", rows.columns_of(note))
    yield conn
    conn.close()


def test_a_record_is_read_as_it_was_written_whatever_the_order_of_the_columns(conn: Connection) -> None:
    assert Select(Note).all(conn, "FROM notes ORDER BY id") == [A, B]


def test_fields_that_no_column_holds_are_json_in_the_table(conn: Connection) -> None:
    sql = "SELECT tags, place, pinned, done FROM notes ORDER BY id"
    assert conn.all(sql) == [('["red","blue"]', '{"x":1,"y":2}', 1, 0), ("[]", None, 0, None)]


def test_one_is_the_first_row_or_none(conn: Connection) -> None:
    notes = Select(Note)
    assert notes.one(conn, "FROM notes WHERE id = ?", "b") == B
    assert notes.one(conn, "FROM notes WHERE id = ?", "c") is None


def test_each_gives_one_after_the_other(conn: Connection) -> None:
    found = Select(Note).each(conn, "FROM notes ORDER BY id DESC")
    assert next(found) == B
    assert next(found) == A


def test_a_struct_that_wants_keywords_gets_them(conn: Connection) -> None:
    found = Select(KeywordNote).one(conn, "FROM notes WHERE id = ?", "a")
    assert found == KeywordNote(id=NoteId("a"), tags=["red", "blue"])


def test_the_query_says_where_other_fields_come_from(conn: Connection) -> None:
    priced = Select(
        Priced, table="notes", author="authors.name", price=SqlColumn("cents", lambda cents: Decimal(cents) / 100)
    )
    found = priced.one(conn, "FROM notes JOIN authors ON authors.id = author WHERE notes.id = ?", "a")
    assert found == Priced(NoteId("a"), "Zoe", Decimal("1.5"))


def test_a_field_may_be_a_record_of_several_columns_or_what_a_function_makes_of_them(conn: Connection) -> None:
    def marked(kind: str, pinned: bool) -> str:
        return f"{kind}!" if pinned else kind

    both = Select(Both, kept=Select(KeywordNote), mark=Select(marked))
    wanted = [Both(KeywordNote(id=A.id, tags=A.tags), "long!", 150), Both(KeywordNote(id=B.id, tags=[]), "short", 150)]
    assert both.all(conn, "FROM notes ORDER BY id") == wanted
    assert list(both.each(conn, "FROM notes ORDER BY id")) == wanted


def test_a_column_for_which_there_is_no_field_is_refused() -> None:
    with pytest.raises(TypeError, match="Priced has no field prise"):
        Select(Priced, prise="cents")


def test_only_the_rows_that_are_meant_are_updated(conn: Connection) -> None:
    assert rows.update(conn, "notes", {"kind": "short", "tags": "[]"}, "id = ?", "a") == 1
    assert [note.tags for note in Select(Note).all(conn, "FROM notes")] == [[], []]
    assert rows.update(conn, "notes", {"kind": "long"}, "id = ?", "c") == 0


def test_a_value_is_the_first_column_of_the_first_row(conn: Connection) -> None:
    assert conn.value("SELECT id, kind FROM notes ORDER BY id") == "a"
    assert conn.value("SELECT id FROM notes WHERE id = 'c'") is None


def test_a_column_is_the_first_of_every_row(conn: Connection) -> None:
    assert conn.column("SELECT id, kind FROM notes ORDER BY id DESC") == ["b", "a"]
