"""The zip that an export is, and what may stand in it."""

import csv
import gc
import io
import random
import re
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.reports.archive import PIECE_BYTES, Archive, ExportTooLarge, csv_rows
from carrel.runs.model.names import answer_name, file_name


def packed(*entries: tuple[str, bytes]) -> bytes:
    made = Archive()
    pieces = []
    for name, body in entries:
        made.add(name, body)
        pieces += made.pieces()
    made.close()
    return b"".join(pieces + made.pieces())


def test_an_archive_holds_what_was_put_in() -> None:
    with zipfile.ZipFile(io.BytesIO(packed(("a.txt", b"one"), ("größe/ß.md", b"two")))) as found:
        assert found.testzip() is None
        assert {info.filename: found.read(info) for info in found.infolist()} == {"a.txt": b"one", "größe/ß.md": b"two"}
        assert {info.date_time for info in found.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_same_entries_are_the_same_bytes() -> None:
    assert packed(("a", b"1" * 5000), ("b", b"2")) == packed(("a", b"1" * 5000), ("b", b"2"))


def test_an_entry_can_be_written_bit_by_bit() -> None:
    made = Archive()
    made.begin("rows")
    for _ in range(3):
        made.write(b"row\n")
        assert made.pieces() == []
    made.end()
    made.close()
    with zipfile.ZipFile(io.BytesIO(b"".join(made.pieces()))) as found:
        assert found.read("rows") == b"row\n" * 3


def test_an_archive_that_is_broken_off_in_an_entry_is_forgotten_without_a_word() -> None:
    made = Archive()
    made.begin("rows")
    made.write(b"row\n")
    del made
    gc.collect()


def test_a_great_archive_comes_out_in_pieces_of_one_size() -> None:
    made = Archive()
    noise = random.Random(7).randbytes(PIECE_BYTES)
    pieces = []
    for number in range(3):
        made.add(str(number), noise)
        pieces += made.pieces()
    made.close()
    pieces += made.pieces()
    assert {len(piece) for piece in pieces[:-1]} == {PIECE_BYTES}
    assert 0 < len(pieces[-1]) <= PIECE_BYTES
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as found:
        assert found.read("2") == noise


def test_more_than_an_export_may_have_is_refused() -> None:
    made = Archive(room=10)
    made.add("a", b"12345")
    with pytest.raises(ExportTooLarge):
        made.add("b", b"123456")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Quarterly report", "Quarterly-report"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\x", "C-x"),
        ("a/b\0c\nd", "a-b-c-d"),
        ("...", ""),
        ("Größe 3.md", "Größe-3.md"),
        ("\u202egpj.exe", "gpj.exe"),
        ("<script>", "script"),
        ("x" * 300, "x" * 60),
    ],
)
def test_a_name_keeps_letters_and_digits(text: str, name: str) -> None:
    assert file_name(text) == name


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_no_name_leads_elsewhere(text: str) -> None:
    name = file_name(text)
    assert "/" not in name
    assert "\\" not in name
    assert ".." not in name.split("-")
    assert not name.startswith((".", "-"))
    assert name.isprintable()
    name.encode()


@pytest.mark.parametrize(
    "attack", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", '=HYPERLINK("https://x","y")']
)
def test_no_cell_is_a_formula(attack: str) -> None:
    (row,) = csv.reader(io.StringIO(csv_rows([[attack, "plain"]]).decode(), newline=""))
    assert row[0].startswith("'")
    assert [cell.replace("'", "") for cell in row] == [attack, "plain"]


@pytest.mark.parametrize("attack", ["a;=1", "a; +1", "a\n=1", "a\r\n\t @1", "a\t-1", ";;=1", "a\n\n;\n=1"])
def test_no_part_of_a_cell_is_a_formula_where_a_semicolon_divides_cells(attack: str) -> None:
    text = csv_rows([["x", attack]]).decode()
    cells = [cell.strip().strip('"') for row in text.splitlines() for cell in re.split("[;\t]", row)]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_a_text_of_breaks_alone_takes_no_time() -> None:
    text = "\n" * 1_000_000
    assert csv_rows([[text]]) == f'"\'{text}"\r\n'.encode()


def test_numbers_and_nothing_stay_what_they_are() -> None:
    assert csv_rows([[-1, 2.5, None, "a,b", 'say "x"']]) == b'-1,2.5,,"a,b","say ""x"""\r\n'


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)))
def test_every_text_comes_back_out_of_its_cell(texts: list[str]) -> None:
    rows = list(csv.reader(io.StringIO(csv_rows([["x", *texts]]).decode(), newline="")))
    assert [cell.replace("'", "") for cell in rows[0][1:]] == [text.replace("'", "") for text in texts]


def test_every_answer_has_its_number_if_there_are_several() -> None:
    document, candidate = (3, "Chronicle / 1904"), (2, "local:lead")
    names = [answer_name(document, candidate, repeat, 2) for repeat in (1, 2)]
    assert names == ["d3-Chronicle-1904/c2-local-lead-s1.md", "d3-Chronicle-1904/c2-local-lead-s2.md"]
    assert answer_name(document, candidate, 1, 1) == "d3-Chronicle-1904/c2-local-lead.md"
