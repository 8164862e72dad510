"""The dearest files: imports of a workspace, and uploads in every format."""

import io
import json
import random
import uuid
import zipfile
from collections.abc import Callable, Iterable
from typing import Final

from carrel.presets.drafts import MAX_DRAFTS
from carrel.runs.creation.row_inputs import MAX_KEPT
from tests.campaigns.user import Json, Request

_AT: Final = {"version": 1, "created_at": "2026-11-01T10:00:00.000Z", "updated_at": "2026-11-01T10:00:00.000Z"}
_UPLOAD: Final = 25 * 1024 * 1024 - 1_000
_BOUNDARY: Final = "limit"


def form(name: str, body: bytes, path: str = "/documents") -> Request:
    """An upload."""
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    content = head.encode() + body + f"\r\n--{_BOUNDARY}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
    return Request("POST", path, content=content, headers=headers)


def text(size: int = _UPLOAD) -> bytes:
    """Words."""
    return (b"The river rose in 1824, and the mill stood still. " * (size // 50 + 1))[:size]


def zipped(entries: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, body in entries.items():
            file.writestr(name, body)
    return packed.getvalue()


def _package(
    contents: Iterable[tuple[str, str, Json]], presets: Iterable[Json] = (), drafts: Iterable[Json] = ()
) -> bytes:
    """A zip as an export is: contents with their type, their body and their variables; presets; and drafts."""
    entries = {"carrel.json": b'{"format":"carrel-workspace","version":1}', "settings.json": b"{}"}
    lines = []
    for number, (kind, body, variables) in enumerate(contents):
        file = f"contents/{number}.md"
        entries[file] = body.encode()
        line = {"id": f"{number:04}", "file": file, "name": "n", "type": kind, "variables": variables}
        lines.append(json.dumps({**line, "description": "", "tags": [], **_AT}))
    entries["contents.jsonl"] = "\n".join(lines).encode()
    entries["presets.jsonl"] = "\n".join(json.dumps({**preset, "tags": [], **_AT}) for preset in presets).encode()
    entries["preset_drafts.jsonl"] = "\n".join(json.dumps(draft) for draft in drafts).encode()
    return zipped(entries)


def fat_drafts() -> bytes:
    """As many drafts as an import may bring, as large as they may be, of nothing but ids."""
    ids = [str(uuid.UUID(int=number)) for number in range(26_000)]
    draft = {"id": "d", "name": "n", "form": "preset", "body": {"ids": ids}, "version": 1, "updated_at": ""}
    return _package([], drafts=[draft] * MAX_DRAFTS)


def fat_presets() -> bytes:
    """As many presets of 20,000 answers as an import may bring."""
    ids = [f"{number:04}" for number in range(1_000)]
    candidates = [{"label": f"c{number}", "existing": dict.fromkeys(ids, "0000")} for number in range(20)]
    scoring = {"judges": [{"model": "local:reader"}], "criteria": "1000"}
    preset = {"id": "p", "name": "p", "description": "", "inputs": ids, "generation": {"candidates": candidates}}
    contents: list[tuple[str, str, Json]] = [("input_document", "x", {})] * 1_000
    return _package([*contents, ("criteria", "- name: Coverage", {})], [{**preset, "scoring": scoring}] * 25)


def small_presets() -> bytes:
    """As many presets as an import may bring, each as short as it can be."""
    candidates = [{"model": "local:lead"}, {"model": "local:lexrank"}]
    preset = {
        "id": "p",
        "name": "p",
        "description": "",
        "inputs": ["0000"],
        "instructions": "0001",
        "generation": {"candidates": candidates},
        "comparison": {"judges": [{"model": "local:reader"}]},
    }
    return _package([("input_document", "x", {}), ("generation_instructions", "y", {})], [preset] * 1_000)


def links() -> bytes:
    """100,000 variables that lead to one content."""
    all_to_one = {f"V{number:03}": "0000" for number in range(100)}
    return _package(("fragment", "", all_to_one if number else {}) for number in range(1_001))


def texts() -> bytes:
    """120 MB of words, which the index of the search takes in."""
    draw = random.Random(1)
    words = [f"w{draw.randrange(10**5)}" for _ in range(50_000)]
    return _package(("fragment", " ".join(draw.choices(words, k=170_000))[:1_000_000], {}) for _ in range(120))


def _docx(body: bytes, picture: bytes = b"") -> bytes:
    kind = b'<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
    space = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    document = b'<?xml version="1.0"?><w:document xmlns:w="' + space + b'"><w:body>' + body + b"</w:body></w:document>"
    return zipped({"[Content_Types].xml": kind, "word/document.xml": document, "word/media/a.png": picture})


def _pdf(size: int, pages: int = 1) -> bytes:
    """Pages that show a line of text again and again."""
    shown = b"BT /F1 1 Tf (The river rose in 1824.) Tj ET\n"
    stream = shown * (size // pages // len(shown))
    kids = b" ".join(b"%d 0 R" % (4 + 2 * page) for page in range(pages))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for page in range(pages):
        head = b"<</Type/Page/Parent 2 0 R/Contents %d 0 R/Resources<</Font<</F1 3 0 R>>>>/MediaBox[0 0 9 9]>>"
        objects += [head % (5 + 2 * page), b"<</Length %d>>stream\n%sendstream" % (len(stream), stream)]
    found = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(found))
        found += b"%d 0 obj%sendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(found)
    return found + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        table,
        len(objects) + 1,
        start,
    )


IMPORTS: Final[dict[str, Callable[[], bytes]]] = {
    "25 presets, 8 MB": fat_presets,
    "1,000 presets": small_presets,
    "50 drafts, 52 MB": fat_drafts,
    "100,000 links": links,
    "120 MB of texts": texts,
}
_MOST_TEXT: Final = 1024 * 1024
FILES: Final[dict[str, Callable[[], bytes]]] = {
    "a.txt": text,
    "a.md": lambda: b"| a " * (_UPLOAD // 4),
    "a.html": lambda: b"<a " * (_UPLOAD // 3),
    "b.html": lambda: b"<p>x" * (_MOST_TEXT // 2),
    "a.csv": lambda: b'"a","b"\n' * (_UPLOAD // 8),
    "a.docx": lambda: _docx(b"<w:p><w:r><w:t>x</w:t></w:r></w:p>" * 290_000),
    "b.docx": lambda: _docx(b"<w:p>" * 500_000),
    "c.docx": lambda: _docx(b"<w:p><w:r><w:t>x</w:t></w:r></w:p>", random.Random(1).randbytes(_UPLOAD - 100_000)),
    "a.pdf": lambda: _pdf(_UPLOAD),
    "b.pdf": lambda: _pdf(_UPLOAD - 10_000, 16),
}
"""By the name of the file."""
_ROWS: Final = 100_000
TABLES: Final[dict[str, Callable[[], bytes]]] = {
    "a.csv": lambda: b"id,text\n" + b"".join(b"%d,%.240d\n" % (number, number) for number in range(_ROWS)),
    "b.csv": lambda: b",".join(b"c%d" % column for column in range(200)) + b"\n" + (b"x," * 199 + b"x\n") * 62_000,
    "a.jsonl": lambda: b"".join(b'{"id":%d,"text":"%.220d"}\n' % (number, number) for number in range(_ROWS)),
    "a.json": lambda: b"[" + b",".join(b'{"a":[[%d]]}' % number for number in range(_ROWS)) + b"]",
}
"""As many rows, or cells, as an upload may have."""


def wide_table() -> bytes:
    """As many cells as a table may have, and as many columns."""
    return b",".join(b"c%d" % column for column in range(200)) + b"\n" + (b"x," * 199 + b"x\n") * 25_000


ANSWERS: Final = 8
"""Columns of `finished_answers`."""


def finished_answers() -> bytes:
    """As many texts and answers as a run may keep: a question each, and finished answers in `a0`, `a1` and so on."""
    names = b",".join(b"a%d" % number for number in range(ANSWERS))
    rows = (
        b"Question %d,%b\n" % (row, b",".join(b"answer %d %d" % (row, number) for number in range(ANSWERS)))
        for row in range(MAX_KEPT // (1 + 2 * ANSWERS))
    )
    return b"question," + names + b"\n" + b"".join(rows)


def long_rows() -> bytes:
    """Twenty rows that are as long as a page of them may be."""
    return b"id,text\n" + b"".join(b"%d,%s\n" % (number, b"x" * (_MOST_TEXT - 100)) for number in range(20))
