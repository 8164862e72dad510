"""PDF files, read with PDFium. An empty line divides pages; what stands in forms and notes is part of its page."""

import io
import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pypdfium2
from pypdfium2 import raw

from carrel.documents.refusals import (
    DocumentBroken,
    DocumentEncrypted,
    DocumentTooComplex,
    DocumentWithoutText,
    TextTooLarge,
)
from carrel.documents.schemas import PdfPage
from carrel.errors import NotFound
from carrel.kit.plain_text import as_text

MAX_PAGES: Final = 10_000
_MOST_PIXELS: Final = (1_000, 1_600)
_MOST_SCALE: Final = 2.0
"""Pixels for a point of a page."""
_LIGATURES: Final = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_CHARACTERS: Final = _LIGATURES | {0x00AD: None, 0x0002: None, 0xFFFE: None, 0xFEFF: None, 0x0000: None}
"""PDFium writes U+FFFE or 2 where a word was divided at the end of a line; the word is whole without it."""
_BROKEN_WORD: Final = re.compile("[\u0002\ufffe\u00ad]\r?\n")
_LETTERS_ALONE: Final = re.compile("(?:^\\S\r?\n){3}", re.MULTILINE)
_LETTER_BREAK: Final = re.compile("(?<=\\S)\r?\n(?=\\S)")
_SAMPLE: Final = 2_000
"""Characters of a page that are asked about one by one."""
_QUARTER, _MOST_SLANT = math.pi / 2, 0.01
_MOST_OFF, _LEAST_SPACE = 0.2, 0.15
"""Of the height of a line: how far its letters stand off it, and what is a space."""
_MOST_UNKNOWN: Final = 0.3
"""The share of characters for which the font names no meaning, beyond which a page is no text."""
_WORD: Final = re.compile("[^\\W\\d_]{5,}")
_VOWEL: Final = re.compile("[aeiouyäöüáàâãåæéèêëíìîïóòôõøœúùûýąęıіаеиоуыэюяёєї]", re.IGNORECASE)
_LATIN: Final = re.compile("[A-Za-z]+")
_CONTROLS: Final = re.compile("[\x01\x03-\x08\x0e-\x1f]")
_MOST_CONTROLS: Final = 0.03
_MOST_WITHOUT_VOWEL: Final = 0.25
_FEW_WORDS: Final = 12
"""Below this, a page may hold nothing but names of parts."""


def text(body: memoryview, max_bytes: int, left_out: Counter[str], pages: dict[str, list[int]]) -> str:
    """The text of every page; `left_out` counts the pages without text, and those whose text is doubtful.

    Their numbers come into `pages`, by what is the matter with them.

    Raises:
        DocumentBroken, DocumentEncrypted, DocumentTooComplex, DocumentWithoutText, TextTooLarge
    """
    with _opened(body) as document:
        found = _text(document, max_bytes, pages)
    # Doubts come behind what is not there.
    for kind in sorted(pages, key="doubtful_page".__eq__):
        left_out[kind] = len(pages[kind])
    return found


def page(body: memoryview, number: int) -> PdfPage:
    """One page as it looks, with its text.

    Raises:
        DocumentBroken, DocumentEncrypted
        NotFound: there is no such page.
    """
    with _opened(body) as document:
        if not 1 <= number <= len(document):
            raise NotFound
        try:
            found, is_text = _page(document, number - 1)
            seen = document[number - 1]
            scale = min(
                _MOST_SCALE, *(most / max(1, size) for most, size in zip(_MOST_PIXELS, seen.get_size(), strict=True))
            )
            image = seen.render(scale=scale, rev_byteorder=True).to_pil().convert("RGB")
        except pypdfium2.PdfiumError:
            raise DocumentBroken from None
        made = io.BytesIO()
        image.save(made, "jpeg", quality=80)
        return PdfPage(number, len(document), as_text(found), not is_text, made.getvalue())


@contextmanager
def _opened(body: memoryview) -> Iterator[pypdfium2.PdfDocument]:
    try:
        document = pypdfium2.PdfDocument(bytes(body))
    except pypdfium2.PdfiumError as error:
        raise (DocumentEncrypted if error.err_code == raw.FPDF_ERR_PASSWORD else DocumentBroken) from None
    try:
        document.init_forms()  # draws the values that a form holds without showing them
        yield document
    finally:
        document.close()


def _text(document: pypdfium2.PdfDocument, max_bytes: int, numbers: dict[str, list[int]]) -> str:
    count = len(document)
    if count > MAX_PAGES:
        raise DocumentTooComplex
    pages: list[str] = []
    size = 0
    for at in range(count):
        try:
            found, is_text = _page(document, at)
        except pypdfium2.PdfiumError:
            numbers.setdefault("unreadable_page", []).append(at + 1)
            continue
        if not found:
            numbers.setdefault("page_without_text", []).append(at + 1)
        elif not is_text:
            numbers.setdefault("doubtful_page", []).append(at + 1)
        pages.append(found)
        size += len(found)
        if size > max_bytes:
            raise TextTooLarge
    if "doubtful_page" in numbers and len(numbers["doubtful_page"]) >= sum(map(bool, pages)):
        raise DocumentWithoutText
    return "\n\n".join(page for page in pages if page)


def _page(document: pypdfium2.PdfDocument, at: int) -> tuple[str, bool]:
    """The text of a page, and whether it is what the page shows, as far as one can tell."""
    page = document[at]
    found, is_text = _words(page)
    # What users wrote into a form is drawn beside the page; this makes it part of the page.
    if (
        raw.FPDFPage_GetAnnotCount(page) > 0
        and raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS
    ):
        page.close()
        page = document[at]
        whole, is_whole_text = _words(page)
        # Where the page and a form call different fonts the same, only the text before is right.
        if is_whole_text or not is_text:
            found, is_text = whole, is_whole_text
    page.close()
    lines = _BROKEN_WORD.sub("", found).translate(_CHARACTERS).splitlines()
    return "\n".join(line.rstrip() for line in lines).strip(), is_text


def _words(page: pypdfium2.PdfPage) -> tuple[str, bool]:
    words = page.get_textpage()
    found = words.get_text_range(errors="replace")
    is_text = _is_known(words) and _is_language(found)
    if is_text and len(found) < _SAMPLE and raw.FPDFPage_CountObjects(page) > 3 * len(found) + 100:
        is_text = not found.strip() or _texts(page) < 3 * len(found)
    if _LETTERS_ALONE.search(found) and len(found) == raw.FPDFText_CountChars(words):
        found = _LETTER_BREAK.sub(lambda cut: _between(words, cut), found)
    words.close()
    return found, is_text


def _between(words: pypdfium2.PdfTextPage, cut: re.Match[str]) -> str:
    """What stands between two characters: PDFium divides every line that runs otherwise than most of its page."""
    before, after = cut.start() - 1, cut.end()
    angle = raw.FPDFText_GetCharAngle(words, before)
    (start, end, low, high), (next_start, _, next_low, next_high) = (
        _extent(words.get_charbox(at, loose=True), angle) for at in (before, after)
    )
    height, gap = high - low, next_start - end
    is_slanted = abs(angle / _QUARTER - round(angle / _QUARTER)) > _MOST_SLANT
    is_same_line = abs(next_low - low) + abs(next_high - high) < _MOST_OFF * height
    is_next = next_start > start and gap < height and raw.FPDFText_GetCharAngle(words, after) == angle
    if is_slanted or not is_same_line or not is_next:
        return cut[0]
    return " " if gap > _LEAST_SPACE * height else ""


def _extent(box: tuple[float, float, float, float], angle: float) -> tuple[float, float, float, float]:
    """Where a character begins and ends along its line, and across it."""
    left, bottom, right, top = box
    return (
        (left, right, bottom, top),
        (-top, -bottom, left, right),
        (-right, -left, bottom, top),
        (bottom, top, left, right),
    )[round(angle / _QUARTER) % 4]


def _texts(page: pypdfium2.PdfPage) -> int:
    objects = (raw.FPDFPage_GetObject(page, at) for at in range(raw.FPDFPage_CountObjects(page)))
    return sum(raw.FPDFPageObj_GetType(one) == raw.FPDF_PAGEOBJ_TEXT for one in objects)


def _is_known(words: pypdfium2.PdfTextPage) -> bool:
    """Whether the fonts say what most characters mean."""
    count = raw.FPDFText_CountChars(words)
    asked = unknown = 0
    for at in range(0, count, max(1, count // _SAMPLE)):
        if raw.FPDFText_IsGenerated(words, at) != 1:
            asked += 1
            # A font without names often has the usual codes; only other characters are surely none of the text's.
            is_usual = 0x20 <= raw.FPDFText_GetUnicode(words, at) < 0x7F
            unknown += not is_usual and raw.FPDFText_HasUnicodeMapError(words, at) == 1
    return unknown <= _MOST_UNKNOWN * asked


def _is_language(text: str) -> bool:
    """Whether there are hardly any control characters, and words of Latin letters have vowels.

    Fonts that only number their glyphs give characters at random.
    """
    if len(_CONTROLS.findall(text)) > _MOST_CONTROLS * len(text):
        return False
    words = [word for word in _WORD.findall(text[:20_000]) if _LATIN.fullmatch(word) and len(set(word)) > 2]
    if len(words) < _FEW_WORDS:
        return True
    return sum(_VOWEL.search(word) is None for word in words) <= _MOST_WITHOUT_VOWEL * len(words)
