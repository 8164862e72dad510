"""Pages over real rows."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.kit.sqlite import database, paging
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import InvalidCursor, Page, Paging
from carrel.kit.sqlite.rows import Select
from tests.support.clock import FakeClock


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Connection]:
    conn = database.create(tmp_path / "rows.db", bytes(32), clock=FakeClock(), new_id=lambda: "id")
    conn.execute("CREATE TABLE rows (seq INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT, kind TEXT) STRICT")
    yield conn
    conn.close()


def add(conn: Connection, *texts: str, kind: str = "a") -> None:
    for text in texts:
        conn.run("INSERT INTO rows (text, kind) VALUES (?, ?)", text, kind)


class Written(NamedTuple):
    text: str


TEXTS = Select(Written)


def text_of(row: Written) -> str:
    return row.text


def page(conn: Connection, limit: int, cursor: str | None, *, ascending: bool = False) -> Page[str]:
    asked = Paging(limit, None if cursor is None else paging.decode(cursor))
    return paging.fetch(conn, asked, TEXTS, "FROM rows", ascending=ascending).map(text_of)


def test_pages_go_through_every_row_once_newest_first(conn: Connection) -> None:
    add(conn, *"abcde")
    first = page(conn, 2, None)
    second = page(conn, 2, first.next_cursor)
    third = page(conn, 2, second.next_cursor)
    assert [first.items, second.items, third.items] == [["e", "d"], ["c", "b"], ["a"]]
    assert third.next_cursor is None


@pytest.mark.parametrize("ascending", [False, True])
def test_a_page_of_long_rows_ends_early_and_the_next_goes_on(conn: Connection, ascending: bool) -> None:
    size = paging.PAGE_BYTES // 3 + 1
    texts = [letter * size for letter in "abcdefg"] + ["z" * 2 * paging.PAGE_BYTES]
    add(conn, *texts)
    found, sizes, cursor = list[str](), list[int](), None
    while True:
        part = page(conn, 200, cursor, ascending=ascending)
        found += part.items
        sizes.append(len(part.items))
        cursor = part.next_cursor
        if cursor is None:
            break
    assert found == (texts if ascending else texts[::-1])
    assert sizes == ([3, 3, 2] if ascending else [1, 3, 3, 1])


def test_a_full_last_page_has_no_next_one(conn: Connection) -> None:
    add(conn, *"ab")
    assert page(conn, 2, None).next_cursor is None
    assert page(conn, 2, None, ascending=True).items == ["a", "b"]


def test_rows_that_come_and_go_in_between_shift_nothing(conn: Connection) -> None:
    add(conn, *"abcd")
    first = page(conn, 2, None)
    add(conn, "e", "f")
    conn.run("DELETE FROM rows WHERE text = 'c'")
    assert page(conn, 2, first.next_cursor).items == ["b", "a"]


def test_a_page_can_be_filtered_and_oldest_first(conn: Connection) -> None:
    add(conn, *"abc")
    add(conn, *"xyz", kind="b")
    source = "FROM rows WHERE kind = ?"
    first = paging.fetch(conn, Paging(2), TEXTS, source, "b", ascending=True).map(text_of)
    assert first.items == ["x", "y"]
    assert first.next_cursor is not None
    rest = Paging(2, paging.decode(first.next_cursor))
    second = paging.fetch(conn, rest, TEXTS, source, "b", ascending=True).map(text_of)
    assert second.items == ["z"]


def test_an_empty_list_is_an_empty_page(conn: Connection) -> None:
    assert page(conn, 2, None) == Page([], None)


@given(st.integers(0, 2**63 - 1))
@settings(max_examples=50)
def test_a_cursor_comes_back_and_shows_no_text(seq: int) -> None:
    cursor = paging.encode(seq)
    assert paging.decode(cursor) == seq
    assert len(cursor) == 14


@given(st.text(max_size=30) | st.binary(max_size=12).map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
@settings(max_examples=200)
def test_whatever_is_no_cursor_is_refused(text: str) -> None:
    try:
        seq = paging.decode(text)
    except InvalidCursor:
        return
    assert paging.encode(seq) == text


def test_a_mistyped_cursor_is_refused() -> None:
    cursor = paging.encode(1234)
    for index, character in enumerate(cursor):
        with pytest.raises(InvalidCursor):
            paging.decode(cursor[:index] + ("A" if character != "A" else "B") + cursor[index + 1 :])
