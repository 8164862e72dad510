"""From files to text, and files that nobody should be able to harm anything with."""

import io
import struct
import time
import tracemalloc
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.documents import docx, html, pdf
from carrel.documents.extract import text_of
from carrel.documents.refusals import (
    DocumentBroken,
    DocumentEncrypted,
    DocumentTooComplex,
    DocumentWithoutText,
    FormatMismatch,
    TextNotUtf8,
    TextTooLarge,
)
from carrel.documents.schemas import Format
from carrel.errors import CarrelError
from tests.documents import files

LIMIT = 1024 * 1024


def text(claimed: Format, body: bytes, limit: int = LIMIT) -> str:
    return text_of(claimed, memoryview(body), limit)


def page_text(page: str, limit: int = LIMIT) -> str:
    return html.text(memoryview(page.encode()), limit)


def test_plain_texts_lose_their_byte_order_mark_and_foreign_line_ends() -> None:
    assert text("txt", "\ufeffGrüße\r\nan alle\r".encode()) == "Grüße\nan alle\n"
    assert text("csv", b"a,b\r\n1,2\r\n") == "a,b\n1,2\n"
    assert text("md", b"# Title\n") == "# Title\n"


def test_a_pdf_gives_the_text_of_its_pages() -> None:
    assert text("pdf", files.pdf("First page.", "Second page.")) == "First page.\n\nSecond page."


def test_a_pdf_that_opens_without_a_password_is_read_and_one_that_does_not_is_named() -> None:
    assert text("pdf", files.pdf("Not to be printed.", password="")) == "Not to be printed."
    with pytest.raises(DocumentEncrypted):
        text("pdf", files.pdf("Secret.", password="hunter2"))


def test_a_word_file_gives_paragraphs_headings_lists_and_tables() -> None:
    cell = "<w:tc>{}</w:tc>"
    body = (
        files.paragraph("A title", '<w:pStyle w:val="Title"/>')
        + files.paragraph("A part", '<w:pStyle w:val="Heading2"/>')
        + files.paragraph("Tom &amp; Ada")
        + files.paragraph("one", "<w:numPr/>")
        + "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:delText>gone</w:delText></w:r></w:p>"
        + f"<w:tbl><w:tr>{cell.format(files.paragraph('x'))}{cell.format(files.paragraph('y'))}</w:tr></w:tbl>"
    )
    assert text("docx", files.docx(body)) == "# A title\n\n## A part\n\nTom & Ada\n\n- one\n\na\tb\nc\n\nx | y"


def test_a_word_file_with_a_second_form_for_older_programs_is_read_once() -> None:
    space = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    body = (
        f'<mc:AlternateContent xmlns:mc="{space}"><mc:Choice>{files.paragraph("new")}</mc:Choice>'
        f"<mc:Fallback>{files.paragraph('old')}</mc:Fallback></mc:AlternateContent>{files.paragraph('after')}"
    )
    assert text("docx", files.docx(body)) == "new\n\nafter"


def test_a_page_gives_what_a_reader_sees_and_none_of_its_scripts() -> None:
    page = (
        b"<!doctype html><head><title>T</title><style>p{}</style><script>alert('<p>x')</script><body onload=go()>"
        b"<h2>Part <i>one</i></h2><p>Some &amp; more<br>text</p><ul><li>first<li>second</ul>"
        b"<table><tr><td>a<td>b</table><svg><text>drawn</text></svg><pre>  kept\n  so</pre><img src=x onerror=y>"
    )
    assert text("html", page) == "## Part one\n\nSome & more\ntext\n\n- first\n\n- second\n\na | b\n\n  kept\n  so"


BROKEN: list[tuple[Format, bytes, type[CarrelError]]] = [
    ("txt", "Grüße".encode("latin-1"), TextNotUtf8),
    ("md", "Grüße".encode("utf-16"), TextNotUtf8),
    ("txt", b"a\0b", FormatMismatch),
    ("txt", b" \n\t ", DocumentWithoutText),
    ("txt", b"x" * (LIMIT + 1), TextTooLarge),
    ("html", b"<script>only()</script>", DocumentWithoutText),
    ("pdf", b"%PDF-1.7\nnothing more", DocumentBroken),
    ("pdf", files.pdf("Cut.")[:200], DocumentBroken),
    ("pdf", files.pdf("", ""), DocumentWithoutText),
    ("docx", b"PK\x03\x04 and nothing more", DocumentBroken),
    ("docx", files.zipped({"mimetype": b"application/epub+zip"}), DocumentBroken),
    ("docx", files.docx("<w:p>"), DocumentBroken),
    ("docx", files.docx("<w:p/>"), DocumentWithoutText),
    ("docx", files.docx(files.paragraph("&j;"), before=files.LAUGHS), DocumentBroken),
    ("docx", files.docx(files.paragraph("&x;"), before='<!DOCTYPE d SYSTEM "file:///etc/passwd">'), DocumentBroken),
    ("docx", files.docx("<w:p>" * 2_000 + "</w:p>" * 2_000), DocumentTooComplex),
    ("docx", files.docx(files.paragraph("x" * (LIMIT + 1))), TextTooLarge),
]


@pytest.mark.parametrize(("claimed", "body", "refusal"), BROKEN)
def test_what_cannot_be_read_is_refused_by_name(claimed: Format, body: bytes, refusal: type[CarrelError]) -> None:
    with pytest.raises(refusal):
        text(claimed, body)


def test_a_word_file_that_unpacks_to_more_than_any_text_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx, "MAX_XML_BYTES", 1024 * 1024)
    with pytest.raises(DocumentTooComplex):
        text("docx", files.bomb(2))


def zip_of(entries: int) -> bytes:
    """A zip that lists so many entries, and holds none of them."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0)
    listed = b"".join(entry + b"%06d" % number for number in range(entries))
    return listed + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0, 0, len(listed), 0, 0)


COSTLY = {
    "a tag that never ends": files.docx('<w:p a="' + "x" * 3_000_000 + '"/>'),
    "a comment that never ends": files.docx("<!--" + "x" * 3_000_000 + "-->"),
    "attributes": files.docx(("<w:p " + " ".join(f'a{n}="x"' for n in range(5_000)) + "/>") * 20),
    "entries": zip_of(25_000),
}


@pytest.mark.parametrize("name", COSTLY)
def test_a_word_file_that_would_cost_more_than_its_text_is_left_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docx, "MAX_NODES", 50_000)
    with pytest.raises(DocumentTooComplex):
        text("docx", COSTLY[name])


def test_a_word_file_is_packed_as_word_packs_it() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("word/document.xml", b"<w/>")
    with pytest.raises(DocumentBroken):
        text("docx", made.getvalue())


UNITS = (
    *("<a ", "<", "</", "<!--", "<!", "<?", '<a x="', "<a x='", "<a x=", "<p>", "</p>", "&", "&#", "&#0", "&#9", "&a"),
    *("<script>", "</script", "<svg>", "<select></svg>", "<pre>", "<td>", "<br>", "<title>", "<textarea></textarea"),
    *(" ", "\n", "a", '"', "'", "=", "-", "<!-->", "<a\x0c/"),
)


def test_a_page_of_tags_that_never_end_is_read_once() -> None:
    """Python's own parser took 20 seconds for 300 kB of `<a `, and its time grew with the square."""
    for unit in ("<a ", "<a x=", "</a ", "<!--", "<"):
        with suppress(CarrelError):
            page_text(unit * (200_000 // len(unit)), LIMIT)


def test_what_never_ends_takes_the_rest_of_a_page_along() -> None:
    for opening in ("<a ", "<a x='", "<!-- ", "<! ", "<? ", "</a ", "<script>", "<title>"):
        assert page_text(f"<p>Words{opening}lost words", LIMIT) == "Words", opening
    assert page_text("<p>a < b, a <3 and a <> b</>", LIMIT) == "a < b, a <3 and a <> b"
    assert page_text("&#" + "9" * 5_000 + ";&#" + "0" * 5_000 + "65;&#x110000;", LIMIT) == "\ufffdA\ufffd"


def test_a_long_text_of_a_page_is_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "<p>A  b &amp; c\r\nd &#x41; 😀</p><pre>a  b\r\n\r\nc\rd\n&lt;&#0065;</pre> end  " * 20
    whole = page_text(page)
    assert whole.startswith("A b & c d A 😀\n\na  b\n\nc\nd\n<A\n\nend")
    for size in range(1, 12):
        monkeypatch.setattr(html, "PIECE_BYTES", size)
        assert page_text(page) == whole


@pytest.mark.parametrize(
    "page", ["x y " * 1_000_000, "&amp;" * 800_000, "\u00e9" * 2_000_000, "<!--" + "😀" * 1_000_000]
)
def test_a_page_of_megabytes_takes_little_memory_beside_itself(page: str) -> None:
    body = memoryview(page.encode())
    text("html", b"<p>x")
    tracemalloc.start()
    with suppress(CarrelError):
        text_of("html", body, LIMIT // 4)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6_000_000


def test_a_word_file_with_megabytes_of_pictures_is_read_where_it_is() -> None:
    made = io.BytesIO(files.docx(files.paragraph("Words.")))
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("word/media/picture.png", bytes(4_000_000))
    body = memoryview(made.getvalue())
    text("docx", files.docx(files.paragraph("Words.")))
    tracemalloc.start()
    found = text_of("docx", body, LIMIT)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found, peak < 1_000_000) == ("Words.", True)


def test_a_page_of_more_tags_than_any_text_has_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MAX_TAGS", 1_000)
    with pytest.raises(DocumentTooComplex):
        page_text("<p>" * 1_001, LIMIT)


@pytest.mark.soak
def test_no_page_takes_long(capsys: pytest.CaptureFixture[str]) -> None:
    worst = (0.0, "")
    for unit in UNITS:
        for other in ("", *UNITS):
            page = (unit + other) * (300_000 // len(unit + other))
            begun = time.process_time()
            with suppress(CarrelError):
                page_text(page, LIMIT)
            worst = max(worst, (time.process_time() - begun, unit + other))
    with capsys.disabled():
        print(f"300 kB of {worst[1]!r}: {worst[0]:.2f} s, the worst of {len(UNITS) * (len(UNITS) + 1)} pages")
    assert worst[0] < 2.0


@pytest.mark.parametrize("page", ["BT (x) Tj ET\n" * 100_000, "%" + " " * 9_000_000], ids=["parts", "bytes"])
def test_a_page_of_too_many_parts_is_refused_before_all_of_them_are_objects(page: str) -> None:
    with pytest.raises(DocumentTooComplex):
        text("pdf", files.packed_pdf(page))
    assert text("pdf", files.packed_pdf("q Q " * 1_000 + "BT /F1 12 Tf (A line.) Tj ET")) == "A line."


@settings(max_examples=60)
@given(st.binary(max_size=200), st.integers(0, 400), st.sampled_from(["pdf", "docx", "html", "txt"]))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(noise: bytes, at: int, claimed: Format) -> None:
    whole = {
        "pdf": files.pdf("A line.", "Another."),
        "docx": files.docx(files.paragraph("A line.")),
        "html": b"<p>A <b>line</b>.",
        "txt": b"A line.",
    }[claimed]
    body = whole[:at] + noise + whole[at + len(noise) :]
    with suppress(CarrelError):
        text(claimed, body).encode()


def test_what_a_damaged_file_holds_goes_into_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with suppress(CarrelError):
        text("pdf", files.pdf("canary").replace(b"/Kids", b"/Kids canary"))
    assert caplog.text == ""


def test_long_texts_of_pages_end_at_the_limit() -> None:
    with pytest.raises(TextTooLarge):
        pdf.text(memoryview(files.pdf("A line of text.", "Another.")), 10)
    assert page_text("<p>" * 1000, 10) == ""
    with pytest.raises(TextTooLarge):
        page_text("<p>words", 4)


def test_a_page_of_a_pdf_may_not_have_long_contents_that_are_not_packed() -> None:
    assert text("pdf", files.pdf("A line.) Tj %" + "x" * 1_000 + "\nET BT (")) == "A line."
    with pytest.raises(DocumentTooComplex):
        text("pdf", files.pdf("A line.) Tj %" + "x" * 8 * 1024 * 1024 + "\nET BT ("))
