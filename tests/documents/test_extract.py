"""From files to text, and files that nobody should be able to harm anything with."""

import io
import random
import struct
import time
import zipfile
from collections import Counter
from contextlib import suppress
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.documents import packages
from carrel.documents.extract import Extract, text_of
from carrel.documents.jobs import JOBS
from carrel.documents.refusals import (
    DocumentBroken,
    DocumentTooComplex,
    DocumentWithoutText,
    FormatMismatch,
    TextNotUtf8,
    TextTooLarge,
)
from carrel.documents.schemas import Format
from carrel.errors import CarrelError
from carrel.kit.processes.jobs import CallLimits, WorkerDied, WorkerTimedOut
from carrel.kit.processes.worker import Worker
from tests.documents import files, test_html, test_mail, test_slides, test_word

LIMIT = 1024 * 1024


def text(claimed: Format, body: bytes, limit: int = LIMIT) -> str:
    return text_of(claimed, memoryview(body), limit).text


def test_plain_texts_lose_their_byte_order_mark_and_foreign_line_ends() -> None:
    assert text("txt", "\ufeffGrüße\r\nan alle\r".encode()) == "Grüße\nan alle\n"
    assert text("csv", b"a,b\r\n1,2\r\n") == "a,b\n1,2\n"
    assert text("md", b"# Title\n") == "# Title\n"


def test_a_text_that_windows_wrote_in_western_europe_is_read_and_said_to_be_guessed() -> None:
    found = text_of("txt", memoryview("“Grüße”, »Spaß« und „Fuß“: 5 €".encode("cp1252")), LIMIT)
    assert found.text == "“Grüße”, »Spaß« und „Fuß“: 5 €"
    assert [remark.kind for remark in found.remarks] == ["guessed_encoding"]


BROKEN: list[tuple[Format, bytes, type[CarrelError]]] = [
    ("txt", "Привет, мир".encode("cp1251"), TextNotUtf8),
    ("txt", "Zażółć gęślą jaźń, mógłby wziąć".encode("cp1250"), TextNotUtf8),
    ("txt", "質問と回答".encode("cp932"), TextNotUtf8),
    ("txt", "schöne Wörter aus Köln".encode() + b"\xfc", TextNotUtf8),
    ("txt", b"a\0b", FormatMismatch),
    ("txt", b" \n\t ", DocumentWithoutText),
    ("txt", b"x" * (LIMIT + 1), TextTooLarge),
    ("docx", b"PK\x03\x04 and nothing more", DocumentBroken),
    ("docx", files.zipped({"mimetype": b"application/epub+zip"}), DocumentBroken),
    ("docx", files.docx("<w:p>"), DocumentBroken),
    ("docx", files.docx("<w:p/>"), DocumentWithoutText),
    ("docx", files.docx(files.paragraph("&j;"), before=files.LAUGHS), DocumentBroken),
    ("docx", files.docx(files.paragraph("&x;"), before='<!DOCTYPE d SYSTEM "file:///etc/passwd">'), DocumentBroken),
    ("docx", files.docx("<w:p>" * 2_000 + "</w:p>" * 2_000), DocumentBroken),
    ("docx", files.docx(files.paragraph("x" * (LIMIT + 1))), TextTooLarge),
    ("html", b"<div>" * 400, DocumentTooComplex),
]


@pytest.mark.parametrize(("claimed", "body", "refusal"), BROKEN)
def test_what_cannot_be_read_is_refused_by_name(claimed: Format, body: bytes, refusal: type[CarrelError]) -> None:
    with pytest.raises(refusal):
        text(claimed, body)


def zip_of(entries: int) -> bytes:
    """A zip that lists so many entries, and holds none of them."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0)
    listed = b"".join(entry + b"%06d" % number for number in range(entries))
    return listed + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0, 0, len(listed), 0, 0)


def test_a_word_file_that_would_cost_more_than_its_text_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MAX_XML_BYTES", 1024 * 1024)
    for body in (files.bomb(2), zip_of(25_000)):
        with pytest.raises(DocumentTooComplex):
            text("docx", body)


def test_a_word_file_is_packed_as_word_packs_it() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("word/document.xml", b"<w/>")
    unknown = made.getvalue().replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x61\x00"
    )
    with pytest.raises(DocumentBroken):
        text("docx", unknown)


def samples() -> list[tuple[Format, bytes]]:
    found: list[tuple[Format, bytes]] = [("docx", body) for body, _ in test_word.CASES.values()]
    found += [("html", page.encode()) for page, _ in test_html.CASES.values()]
    found += [("eml", test_mail.attached().as_bytes()), ("pptx", _presentation())]
    return found + [
        ("pdf", body) for body in (files.pdf("A line."), files.form_pdf("a", "b"), files.packed_pdf("(x) Tj"))
    ]


@cache
def _presentation() -> bytes:
    return test_slides.deck(test_slides.merged, "Notes.")


def damaged(seed: int) -> tuple[Format, bytes]:
    """A good file with some bytes changed, left out or repeated; of a Word file, also within one of its parts."""
    chance = random.Random(seed)
    claimed, body = chance.choice(samples())
    if claimed in ("docx", "pptx") and chance.random() < 0.6:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        name = chance.choice(sorted(parts))
        return claimed, files.zipped(parts | {name: spoilt(parts[name], chance)})
    return claimed, spoilt(body, chance)


def spoilt(body: bytes, chance: random.Random) -> bytes:
    made = bytearray(body)
    for _ in range(chance.randint(1, 6)):
        at, length = chance.randrange(len(made) + 1), chance.randint(0, 30)
        kept = chance.choice([b"", chance.randbytes(length), bytes(made[at : at + length]) * 20, b"-1", b"999999999"])
        made[at : at + length] = kept
    return bytes(made)


def costly() -> dict[str, tuple[Format, bytes]]:
    return {
        "a packed part": ("docx", files.bomb(60)),
        "an attribute": ("docx", files.docx('<w:p a="' + "x" * 9_000_000 + '"/>')),
        "elements within elements": ("docx", files.docx("<w:p>" * 100_000)),
        "numbers": ("docx", files.docx(files.item("x", 999_999_999), numbering=files.numbering(("decimal", "%9%9%9")))),
        "columns": ("docx", files.docx(files.table((files.cell("x", properties='<w:gridSpan w:val="999999999"/>'),)))),
        "styles in a ring": (
            "docx",
            files.docx(
                test_word.styled("x", "A"),
                styles=test_word.style("A", "a", based_on="B") + test_word.style("B", "b", based_on="A"),
            ),
        ),
        "tags": ("html", b"<p>" * 2_000_000),
        "tables within tables": ("html", b"<table><tr><td>" * 80 + b"x"),
        "spans": ("html", b"<table>" + b"<tr><td rowspan=99999 colspan=99999>x" * 3_000),
        "items": ("html", b"<ol>" + b"<li>x" * 50_000),
        "a packed page": ("pdf", files.packed_pdf("BT (x) Tj ET\n" * 2_000_000)),
        "spaces of a page": ("pdf", files.packed_pdf(" " * 50_000_000)),
        "pages within pages": ("pdf", files.pdf("x").replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]")),
    }


async def test_of_200_broken_files_none_ends_a_worker_and_costly_ones_stay_within_their_limits() -> None:
    """Everything a reader raises is one of our refusals: an unknown error would be `WorkerFailed`."""
    worker = Worker(JOBS, CallLimits(cpu_seconds=3))
    outcomes: Counter[str] = Counter()
    try:
        for seed in range(200):
            claimed, body = damaged(seed)
            try:
                assert isinstance(await worker.run(text_of, claimed, body, LIMIT, timeout_seconds=60), Extract)
                outcomes["read"] += 1
            except CarrelError as error:
                outcomes[error.code] += 1
        pid = worker.pid
        for name, (claimed, body) in costly().items():
            begun = time.monotonic()
            with suppress(CarrelError, WorkerDied, WorkerTimedOut):
                await worker.run(text_of, claimed, body, LIMIT, timeout_seconds=60)
            assert time.monotonic() - begun < 60, name
    finally:
        await worker.close()
    assert pid is not None
    assert outcomes.total() == 200
    assert outcomes["read"] > 40


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 400), st.sampled_from(["pdf", "docx", "html", "txt", "eml"]))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(noise: bytes, at: int, claimed: Format) -> None:
    whole = {
        "pdf": files.pdf("A line.", "Another."),
        "docx": files.docx(files.paragraph("A line.")),
        "html": b"<p>A <b>line</b>.",
        "txt": b"A line.",
        "eml": b"Subject: A line\nContent-Type: text/html\n\n<p>Another",
    }[claimed]
    body = whole[:at] + noise + whole[at + len(noise) :]
    with suppress(CarrelError):
        text(claimed, body).encode()


def test_what_a_damaged_file_holds_goes_into_no_log(caplog: pytest.LogCaptureFixture) -> None:
    for claimed, body in (
        ("pdf", files.pdf("canary").replace(b"/Kids", b"/Kids canary")),
        ("docx", files.docx("canary<")),
    ):
        with suppress(CarrelError):
            text(claimed, body)  # type: ignore[arg-type]  # the names of formats
    assert caplog.text == ""
