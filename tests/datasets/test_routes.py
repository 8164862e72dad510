"""Tables over HTTP: what comes in, what stays, what goes out, and what is refused without a trace."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.datasets.readers import TableReaders
from tests.support.host import Host, code_of
from tests.support.spreadsheets import text, xlsx

DATA_SETS = "/api/data-sets"
TABLE = b"id,question,expected,topic\nq1,What is a carrel?,A desk,library\nq2,Who has the key?,The reader,keys\n"


async def upload(
    client: httpx.AsyncClient, file_name: str, body: bytes, path: str = DATA_SETS, **fields: str
) -> httpx.Response:
    return await client.post(path, files={"file": (file_name, body, "application/x")}, data=fields)


def faults_of(answer: httpx.Response) -> dict[str, str]:
    return {fault["path"]: fault["message"] for fault in answer.json().get("errors", [])}


async def kept(client: httpx.AsyncClient) -> int:
    return len((await client.get(DATA_SETS)).json()["items"])


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


async def test_a_data_set_lives_from_upload_to_deletion(ada: httpx.AsyncClient) -> None:
    answer = await upload(ada, "questions.csv", TABLE, name="Questions")
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["name"], made["format"], made["row_count"], made["version"]) == ("Questions", "csv", 2, 1)
    assert [(column["name"], column["role"]) for column in made["columns"]] == [
        ("id", "id"), ("question", "variable"), ("expected", "expected"), ("topic", "group")
    ]  # fmt: skip
    path = f"{DATA_SETS}/{made['id']}"
    read = await ada.get(path)
    assert {**read.json(), "notes": []} == made
    assert (await ada.get(DATA_SETS)).json() == {"items": [read.json()], "next_cursor": None}
    assert (await ada.get(f"{path}/rows", params={"limit": 1})).json()["items"] == [
        {
            "number": 1,
            "id": "q1",
            "values": {"id": "q1", "question": "What is a carrel?", "expected": "A desk", "topic": "library"},
        }
    ]
    assert (await ada.delete(path, headers={"If-Match": '"2.json"'})).status_code == 412
    assert (await ada.delete(path, headers={"If-Match": read.headers["etag"]})).status_code == 204
    for gone in (path, f"{path}/rows", f"{path}/versions"):
        assert ((await ada.get(gone)).status_code, code_of(await ada.get(gone))) == (404, "not-found")


async def test_rows_come_page_by_page_in_the_order_of_the_table(ada: httpx.AsyncClient) -> None:
    table = "question\n" + "".join(f"Question {number}\n" for number in range(1, 8))
    path = f"{DATA_SETS}/{(await upload(ada, 'q.csv', table.encode())).json()['id']}/rows"
    seen, cursor = [], None
    while True:
        page = (await ada.get(path, params={"limit": 3, **({"cursor": cursor} if cursor else {})})).json()
        seen += [(row["number"], row["id"], row["values"]["question"]) for row in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [(number, str(number), f"Question {number}") for number in range(1, 8)]


QUESTION = "Größe, bitte?"
SAME_TABLE = [
    ("a.csv", f'question,expected\n"{QUESTION}",=1+2\n'.encode()),
    ("bom.csv", f'\ufeffquestion,expected\r\n"{QUESTION}",=1+2\r\n'.encode()),
    ("excel.csv", f'question;expected\r\n"{QUESTION}";=1+2'.encode("utf-16")),
    ("big.csv", ("\ufeff" + f'question;expected\n"{QUESTION}";=1+2').encode("utf-16-be")),
    ("sep.csv", f"sep=;\nquestion;expected\n{QUESTION};=1+2\n\n".encode()),
    ("a.tsv", f"question\texpected\n{QUESTION}\t=1+2\n".encode()),
    ("a.jsonl", lines({"question": QUESTION, "expected": "=1+2"}) + b"\n"),
    ("a.json", json.dumps([{"question": QUESTION, "expected": "=1+2"}]).encode()),
]


async def test_whatever_program_wrote_the_table_it_is_the_same_and_formulas_stay_text(ada: httpx.AsyncClient) -> None:
    for name, body in SAME_TABLE:
        answer = await upload(ada, name, body)
        assert answer.status_code == 201, (name, answer.text)
        rows = (await ada.get(f"{DATA_SETS}/{answer.json()['id']}/rows")).json()["items"]
        assert [row["values"] for row in rows] == [{"question": QUESTION, "expected": "=1+2"}], name


async def test_cells_with_quotes_and_lines_and_nested_json_stay_as_they_are_written(ada: httpx.AsyncClient) -> None:
    quoted = await upload(ada, "a.csv", b'question,note\r\n"He said ""no"",\r\nand left",\r\n')
    row = (await ada.get(f"{DATA_SETS}/{quoted.json()['id']}/rows")).json()["items"][0]
    assert row["values"] == {"question": 'He said "no",\r\nand left', "note": None}
    nested = await upload(
        ada, "a.jsonl", b'{"question": "a", "meta": {"b": [1.50, true]}}\n{"question": "b", "more": "\\u00fc"}\n'
    )
    rows = (await ada.get(f"{DATA_SETS}/{nested.json()['id']}/rows")).json()["items"]
    assert [row["values"] for row in rows] == [
        {"question": "a", "meta": '{"b": [1.50, true]}', "more": None},
        {"question": "b", "meta": None, "more": "ü"},
    ]


CHAT = '[{"role": "user", "content": "Hi"}]'
NOT_UTF8 = "is neither UTF-8 nor UTF-16 with its mark; save it as UTF-8, in a spreadsheet program as “CSV UTF-8”"
TOO_EMPTY = {"file": "must have at most 100,000 empty lines"}
TOO_LONG = {"rows": "must have at most 2,097,152 characters each"}


def refused() -> list[tuple[str, bytes, int, str, dict[str, str]]]:
    return [
        ("a.csv", b"", 400, "data-set-empty", {}),
        ("a.csv", b"question\n", 400, "data-set-empty", {}),
        ("a.docx", b"PK\x03\x04", 415, "data-set-format-unsupported", {}),
        ("a.xlsx", b"PK\x03\x04", 400, "data-set-unreadable", {"file": "is damaged, or closed by a password"}),
        ("a.csv", b"\n", 400, "data-set-columns-invalid", {"columns": "are missing: the first line names them"}),
        ("a.csv", b"a,b,a\n1,2,3\n", 400, "data-set-columns-invalid", {"columns[3]": "has the name of column 1"}),
        (
            "a.jsonl",
            b'{"%b": 1}' % (b"x" * 101),
            400,
            "data-set-columns-invalid",
            {"rows[1].columns[1]": "has a name of more than 100 characters"},
        ),
        (
            "a.csv",
            b",".join(b"c%d" % i for i in range(201)) + b"\n",
            400,
            "data-set-columns-invalid",
            {"columns": "must be at most 200"},
        ),
        ("a.csv", b"a,b\n1,2,3\n", 400, "data-set-unreadable", {"rows[1]": "has too many columns: 3 instead of 2"}),
        ("a.csv", b'a,b\n1,"2\n', 400, "data-set-unreadable", {"rows[1]": "is not valid CSV: see the quotation marks"}),
        ("a.csv", "a\nПривет\n".encode("cp1251"), 400, "data-set-unreadable", {"file": NOT_UTF8}),
        ("a.jsonl", b'{"a": 1}\n[1]\n', 400, "data-set-unreadable", {"rows[2]": "is not a JSON object"}),
        ("a.jsonl", b'{"a": ' + b"[" * 100_000, 400, "data-set-unreadable", {"rows[1]": "is not a JSON object"}),
        ("a.json", b'{"a": 1}', 400, "data-set-unreadable", {"file": "is not a JSON array of objects"}),
        ("a.json", b'[{"a": 1}, {"a": 2} {"a": 3}]', 400, "data-set-unreadable",
         {"rows[2]": "is neither the last of the array nor followed by a comma"}),
        ("a.json", b'[{"a": 1}, {"a": 2', 400, "data-set-unreadable", {"rows[2]": "does not end"}),
        ("a.json", b'[{"a": 1}, {"a": x}]', 400, "data-set-unreadable", {"rows[2]": "is not a JSON object"}),
        ("a.jsonl", b'{"a": "\\u0000"}', 400, "data-set-rows-invalid",
         {"rows[1].a": "holds characters that are no text"}),
        ("a.csv", b"question,Long Name\na,b\nc," + b"x" * 1_100_000, 413, "data-set-cell-too-large",
         {"rows[2].columns[2]": "must have at most 1,048,576 bytes"}),
        ("a.csv", b"a\nx\n" + b"\n" * 100_001, 400, "data-set-unreadable", TOO_EMPTY),
        ("a.jsonl", b"\n" * 100_001, 400, "data-set-unreadable", TOO_EMPTY),
        ("a.csv", b"question\n" + b"x" * (10 << 20), 413, "data-set-row-too-large", TOO_LONG),
        ("a.csv", b'question\n"' + b"x\n" * (5 << 20), 413, "data-set-row-too-large", TOO_LONG),
        ("a.jsonl", b'{"a": "' + b"x" * (10 << 20), 413, "data-set-row-too-large", TOO_LONG),
        ("a.json", b'[{"a": "b"}, {"a": "' + b"x" * (10 << 20), 413, "data-set-row-too-large", TOO_LONG),
        ("a.csv", b"a,b\n" + b"," * 1_000_000, 400, "data-set-unreadable",
         {"rows[1]": "has too many columns: more than 2 instead of 2"}),
        ("a.csv", b"ab," * 500_000, 400, "data-set-columns-invalid", {"columns": "must be at most 200"}),
        ("a.json", b"[" + b"1," * 5_000_000 + b"1]", 400, "data-set-unreadable", {"rows[1]": "is not a JSON object"}),
        ("a.jsonl", b"{" + b",".join(b'"%05x":1' % number for number in range(150_000)) + b"}", 400,
         "data-set-unreadable", {"rows[1]": "must have at most 100,000 elements"}),
    ]  # fmt: skip


async def test_a_table_that_breaks_a_rule_is_refused_whole_and_the_error_names_row_and_column(
    ada: httpx.AsyncClient,
) -> None:
    for name, body, status, code, faults in refused():
        answer = await upload(ada, name, body)
        assert (answer.status_code, code_of(answer)) == (status, code), (name, body[:40], answer.text)
        assert faults_of(answer) == faults, (body[:40], answer.text)
    assert await kept(ada) == 0


CHOSEN = [
    ("a.csv", b"id,a\nx,1\ny,2\nx,3\n", {"id": "id"}, {"rows[3].id": "is the id of row 1, too"}),
    ("a.csv", b"a,b\nx,1\n,2\n,3\n", {"a": "id"}, {"rows[2].a": "is missing", "rows[3].a": "is missing"}),
    ("a.csv", b"id,question\nx,\n,y\n", {"id": "id", "question": "variable"},
     {"rows[1].question": "is missing", "rows[2].id": "is missing"}),
    ("a.jsonl", lines({"a": "x"}, {"question": "y"}), {"question": "variable"}, {"rows[1].question": "is missing"}),
    ("a.csv", b"chat\nhello\n", {"chat": "messages"},
     {"rows[1].chat": "must be a conversation: a JSON list of messages"}),
    ("a.csv", b"topic\n" + b"x" * 101, {"topic": "group"}, {"rows[1].topic": "must have at most 100 characters"}),
    ("a.jsonl", b'{"messages": [' + b"{}," * 50_000 + b"{}]}", {"messages": "messages"},
     {"rows[1].messages": "must have at most 10,000 elements"}),
]  # fmt: skip


async def test_a_role_that_was_chosen_has_to_fit(ada: httpx.AsyncClient) -> None:
    for name, body, roles, faults in CHOSEN:
        answer = await upload(ada, name, body, columns=json.dumps(roles))
        assert (answer.status_code, code_of(answer)) == (400, "data-set-rows-invalid"), (body[:40], answer.text)
        assert faults_of(answer) == faults, (body[:40], answer.text)
    assert await kept(ada) == 0


def unsuitable(column: str, role: str, message: str) -> str:
    return f"The column {column} is metadata, although its name suggests {role}: {message}."


NO_CHAT = "row 1 must be a conversation: a JSON list of messages"
HABITS: dict[str, tuple[str, list[str]]] = {
    "blankrows.csv": ("question:variable gpt:metadata claude:metadata", ["Left out 2 rows without any text."]),
    "commas.csv": ("question:variable gpt, warm:metadata gpt, cold:metadata", []),
    "conversation.jsonl": ("conversation:messages", []),
    "conv.csv": (
        "conversation:metadata question:variable gpt:metadata claude:metadata",
        [unsuitable("conversation", "messages", NO_CHAT)],
    ),
    "finetune.jsonl": (
        "messages:messages answer:output",
        ["Conversations end with an answer, which is also in the column answer."],
    ),
    "iddup.csv": (
        "id:metadata question:variable gpt:metadata claude:metadata",
        [unsuitable("id", "id", "row 2 is the id of row 1, too")],
    ),
    "nan.jsonl": ("question:variable score:metadata gpt:metadata claude:metadata", []),
    "pandas.csv": (
        "column 1:metadata question:variable gpt:metadata claude:metadata",
        ["Column 1 has no name and is called column 1."],
    ),
    "short.csv": (
        "question:variable gpt:metadata claude:metadata",
        ["1 row ends early: the cells behind are empty."],
    ),
    "tools.jsonl": ("messages:messages", []),
    "topiclong.csv": (
        "topic:metadata question:variable gpt:metadata claude:metadata",
        [unsuitable("topic", "group", "row 1 must have at most 100 characters")],
    ),
    "trail.csv": ("question:variable gpt:metadata claude:metadata", []),
    "utf16nobom.csv": ("question:variable gpt:metadata claude:metadata", []),
}
FILES = Path(__file__).with_name("files")


@pytest.mark.parametrize("name", HABITS)
async def test_a_table_as_people_have_it_is_taken_and_the_answer_says_how(ada: httpx.AsyncClient, name: str) -> None:
    answer = await upload(ada, name, (FILES / name).read_bytes())
    assert answer.status_code == 201, answer.text
    columns, notes = HABITS[name]
    assert " ".join(f"{column['name']}:{column['role']}" for column in answer.json()["columns"]) == columns
    assert answer.json()["notes"] == notes
    rows = (await ada.get(f"{DATA_SETS}/{answer.json()['id']}/rows")).json()["items"]
    assert [row["id"] for row in rows] == ["1", "2"][: len(rows)]
    assert rows[0]["values"].get("gpt", "a") == "a"


async def test_columns_without_a_name_are_left_out_only_where_they_hold_nothing(ada: httpx.AsyncClient) -> None:
    made = (await upload(ada, "a.csv", b"a,,c,,\n1,,3,,x\n,,,,\n4,,,,\n")).json()
    assert [column["name"] for column in made["columns"]] == ["a", "c", "column 5"]
    assert made["notes"] == [
        "Column 5 has no name and is called column 5.",
        "Left out 1 row without any text.",
        "Left out 2 empty columns without a name.",
    ]
    rows = (await ada.get(f"{DATA_SETS}/{made['id']}/rows")).json()["items"]
    assert [list(row["values"].values()) for row in rows] == [["1", "3", "x"], ["4", None, None]]


async def test_a_million_rows_are_too_many_and_the_error_says_how_many_may_be(ada: httpx.AsyncClient) -> None:
    answer = await upload(ada, "a.csv", b"a\n" + b"x\n" * 1_000_000)
    assert (answer.status_code, code_of(answer)) == (413, "data-set-too-many-rows")
    assert faults_of(answer) == {"rows": "must be at most 100000"}
    assert await kept(ada) == 0


async def test_the_first_faults_are_named_together(ada: httpx.AsyncClient) -> None:
    answer = await upload(ada, "a.csv", b"question,a\n" + b",x\n" * 50, columns='{"question": "variable"}')
    assert list(faults_of(answer)) == [f"rows[{number}].question" for number in range(1, 21)]


async def test_roles_are_chosen_at_the_upload(ada: httpx.AsyncClient) -> None:
    roles = json.dumps({"topic": "metadata", "question": "expected", "expected": "variable"})
    made = (await upload(ada, "q.csv", TABLE, roles=roles)).json()
    assert [column["role"] for column in made["columns"]] == ["id", "expected", "variable", "metadata"]


ROLES_REFUSED = [
    ('{"nothing": "variable"}', {"columns.nothing": "is missing in the file"}),
    ('{"question": "expected", "expected": "expected"}', {"columns[2].role": "is the role of another column"}),
    ('{"question": "asked"}', {"roles": "is not one of the allowed values"}),
    ("question", {"roles": "must be a JSON object"}),
]


async def test_roles_that_do_not_fit_are_refused(ada: httpx.AsyncClient) -> None:
    for roles, faults in ROLES_REFUSED:
        answer = await upload(ada, "q.csv", TABLE, roles=roles)
        assert (answer.status_code, faults_of(answer)) == (400, faults), roles
    assert await kept(ada) == 0


async def test_every_change_is_a_version_and_earlier_rows_stay_readable(ada: httpx.AsyncClient) -> None:
    made = (await upload(ada, "q.csv", TABLE)).json()
    path = f"{DATA_SETS}/{made['id']}"
    roles = [{**column, "role": "metadata"} if column["name"] == "topic" else column for column in made["columns"]]
    changed = await ada.put(path, json={**made, "name": "Other", "columns": roles})
    assert changed.status_code == 200, changed.text
    assert (changed.json()["version"], changed.json()["name"]) == (2, "Other")
    longer = TABLE + b"q3,And who not?,The host,keys\n"
    stale = await ada.post(f"{path}/versions", files={"file": ("q.csv", longer)}, headers={"If-Match": '"1.json"'})
    assert stale.status_code == 412
    latest = await upload(ada, "q.csv", longer, f"{path}/versions")
    assert latest.status_code == 201, latest.text
    assert (latest.json()["version"], latest.json()["row_count"], latest.json()["name"]) == (3, 3, "Other")
    # Roles stay with the names of columns.
    assert latest.json()["columns"][3] == {"name": "topic", "role": "metadata"}
    versions = (await ada.get(f"{path}/versions")).json()["items"]
    assert [(one["version"], one["row_count"]) for one in versions] == [(3, 3), (2, 2), (1, 2)]
    for version, count in ((1, 2), (2, 2), (3, 3)):
        rows = await ada.get(f"{path}/rows", params={"version": version})
        assert len(rows.json()["items"]) == count
    assert (await ada.get(f"{path}/rows", params={"version": 4})).status_code == 404
    refused = await upload(ada, "q.csv", b"id,question\nx,\n", f"{path}/versions")
    assert code_of(refused) == "data-set-rows-invalid"
    assert {**(await ada.get(path)).json(), "notes": []} == latest.json()


async def test_a_version_that_was_read_with_earlier_roles_is_refused(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = (await upload(ada, "q.csv", TABLE)).json()
    path, read = f"{DATA_SETS}/{made['id']}", TableReaders.read
    roles = [{**column, "role": "metadata"} if column["name"] == "topic" else column for column in made["columns"]]

    async def slowly(self: TableReaders, *given: Any) -> list[bytes]:
        table = await read(self, *given)
        assert (await ada.put(path, json={"name": "n", "columns": roles})).status_code == 200
        return table

    monkeypatch.setattr(TableReaders, "read", slowly)
    late = await upload(ada, "q.csv", TABLE, f"{path}/versions")
    assert (late.status_code, code_of(late)) == (412, "version-mismatch")
    assert (await ada.get(path)).json()["version"] == 2


async def test_any_column_can_be_the_id_also_later_and_earlier_versions_keep_theirs(ada: httpx.AsyncClient) -> None:
    made = (await upload(ada, "q.csv", b"id,question,code\n1,b,x\n2,a,y\n3,b,\n", roles='{"code": "metadata"}')).json()
    path = f"{DATA_SETS}/{made['id']}"

    async def ids(version: int) -> list[str]:
        return [row["id"] for row in (await ada.get(f"{path}/rows", params={"version": version})).json()["items"]]

    async def named_by(name: str | None) -> httpx.Response:
        columns = [
            {"name": one["name"], "role": "id" if one["name"] == name else "metadata"} for one in made["columns"]
        ]
        return await ada.put(path, json={"name": "n", "columns": columns})

    assert faults_of(await named_by("question")) == {"rows[3].question": "is the id of row 1, too"}
    assert faults_of(await named_by("code")) == {"rows[3].code": "is missing"}
    assert (await named_by(None)).json()["version"] == 2
    longer = await upload(ada, "q.csv", b"id,question,code\n1,a,x\n2,b,y\n", f"{path}/versions", roles='{"code": "id"}')
    assert longer.json()["version"] == 3
    assert (await named_by("question")).json()["version"] == 4
    assert [await ids(version) for version in (1, 2, 3, 4)] == [
        ["1", "2", "3"], ["1", "2", "3"], ["x", "y"], ["a", "b"]
    ]  # fmt: skip
    assert (await ada.delete(path)).status_code == 204


async def test_a_preview_says_what_a_file_would_become_and_keeps_nothing(ada: httpx.AsyncClient) -> None:
    sheets = {"Prices": [[text("question"), text("topic")], [text("What?"), text("t" * 1_100)]], "More": [[text("a")]]}
    seen = await upload(ada, "a.xlsx", xlsx(sheets), f"{DATA_SETS}/preview")
    assert (seen.status_code, seen.json()) == (
        200,
        {
            "format": "xlsx",
            "sheets": ["Prices", "More"],
            "columns": [{"name": "question", "role": "variable"}, {"name": "topic", "role": "metadata"}],
            "row_count": 1,
            "rows": [{"number": 1, "id": "1", "values": {"question": "What?", "topic": "t" * 200}}],
            "notes": [
                "Of 2 sheets, the first one was read.",
                unsuitable("topic", "group", "row 1 must have at most 100 characters"),
            ],
            "source": "table",
            "checks": [],
        },
    )
    chosen = await upload(ada, "a.csv", b"a,,b\n1,,2\n3,,4\n5,,6\n", f"{DATA_SETS}/preview", roles='{"b": "output"}')
    assert [column["role"] for column in chosen.json()["columns"]] == ["metadata", "output"]
    assert (chosen.json()["row_count"], [row["values"]["b"] for row in chosen.json()["rows"]]) == (3, ["2", "4", "6"])
    wrong = await upload(ada, "a.csv", b"a,b\n1,\n", f"{DATA_SETS}/preview", roles='{"b": "variable"}')
    assert (wrong.status_code, faults_of(wrong)) == (400, {"rows[1].b": "is missing"})
    assert await kept(ada) == 0


PROMPTFOO = json.dumps(
    {
        "results": {
            "version": 3,
            "results": [
                {
                    "testIdx": test,
                    "promptIdx": prompt,
                    "vars": {"q": f"Question {test}"},
                    "provider": {"id": f"openai:{'ab'[prompt]}"},
                    "prompt": {"raw": "r", "label": "l"},
                    "response": {"output": f"{prompt} says {test}"},
                    "score": prompt,
                    "testCase": {"assert": [{"type": "equals"}]},
                }
                for test in (0, 1)
                for prompt in (0, 1)
            ],
        }
    }
).encode()
LOG = Path(__file__).parent / "result_files/files/inspect-zstd.eval"
RESULTS = [
    ("out.json", PROMPTFOO, "promptfoo", {"test": "id", "q": "variable", "openai:a": "output", "openai:b": "output"}),
    ("log.eval", LOG.read_bytes(), "inspect", {"id": "id", "input": "variable", "fake/one": "output"}),
    ("q.csv", TABLE, "table", {"id": "id", "question": "variable", "topic": "group"}),
]


@pytest.mark.parametrize(("name", "body", "source", "roles"), RESULTS, ids=[name for name, *_ in RESULTS])
async def test_results_of_a_program_are_a_table_of_finished_answers(
    ada: httpx.AsyncClient, name: str, body: bytes, source: str, roles: dict[str, str]
) -> None:
    seen = await upload(ada, name, body, f"{DATA_SETS}/preview", source="guess")
    assert (seen.status_code, seen.json()["source"]) == (200, source), seen.text
    found = {column["name"]: column["role"] for column in seen.json()["columns"]}
    assert {column: found[column] for column in roles} == roles
    graded = [check["columns"] for check in seen.json()["checks"]]
    assert set(found) >= {column for columns in graded for column in columns.values()}
    assert bool(graded) == (source != "table")
    made = await upload(ada, name, body, source=source, roles=json.dumps({"q": "metadata"} if "q" in roles else {}))
    assert (made.status_code, made.json()["row_count"]) == (201, 2), made.text
    assert ("q", "metadata") in [(one["name"], one["role"]) for one in made.json()["columns"]] or "q" not in roles


ALL_RESULTS = "several files have to be results of a program, all of them, or tables"


@pytest.mark.parametrize(
    ("first", "second", "roles", "outputs", "asked", "answer"),
    [
        ("id,question,answer,score\n1,Why?,a,1\n2,How?,b,0", "id,question,answer,score\n2,How?,c,0\n1,Why?,d,1", {},
         ["answer", "gpt"], "question", "d"),
        ("n,question\n1,Why?\n2,How?", "n,claude,gpt 5\n1,a,b\n2,c,d", {}, ["claude", "gpt 5"], "question", "b"),
        ("q,answer\nWhy?,a\nHow?,b", "q,answer\nWhy?,c\nHow?,d", {}, ["answer", "gpt"], "q", "c"),
        ("k,q,answer,score\n1,Why?,a,1\n2,How?,b,0", "k,q,answer,score\n1,Why?,c,0\n2,How?,d,0",
         {"k": "id", "q": "variable", "answer": "output"}, ["answer", "gpt"], "q", "c"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("source", ["guess", "table"])
async def test_tables_of_several_models_are_joined_by_the_column_with_the_same_ids(
    ada: httpx.AsyncClient,
    first: str,
    second: str,
    roles: dict[str, str],
    outputs: list[str],
    asked: str,
    answer: str,
    source: str,
) -> None:
    files = [("file", (name, body, "text/csv")) for name, body in (("a.csv", first), ("gpt.csv", second))]
    sent = {"source": source, "roles": json.dumps(roles)}
    seen = (await ada.post(f"{DATA_SETS}/preview", files=files, data=sent)).json()
    found = {column["name"]: column["role"] for column in seen["columns"]}
    assert (seen["row_count"], [name for name, role in found.items() if role == "output"]) == (2, outputs), seen
    assert roles == {} or found[asked] == "variable"
    assert seen["rows"][0]["values"][outputs[1]] == answer
    made = await ada.post(DATA_SETS, files=files, data=sent | {"roles": json.dumps({asked: "variable"} | roles)})
    assert (made.status_code, made.json()["row_count"]) == (201, 2), made.text


async def test_logs_of_two_models_are_joined_by_their_samples(ada: httpx.AsyncClient) -> None:
    files = [("file", (name, LOG.read_bytes(), "application/x")) for name in ("one.eval", "two.eval")]
    seen = await ada.post(f"{DATA_SETS}/preview", files=files, data={"source": "guess"})
    outputs = [column["name"] for column in seen.json()["columns"] if column["role"] == "output"]
    assert (outputs, list(seen.json()["checks"][0]["columns"])) == (["fake/one", "two"], ["fake/one", "two"])
    for more, source, message in (
        (
            [("file", (name, body, "text/csv")) for name, body in (("a.csv", "id,q\n1,a\n"), ("b.csv", "id,q\n2,b\n"))],
            "guess",
            "no column has the same ids in each file",
        ),
        (files * 6, "guess", "must be sent at most 10 times"),
        (
            [files[0], ("file", ("q.csv", TABLE, "text/csv"))],
            "guess",
            ALL_RESULTS,
        ),
    ):
        answer = await ada.post(DATA_SETS, files=more, data={"source": source})
        assert (answer.status_code, faults_of(answer)) == (400, {"file": message}), answer.text


async def test_what_no_program_wrote_is_refused_as_a_file_of_results(ada: httpx.AsyncClient) -> None:
    for name, body, source, status, faults in (
        ("a.eval", LOG.read_bytes(), "table", 415, {}),
        ("a.eval", b"PK", "guess", 400, {"file": "is no file of results that Carrel can read"}),
        ("a.yaml", b"a: &a [*a]", "guess", 400, {"file": "the file has too many values"}),
        ("a.json", b'{"a": 1}', "promptfoo", 400, {
            "file": "results.results is missing: this is no results file of promptfoo"
        }),
        ("a.csv", TABLE, "word", 400, {
            "source": "must be one of: table, promptfoo, inspect, langfuse, openai, lm-eval, deepeval, ragas, guess"
        }),
    ):  # fmt: skip
        answer = await upload(ada, name, body, source=source)
        assert (answer.status_code, faults_of(answer)) == (status, faults), answer.text


async def test_a_change_keeps_the_columns_of_the_table(ada: httpx.AsyncClient) -> None:
    made = (await upload(ada, "q.csv", TABLE)).json()
    path, columns = f"{DATA_SETS}/{made['id']}", made["columns"]

    def role(place: int, role: str) -> list[dict[str, str]]:
        return [{**one, "role": role} if index == place else one for index, one in enumerate(columns)]

    for wanted, faults in (
        (columns[1:], {"columns": "must be the columns of the table, in their order"}),
        (role(3, "expected"), {"columns[3].role": "is the role of another column"}),
        (role(3, "messages"), {
            f"rows[{row}].topic": "must be a conversation: a JSON list of messages"
            for row in (1, 2)
        }),
    ):  # fmt: skip
        answer = await ada.put(path, json={"name": "n", "columns": wanted})
        assert (answer.status_code, faults_of(answer)) == (400, faults), answer.text
    assert {**(await ada.get(path)).json(), "notes": []} == made


async def test_a_form_without_a_file_or_with_more_than_ours_is_bad_input(ada: httpx.AsyncClient) -> None:
    for files, faults in (
        ({"name": (None, b"n")}, {"file": "is required"}),
        ({"file": ("a.csv", TABLE), "more": (None, b"x")}, {"more": "is not a known field"}),
        ({"name": (None, b""), "file": ("a.csv", TABLE)}, {"name": "must have 1 to 200 characters"}),
        ({"name": (None, b"\xff"), "file": ("a.csv", TABLE)}, {"name": "must be UTF-8"}),
        ({"name": (None, b"a\0"), "file": ("a.csv", TABLE)}, {"name": "holds characters that are no text"}),
        ({"name": (None, b"n" * 70_000), "file": ("a.csv", TABLE)}, {"name": "is too long"}),
        ([("file", ("a.csv", TABLE))] * 2, {"file": "a.csv: there is no column with answers"}),
    ):
        answer = await ada.post(DATA_SETS, files=files)
        assert (answer.status_code, faults_of(answer)) == (400, faults)
    too_large = await upload(ada, "a.csv", b"x" * (26 << 20))
    assert (too_large.status_code, code_of(too_large)) == (413, "upload-too-large")
    assert await kept(ada) == 0


async def test_the_same_upload_under_one_key_is_kept_once(ada: httpx.AsyncClient) -> None:
    ada.headers["Idempotency-Key"] = "k"
    first, again = await upload(ada, "q.csv", TABLE), await upload(ada, "q.csv", TABLE)
    assert (first.status_code, again.status_code, first.json()) == (201, 201, again.json())
    assert await kept(ada) == 1


async def test_data_sets_of_others_are_not_there(ada: httpx.AsyncClient, host: Host) -> None:
    made = (await upload(ada, "q.csv", TABLE)).json()
    eve = await host.signed_in("eve")
    for suffix in ("", "/rows", "/versions"):
        assert (await ada.get(f"{DATA_SETS}/{made['id']}{suffix}", headers=eve)).status_code == 404
