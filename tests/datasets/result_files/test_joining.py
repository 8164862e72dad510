"""Answers in further files are joined by the ids of rows, and an id that does not fit is named."""

import pytest

from carrel.datasets.result_files.answers import AnswerTable, Unreadable
from carrel.datasets.result_files.joining import JoinedFile, join
from carrel.datasets.result_files.reading import read_table

QUESTIONS = JoinedFile("questions.csv", read_table("questions.csv", b"id;question\n1;Why?\n2;How?\n"))


def table(name: str, text: str, label: str | None = None) -> JoinedFile:
    return JoinedFile(name, read_table(name, text.encode()), label)


def joined(*others: JoinedFile) -> AnswerTable:
    return join(QUESTIONS, others, "id")


def test_answers_come_to_the_rows_with_their_ids_in_the_order_of_the_questions() -> None:
    gpt = table("gpt.csv", "id,gpt\n2,like this\n1,because\n")
    claude = table("claude.jsonl", '{"answer": "so", "id": 1}\n{"id": 2}\n', "claude")
    answers = joined(gpt, claude)
    assert (answers.id, answers.candidates) == ("id", ("gpt", "claude"))
    assert answers.rows == [
        {"id": "1", "question": "Why?", "gpt": "because", "claude": "so"},
        {"id": "2", "question": "How?", "gpt": "like this", "claude": None},
    ]
    # The files that came in are as they were.
    assert QUESTIONS.answers.columns == ["id", "question"]


def test_two_logs_give_one_candidate_each() -> None:
    rows: list[dict[str, str | None]] = [{"id": "1", "input": "Why?", "a": "so"}]
    others: list[dict[str, str | None]] = [{"id": "1", "input": "Why?", "b": "no"}]
    first = AnswerTable(rows=rows, id="id", inputs=("input",), candidates=("a",))
    second = AnswerTable(rows=others, id="id", inputs=("input",), candidates=("b",))
    both = join(JoinedFile("a.json", first), [JoinedFile("b.json", second)], None)
    assert (both.candidates, both.rows) == (("a", "b"), [{"id": "1", "input": "Why?", "a": "so", "b": "no"}])


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (table("a.csv", "id,gpt\n1,x\n"), "a.csv: the id '2' is missing"),
        (table("a.csv", "id,gpt\n5,x\n"), "a.csv: the id '1' and 1 more are missing"),
        (table("a.csv", "id,gpt\n1,x\n2,y\n3,z\n"), "questions.csv: the id '3' is missing"),
        (table("a.csv", "id,gpt\n1,x\n2,y\n1,z\n"), "a.csv: the id '1' is there twice, again in row 3"),
        (table("a.csv", "id,gpt\n1,x\n,y\n"), "a.csv: row 2 has no id"),
        (table("a.csv", "key,gpt\n1,x\n2,y\n"), "a.csv: the column id is missing"),
        (table("a.csv", "id\n1\n2\n"), "a.csv: there is no column with answers"),
        (table("a.csv", "id,question\n1,x\n2,y\n"), "question is in questions.csv, too; .* --with NAME=a.csv"),
        (table("a.csv", "id,b,c\n1,x,x\n2,y,y\n", "gpt"), "gpt cannot name 2 columns"),
    ],
)
def test_what_does_not_fit_is_named(other: JoinedFile, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        joined(other)


def test_tables_without_ids_cannot_be_joined() -> None:
    with pytest.raises(Unreadable, match="--with needs --id"):
        join(QUESTIONS, [QUESTIONS], None)


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("a.csv", b"id,gpt\n1,2,3\n", r"rows\[1\] has too many columns"),
        ("a.jsonl", b"{", r"rows\[1\] is not a JSON object"),
        ("a.csv", b"id,gpt\n", "the table has no rows"),
        ("a.xlsx", b"", "file is no spreadsheet"),
        ("a.xls", b"<html><table></table></html>", "file is no spreadsheet"),
        ("a.csv", b"PK\x03\x04", "file is damaged"),
        ("a.docx", b"", "only csv, tsv, jsonl, json, xlsx, xls and ods"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(name: str, body: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        read_table(name, body)
