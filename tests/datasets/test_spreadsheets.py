"""Spreadsheets come in as their programs show them, and no file takes more than a worker has."""

import httpx
import pytest

from carrel.datasets.result_files.answers import Unreadable
from carrel.datasets.result_files.reading import read_table
from tests.datasets.test_routes import DATA_SETS, faults_of, upload
from tests.support.host import code_of
from tests.support.spreadsheets import day, number, text, xlsx

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
    missing = await upload(ada, "a.xlsx", book, sheet="None")
    assert (missing.status_code, faults_of(missing)) == (400, {"sheet": "is not in the file"})


async def test_a_sheet_of_a_billion_cells_ends_the_worker_and_nothing_else(ada: httpx.AsyncClient) -> None:
    answer = await upload(ada, "a.xlsx", xlsx({"A": [[VAST]]}))
    assert (answer.status_code, code_of(answer)) == (400, "data-set-too-complex")
    assert (await upload(ada, "a.xlsx", xlsx({"A": SHEET}))).status_code == 201


def test_the_terminal_program_reads_a_spreadsheet_in_a_process_with_bounded_memory() -> None:
    table = read_table("a.xlsx", xlsx({"Prices": SHEET}))
    assert [list(row.values()) for row in table.rows] == [["Größe & Preis?", "0.3", "2026-05-01"], ["Why?", "3", None]]
    with pytest.raises(Unreadable, match="too much memory"):
        read_table("a.xlsx", xlsx({"A": [[VAST]]}))
