"""Reading a table takes the memory of a row, whatever the file is made of and however its bytes come."""

import csv
import io
import json
import tracemalloc
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.datasets import csv_rows, reading
from carrel.datasets.refusals import RowsInvalid, TableUnreadable, TooManyRows
from carrel.datasets.schemas import Format, Role
from carrel.datasets.table import cell_fault
from carrel.errors import CarrelError
from tests.support.spreadsheets import text, xlsx
from tests.support.tables import hostile, uploaded

LONGEST = 250_000
SIZE = 3_000_000
HOSTILE = hostile(SIZE)


def pieces(body: bytes, size: int = 64 * 1024) -> Iterator[bytes]:
    return (body[start : start + size] for start in range(0, len(body), size))


@pytest.mark.parametrize("shape", HOSTILE)
def test_a_hostile_table_is_refused_in_the_memory_of_a_row(shape: str) -> None:
    kind, make = HOSTILE[shape]
    body = make()
    tracemalloc.start()
    try:
        with pytest.raises(CarrelError):
            list(reading.read(kind, pieces(body), LONGEST).rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # A row as text, once more as the CSV reader holds it, four bytes a character, and as cells.
    assert peak < 12 * LONGEST


def test_many_rows_take_the_memory_of_a_few() -> None:
    body = b"".join(b'{"id":%d,"text":"%.200d"}\n' % (number, number) for number in range(20_000))
    tables: dict[Format, bytes] = {"jsonl": body, "json": b"[" + body[:-1].replace(b"\n", b",") + b"]"}
    for kind, table in tables.items():
        tracemalloc.start()
        count = len([None for _ in reading.read(kind, pieces(table), LONGEST).rows])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == 20_000
        assert peak < 1_500_000, kind


LONG = "How satisfied are you? " * 5
ROWS = [["1", "2"], ["3", "4"]]
Q_A = (["q", "a"], ROWS)
HABITS: dict[str, tuple[Format, str | bytes, tuple[list[str], list[list[str]]]]] = {
    "files put together": ("csv", "\ufeffq,a\n1,2\n\ufeff3,4\n", Q_A),
    "old Macs": ("csv", "q,a\r1,2\r3,4\r", Q_A),
    "empty lines before the names": ("csv", "\n \nq,a\n1,2\n\n3,4\n", Q_A),
    "spaces behind commas": ("csv", 'q, a\n1, "2"\n3, 4\n', Q_A),
    "commas in names": ("csv", "q, in short;a, in short\n1;2\n", (["q, in short", "a, in short"], ROWS[:1])),
    "a title": ("csv", "Report,,\n,,\nq,a,b\n1,2,3\n", (["q", "a", "b"], [["1", "2", "3"]])),
    "titles": ("csv", "Report,,\nMay,,\n,,\nq,a,b\n1,2,3\n", (["q", "a", "b"], [["1", "2", "3"]])),
    "titles above an empty line": ("csv", "Report\nMay 2026\n\nq;a;b\n1;2;3\n", (["q", "a", "b"], [["1", "2", "3"]])),
    "texts of one column": ("csv", "q\n\nWhy?\nHow\n", (["q"], [["Why?"], ["How"]])),
    "a separator in quotation marks": ("csv", '"sep=|"\nq|a\n1|2\n', (["q", "a"], ROWS[:1])),
    "a tab that is named": ("csv", "sep=\t\nq\ta\n1\t2\n", (["q", "a"], ROWS[:1])),
    "CSV that is called a spreadsheet": ("xls", "q\ta\n1\t2\n", (["q", "a"], ROWS[:1])),
    "a spreadsheet that is called CSV": ("csv", xlsx({"A": [[text("q")], [text("1")]]}), (["q"], [["1"]])),
    "keys without a name": ("jsonl", '{"":"1","a":"2"}\n{}\n{"":"3","a":"4"}', (["column 1", "a"], ROWS)),
    "keys that come twice": ("jsonl", '{"q":"0","a":"2","q":"1"}', (["q", "a"], ROWS[:1])),
    "a name of a first column only": ("csv", "q,,\n1,2,3\n", (["q", "column 2", "column 3"], [["1", "2", "3"]])),
    "long names": ("csv", f"{LONG},{LONG}x\n1,2\n", ([f"{LONG[:96]}…", f"{LONG[:96]}…2"], ROWS[:1])),
    "UTF-16 of Japanese without its mark": (
        "csv",
        "質問,回答\n大きさは何ですか,はい\n".encode("utf-16-le"),
        (["質問", "回答"], [["大きさは何ですか", "はい"]]),
    ),
    "Excel in Western Europe": ("csv", "q;a\nGröße;5 €\n".encode("cp1252"), (["q", "a"], [["Größe", "5 €"]])),
    "lines of nothing": ("jsonl", '{"q":"1","a":"2"}\nnull\n\n\ufeff{"q":"3","a":"4"}', Q_A),
    "lines of old Macs": ("jsonl", '{"q":"1","a":"2"}\r{"q":"3","a":"4"}\r', Q_A),
    "an array among lines": ("jsonl", '\ufeff[{"q":"1","a":"2"},\n{"q":"3","a":"4"}]', Q_A),
    "lines called JSON": ("json", '{"q":"1","a":"2"}\n{"q":"3",\n"a":"4"}\n', Q_A),
    "an array with nothing in it": ("json", '[{"q":"1","a":"2"},null,{"q":"3","a":"4"}]', Q_A),
}


@pytest.mark.parametrize("habit", HABITS)
def test_tables_are_read_as_people_have_them(habit: str) -> None:
    kind, body, right = HABITS[habit]
    table = reading.read(kind, [body.encode() if isinstance(body, str) else body], LONGEST)
    rows = list(table.rows)
    assert (table.columns, rows) == right


def test_what_was_guessed_or_may_have_been_forgotten_is_told() -> None:
    hidden = xlsx({"A": [[text("q")], *([text(one)] for one in "1234")]}, hidden=3)
    for kind, body, note in (
        ("csv", "q\nGröße\n".encode("cp1252"), "The file is not in UTF-8; it was read as Windows-1252, as Excel"),
        ("xlsx", hidden, "Read 3 rows that the sheet hides, too."),
    ):
        table = reading.read(msgspec.convert(kind, Format), [body], LONGEST)
        assert len(list(table.rows)) in (1, 4)
        assert table.notes[0].startswith(note)


def test_what_a_row_of_json_says_twice_and_what_is_no_text_is_told() -> None:
    table = reading.read("jsonl", [b'{"a":"\\"a\\" or \\"a\\"","b":1}\n{"a":1,"a":2}'], LONGEST)
    assert len(list(table.rows)) == 2
    assert table.notes == ["1 row names a column twice: the last value counts."]
    # Python makes no number of so many digits, and none is needed.
    table = reading.read("jsonl", [b'{"a":1,"a":%b}' % (b"9" * 5_000)], LONGEST)
    assert list(table.rows) == [["9" * 5_000]]
    with pytest.raises(TableUnreadable) as raised:
        list(reading.read("jsonl", [b'{"a":"\\ud83d"}'], LONGEST).rows)
    assert raised.value.errors[0].message == "holds characters that are no text"


@pytest.mark.parametrize("body", ["[nul]", "[none]", '{"a":1}x', '{"a":1}{"a":2},'])
def test_what_is_nearly_json_is_refused(body: str) -> None:
    with pytest.raises(CarrelError):
        list(reading.read("json", [body.encode()], LONGEST).rows)


def test_a_wide_table_may_have_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.datasets.table.MAX_CELLS", 10)
    with pytest.raises(TooManyRows) as raised:
        uploaded(b"a,b,c\n" + b"x,,\n" * 4)
    assert [fault.message for fault in raised.value.errors] == ["must be at most 3"]


texts = st.text(st.sampled_from('ab ,;"\n\r\\{}[]é\U0001f600'), max_size=12)
sizes = st.integers(1, 9)


tables = st.lists(st.lists(texts, min_size=3, max_size=3), min_size=1, max_size=6)


def require_read(rows: list[list[str]], size: int, encoding: str = "utf-8") -> None:
    """The rows come out of a CSV file that comes in pieces of this size."""
    written = io.StringIO()
    csv.writer(written).writerows([["x", "y", "z"], *rows])
    table = reading.read("csv", pieces(written.getvalue().encode(encoding), size), LONGEST)
    assert table.columns == ["x", "y", "z"]
    assert list(table.rows) == [[cell or None for cell in row] for row in rows if any(row)]


@given(tables, sizes, st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_a_csv_in_pieces_has_the_rows_that_were_written(rows: list[list[str]], size: int, encoding: str) -> None:
    require_read(rows, size, encoding)


@given(tables)
def test_counting_cells_refuses_no_row_that_has_as_many_as_it_may(rows: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(csv_rows, "MAX_ROW_ELEMENTS", 0)
        require_read(rows, 1_000)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.sampled_from("abc"), values, min_size=1), max_size=5), sizes, st.booleans())
def test_an_array_in_pieces_has_the_rows_of_the_same_lines(
    rows: list[dict[str, object]], size: int, indented: bool
) -> None:
    array = json.dumps(rows, indent=2 if indented else None, ensure_ascii=False).encode()
    lines = b"\n".join(msgspec.json.format(msgspec.json.encode(row), indent=0) for row in rows)
    found, expected = (reading.read("json", pieces(array, size), LONGEST), reading.read("jsonl", [lines], LONGEST))
    cells, others = list(found.rows), list(expected.rows)
    assert found.columns == expected.columns
    assert [list(map(compact, row)) for row in cells] == [list(map(compact, row)) for row in others]


def compact(cell: str | None) -> str | None:
    """A cell without the spaces of its JSON."""
    return cell and "".join(cell.split())


@given(st.text(st.sampled_from('[]{},:"\\ 1a'), max_size=12), sizes)
def test_whatever_an_array_is_made_of_it_is_read_or_refused(inner: str, size: int) -> None:
    body = f'[{{"a":{inner}}}]'.encode()
    try:
        decoded = msgspec.json.decode(body, type=list[dict[str, object]])
    except msgspec.DecodeError:
        decoded = None
    try:
        found = len(list(reading.read("json", pieces(body, size), LONGEST).rows))
    except CarrelError:
        found = None
    assert found == (None if decoded is None else len(decoded))


@pytest.mark.parametrize("filler", ["", f',"b":"{"x" * 20_000}"'], ids=["small", "large"])
def test_of_a_sparse_table_no_empty_cell_is_looked_at(filler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []

    def recorded(role: Role, cell: str | None) -> str | None:
        checked.append(cell)
        return cell_fault(role, cell)

    monkeypatch.setattr("carrel.datasets.table.cell_fault", recorded)
    rows = b"".join(b'{"c%d":1%b}\n' % (number % 50, filler.encode()) for number in range(200))
    uploaded(rows, kind="jsonl")
    # The first row is looked at again when another one adds columns.
    assert len(checked) < 500
    with pytest.raises(RowsInvalid):
        uploaded(rows + b'{"c1":"\\u0000"}\n', kind="jsonl")


@pytest.mark.parametrize("role", ["id", "variable", "messages"])
def test_a_cell_that_every_row_needs_is_checked_although_it_is_empty(role: Role) -> None:
    with pytest.raises(RowsInvalid) as raised:
        uploaded(b'{"a":"x"}\n{"a":"y","b":"1"}\n{"a":"z"}\n', {"b": role}, kind="jsonl")
    faults = [(fault.path, fault.message) for fault in raised.value.errors if fault.message == "is missing"]
    assert [path.split(".")[0] for path, _ in faults] == ["rows[1]", "rows[3]"]
