"""Spreadsheets come in as their programs show them, and no file takes more than a worker has."""

import httpx
import pytest

from carrel.datasets.cell_formats import of_one_file
from carrel.datasets.result_files.answers import Unreadable
from carrel.datasets.result_files.reading import read_table
from tests.datasets.test_routes import DATA_SETS, faults_of, upload
from tests.support.host import code_of
from tests.support.spreadsheets import EURO, PADDED, PERCENT, day, error, number, text, xlsx

SHEET = [
    [],
    [text(""), text("question"), text("price"), text("day"), text("")],
    [text(""), text("Größe &amp; Preis?"), number("0.30000000000000004", "0.1+0.2"), day(46143), text("")],
    [text(""), text("Why?"), number("3")],
    [text("")] * 5,
]
VAST = '<c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="XFD1048576"><v>1</v></c>'


async def rows_of(client: httpx.AsyncClient, answer: httpx.Response) -> list[dict[str, str | None]]:
    rows = (await client.get(f"{DATA_SETS}/{answer.json()['id']}/rows")).json()["items"]
    return [row["values"] for row in rows]


async def test_the_first_sheet_comes_in_as_it_is_seen_and_another_by_its_name(ada: httpx.AsyncClient) -> None:
    book = xlsx({"Prices": SHEET, "More": [[text("question")], [text("What?")]]})
    first = await upload(ada, "a.xlsx", book)
    assert first.status_code == 201, first.text
    assert (first.json()["format"], first.json()["notes"][0]) == ("xlsx", "Of 2 sheets, the first one was read.")
    assert await rows_of(ada, first) == [
        {"question": "Größe & Preis?", "price": "0.3", "day": "2026-05-01"},
        {"question": "Why?", "price": "3", "day": None},
    ]
    named = await upload(ada, "a.xlsx", book, sheet="More")
    assert await rows_of(ada, named) == [{"question": "What?"}]
    covered = await upload(ada, "a.xlsx", xlsx({"Cover": [], "More": [[text("question")], [text("What?")]]}))
    assert await rows_of(ada, covered) == [{"question": "What?"}]
    missing = await upload(ada, "a.xlsx", book, sheet="None")
    assert (missing.status_code, faults_of(missing)) == (400, {"sheet": "is not in the file"})


def test_numbers_look_as_their_formats_say_and_merged_cells_count_in_every_row() -> None:
    book = xlsx(
        {
            "A": [
                [text("Report of May"), text(""), text("")],
                [text("group"), text("value"), text("day")],
                [text("Fruit"), number("0.05", style=PERCENT), day(46143)],
                [text(""), number("1234", style=PADDED), error("#DIV/0!")],
                [text("Other"), number("1234.5", style=EURO), number("123456789012345678")],
            ]
        },
        merged="A1:C1 A3:A4 E3:E4",
    )
    assert [list(row.values()) for row in read_table("a.xlsx", book).rows] == [
        ["Fruit", "5%", "2026-05-01"],
        ["Fruit", "01234", "#DIV/0!"],
        ["Other", "1,234.50 €", "123456789012346000"],
    ]


def test_cells_that_say_where_they_are_look_the_same_in_long_sheets() -> None:
    rows = [[text("value"), text("fault"), text("rest")]]
    rows += [[number("0.05", style=PERCENT), error("#N/A"), number("1234", style=PADDED)] for _ in range(2_000)]
    placed = [
        [cell.replace("<c ", f'<c r="{column}{at}" ', 1) for column, cell in zip("BAC", row, strict=True)]
        for at, row in enumerate(rows, start=1)
    ]
    assert {tuple(row.values()) for row in read_table("a.xlsx", xlsx({"A": placed})).rows} == {("#N/A", "5%", "01234")}


SHOWN = {
    ("0.00", 2.675): "2.68",
    ("0.0#", 2.0): "2.0",
    ("0.00%", 0.1234): "12.34%",
    ("#,##0;(#,##0)", -1234): "(1,234)",
    ("0;[Red]-0", -3): "-3",
    ('0;-0;"none"', 0): "none",
    ("0.0", -0.01): "0.0",
    ('_-* #,##0.00\\ "€"_-;-* #,##0.00\\ "€"_-', -1234.5): "-1,234.50 €",
    ("[$£-809]#,##0", 1234567): "£1,234,567",
    ('0.0,,"M"', 2_500_000): "2.5M",
    ("000-0000", 1234567): "123-4567",
    ("# ?/?", 0.5): "0.5",
    ("0.00E+00", 0.00012): "0.00012",
    ("[>=100]0", 7): "7",
    ("[h]:mm", 0.5): "0.5",
    ("General", 0.1 + 0.2): "0.3",
    ('0"' + "x" * 300 + '"', 7): "7",
}


def test_a_merged_cell_without_text_beside_the_table_is_none_of_its_columns() -> None:
    left = [["<c/>", text("a"), text("b")], ["<c/>", text("1"), text("2")], ["<c/>", text("4"), text("")]]
    assert [list(row.values()) for row in read_table("a.xlsx", xlsx({"A": left}, "A2:A3")).rows] == [
        ["1", "2"],
        ["4", None],
    ]


@pytest.mark.parametrize("case", SHOWN, ids=str)
def test_a_number_is_shown_in_its_format_or_plainly(case: tuple[str, float]) -> None:
    code, value = case
    assert of_one_file()(value, code) == SHOWN[case]


async def test_a_sheet_of_a_billion_cells_ends_the_worker_and_nothing_else(ada: httpx.AsyncClient) -> None:
    answer = await upload(ada, "a.xlsx", xlsx({"A": [[VAST]]}))
    assert (answer.status_code, code_of(answer)) == (400, "data-set-too-complex")
    assert (await upload(ada, "a.xlsx", xlsx({"A": SHEET}))).status_code == 201


def test_the_terminal_program_reads_a_spreadsheet_in_a_process_with_bounded_memory() -> None:
    table = read_table("a.xlsx", xlsx({"Prices": SHEET}))
    assert [list(row.values()) for row in table.rows] == [["Größe & Preis?", "0.3", "2026-05-01"], ["Why?", "3", None]]
    with pytest.raises(Unreadable, match="too much memory"):
        read_table("a.xlsx", xlsx({"A": [[VAST]]}))
