"""Word files. Mammoth reads them and gives HTML, of which `markdown` makes Markdown.

Mammoth follows the parts of a file, its styles, notes, symbols, fields, revisions and merged cells. What it passes over
is told in terms that it knows, in `word_markup`, before it reads.
"""

import io
import zipfile
import zlib
from collections import Counter
from typing import Final
from xml.parsers import expat

import mammoth
from lxml import etree

from carrel.documents import word_markup
from carrel.documents.html import parsed, unwrap_layout
from carrel.documents.markdown import LABEL, markdown
from carrel.documents.refusals import DocumentBroken, DocumentEncrypted, DocumentTooComplex
from carrel.kit.memory_file import MemoryFile

MAX_XML_BYTES: Final = 64 * 1024 * 1024
"""Of all parts that hold markup, as they unpack."""
_MAX_ENTRIES: Final = 20_000
_ENCRYPTED: Final = 1
_LAME: Final = (
    *(zipfile.BadZipFile, zlib.error, etree.LxmlError, expat.ExpatError),
    *(
        ArithmeticError,
        AssertionError,
        AttributeError,
        EOFError,
        LookupError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
    ),
)
"""The errors that Mammoth and what it reads with raise on unexpected files: their own, and those of Python."""
_STYLES: Final = "\n".join(
    [
        *(f"p[style-name='heading {level}'] => h6:fresh" for level in (7, 8, 9)),
        *("p[style-name='Title'] => h1:fresh", "strike => s", "comment-reference => "),
    ]
)
_BOXES: Final = str.maketrans({"\U0001f5f9": "☑", "\U0001f78e": "☐", "\U0001f5f7": "☒", "\U0001f5f5": "☒"})
"""What Mammoth makes of Word's boxes, and the characters for it that more fonts have."""


def text(body: memoryview, left_out: Counter[str]) -> str:
    """The text of the document itself; `left_out` counts what is not in it.

    Raises:
        DocumentBroken, DocumentEncrypted, DocumentTooComplex
    """
    try:
        parts = _parts(body)
        package = word_markup.readable(parts, left_out)
        found = mammoth.convert_to_html(
            package,
            style_map=_STYLES,
            include_embedded_style_map=False,
            convert_image=mammoth.images.img_element(lambda _: {"src": ""}),
        )
    except RecursionError:
        raise DocumentTooComplex from None
    except _LAME:
        raise DocumentBroken from None
    tree = parsed(found.value)
    for link in tree.select('a[href^="#footnote-ref-"], a[href^="#endnote-ref-"]'):
        link.decompose()
    for place, note in enumerate(tree.select('li[id^="footnote-"], li[id^="endnote-"]'), 1):
        note[LABEL] = f"[^{place}]:"
    for link in tree.select('a[href^="#footnote-"], a[href^="#endnote-"]'):
        link.string = link.get_text().replace("[", "[^")
    word_markup.take_labels(tree)
    unwrap_layout(tree)
    return markdown(tree).translate(_BOXES)


def _parts(body: memoryview) -> dict[str, bytes]:
    """Every part that holds markup, by its name."""
    found: dict[str, bytes] = {}
    left = MAX_XML_BYTES
    with zipfile.ZipFile(io.BufferedReader(MemoryFile(body))) as archive:
        entries = archive.infolist()
        if len(entries) > _MAX_ENTRIES:
            raise DocumentTooComplex
        for entry in entries:
            if entry.flag_bits & _ENCRYPTED:
                raise DocumentEncrypted
            if entry.filename.lower().endswith((".xml", ".rels")):
                with archive.open(entry) as part:
                    # What the list of the zip says of sizes need not be true.
                    body_of_part = part.read(left + 1)
                left -= len(body_of_part)
                if left < 0:
                    raise DocumentTooComplex
                found[entry.filename.lstrip("/")] = body_of_part
    return found
