"""PDF files: pages, forms, fonts that say nothing, and files that are long or broken."""

from typing import cast

import pypdfium2
import pytest

from carrel.documents import pdf
from carrel.documents.extract import Extract, page_of, text_of
from carrel.documents.refusals import DocumentBroken, DocumentEncrypted, DocumentWithoutText, TextTooLarge
from carrel.documents.schemas import Format
from carrel.errors import NotFound
from tests.documents import files


def read(body: bytes, limit: int = 100_000) -> Extract:
    return text_of("pdf", memoryview(body), limit)


def counts(found: Extract) -> dict[str, int]:
    return {remark.kind: remark.count for remark in found.remarks}


def test_pages_are_divided_by_an_empty_line() -> None:
    assert read(files.pdf("First page.", "Second page.")).text == "First page.\n\nSecond page."


def test_a_file_that_opens_without_a_password_is_read_and_one_that_does_not_is_named() -> None:
    assert read(files.pdf("Not to be printed.", password="")).text == "Not to be printed."
    with pytest.raises(DocumentEncrypted):
        read(files.pdf("Secret.", password="hunter2"))


def test_pages_without_text_are_counted_and_a_file_of_nothing_else_is_refused() -> None:
    found = read(files.pdf("Words.", "", ""))
    assert (found.text, counts(found)) == ("Words.", {"page_without_text": 2})
    with pytest.raises(DocumentWithoutText):
        read(files.pdf("", ""))


@pytest.mark.parametrize("name", ["/FlateDecode", "/Fl"])
def test_filters_have_short_names_too(name: str) -> None:
    assert read(files.packed_pdf("BT /F1 12 Tf 72 720 Td (Ten lamps.) Tj ET", name)).text == "Ten lamps."


def test_what_users_wrote_into_a_form_is_part_of_its_page() -> None:
    assert read(files.form_pdf("First name:", "Ada")).text.split() == ["First", "name:", "Ada"]
    assert read(files.form_pdf("", "Ada")).text == "Ada"
    # Some programs keep a value without drawing it.
    form = b"/AcroForm << /Fields [6 0 R] /DA (/F1 12 Tf 0 g) /DR << /Font << /F1 3 0 R >> >> >> /Pages 2 0 R >>"
    undrawn = files.form_pdf("First name:", "Ada").replace(b"/AP << /N 7 0 R >>", b"").replace(b"/Pages 2 0 R >>", form)
    assert read(undrawn).text.split() == ["First", "name:", "Ada"]


def test_a_form_that_takes_the_meaning_of_letters_away_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = iter(["First name:", "\x04\x05\x06"])  # before the form is drawn into the page, and after
    monkeypatch.setattr(pypdfium2.PdfTextPage, "get_text_range", lambda *_, **__: next(texts))
    assert read(files.form_pdf("", "")).text == "First name:"


def test_letters_drawn_one_by_one_make_words_on_a_page_whose_text_runs_upwards() -> None:
    widths = {"L": 6.67, "e": 6.67, "v": 6, "l": 2.67, " ": 3.34, "k": 6}
    letters = " ".join(f"({one}) Tj {widths[one]} 0 Td" for one in "Level k")
    up = f"BT /F1 12 Tf 0 1 -1 0 100 100 Tm ({'Lamps that were sold in May ' * 3}) Tj ET"
    found = read(files.packed_pdf(f"BT /F1 12 Tf 300 720 Td {letters} ET {up}")).text
    assert found.startswith("Level k\nLamps that were sold")


def test_a_book_of_600_pages_is_read() -> None:
    found = read(files.pdf(*(f"This is page {number} of a long book." for number in range(600))))
    assert found.text.endswith("This is page 599 of a long book.")


def test_ligatures_are_letters() -> None:
    assert read(files.pdf("\\001di\\002cult", glyphs=("fi", "ffi"))).text == "fidifficult"


def test_a_page_whose_letters_make_no_words_is_doubtful() -> None:
    consonants = " ".join(["KWSVZZZ", "GLHVHV", "QTMRST", "PLKJHG", "VBLGHN"] * 4)
    found = read(files.pdf("A page of words that everybody can read.", consonants))
    assert counts(found) == {"doubtful_page": 1}
    with pytest.raises(DocumentWithoutText):
        read(files.pdf(consonants))


def test_a_font_that_names_no_character_is_no_text() -> None:
    with pytest.raises(DocumentWithoutText):
        read(files.pdf("\\001\\002\\003\\004" * 20, glyphs=("g1", "g2", "g3", "g4")))


def test_what_is_not_readable_is_refused_by_name() -> None:
    for body in (b"%PDF-1.7\nnothing more", files.pdf("Cut.")[:200]):
        with pytest.raises(DocumentBroken):
            read(body)
    with pytest.raises(TextTooLarge):
        read(files.pdf("A line of text.", "Another."), 10)


def test_more_pages_than_any_book_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_PAGES", 1)
    with pytest.raises(Exception, match="document-too-complex"):
        read(files.pdf("a", "b"))


def test_a_page_is_drawn_beside_its_text_and_doubtful_ones_are_numbered() -> None:
    body = memoryview(files.pdf("The tower.", "", "The keeper."))
    seen = page_of("pdf", body, 3)
    assert (seen.number, seen.pages, seen.text, seen.is_doubtful) == (3, 3, "The keeper.", False)
    assert (seen.image[:2], seen.image[-2:]) == (b"\xff\xd8", b"\xff\xd9")
    for claimed, number in (("pdf", 4), ("pdf", 0), ("txt", 1)):
        with pytest.raises(NotFound):
            page_of(cast(Format, claimed), body, number)
    with pytest.raises(DocumentBroken):
        page_of("pdf", memoryview(b"%PDF-1.7"), 1)
    assert [(one.kind, one.pages) for one in text_of("pdf", body, 1_000).remarks] == [("page_without_text", [2])]
