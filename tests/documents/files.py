"""Files as users and strangers upload them, made by hand."""

import io
import zipfile
import zlib

from pypdf import PdfWriter

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def packed_pdf(content: str, name: str = "/FlateDecode") -> bytes:
    """A PDF of one page whose content is compressed, under this name of the filter."""
    body = zlib.compress(content.encode())
    packed = b"<< /Filter %s /Length %d >>\nstream\n%s\nendstream" % (name.encode(), len(body), body)
    return _pdf([_PAGE % (5, ""), packed])


_PAGE = (
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> %s >>"
)


def pdf(*pages: str, password: str | None = None, glyphs: tuple[str, ...] = ()) -> bytes:
    """A small PDF, one line of plain text a page; `glyphs` are the names of those that the codes 1, 2, … draw."""
    objects: list[str | bytes] = []
    for line in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({line}) Tj ET" if line else ""
        objects += [_PAGE % (len(objects) + 5, ""), f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream"]
    made = _pdf(objects, f" /Encoding << /Differences [1 {' '.join('/' + one for one in glyphs)}] >>" if glyphs else "")
    return _locked(made, password) if password is not None else made


def form_pdf(label: str, value: str) -> bytes:
    """A PDF of one page with a field that somebody filled in, drawn as viewers draw it."""
    line, drawn = (f"BT /F1 12 Tf {place} Td ({one}) Tj ET" for one, place in ((label, "72 720"), (value, "2 4")))
    return _pdf(
        [
            _PAGE % (5, "/Annots [6 0 R]"),
            f"<< /Length {len(line)} >>\nstream\n{line}\nendstream",
            f"<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V ({value}) /Rect [72 600 272 620] /F 4"
            " /AP << /N 7 0 R >> >>",
            "<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 3 0 R >> >>"
            f" /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    )


def _pdf(objects: list[str | bytes], font: str = "") -> bytes:
    """A file with these objects from number 4 on, of which those that begin with a page are its pages."""
    kids = [f"{at} 0 R" for at, one in enumerate(objects, 4) if isinstance(one, str) and "/Type /Page " in one]
    begun: list[str | bytes] = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>",
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica{font} >>",
    ]
    made = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(begun + objects, start=1):
        offsets.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body.encode() if isinstance(body, str) else body)
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    head = f"xref\n0 {len(offsets) + 1}\n0000000000 65535 f \n{table}"
    end = f"trailer << /Size {len(offsets) + 1} /Root 1 0 R >>\nstartxref\n{len(made)}\n%%EOF\n"
    return made + (head + end).encode()


def _locked(plain: bytes, password: str) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(plain))
    writer.encrypt(password, "the owner's", algorithm="AES-256")
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
SPACES = {
    "w": _WORD,
    "r": RELATED,
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "v": "urn:schemas-microsoft-com:vml",
    "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
}
_NAMES = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in SPACES.items())


def docx(body: str, *, before: str = "", main: str = "word/document.xml", **parts: str) -> bytes:
    """A Word file whose document is `body`, as WordprocessingML; `before` stands before its root.

    `parts` are others that the document refers to, such as `footnotes`, each with what is in its root.
    """
    roots = {"header1": "hdr", "comments": "comments", "footnotes": "footnotes", "endnotes": "endnotes"}
    entries = {"[Content_Types].xml": "<Types/>"}
    entries["_rels/.rels"] = relations({"officeDocument": main})
    entries[f"word/_rels/{main.rpartition('/')[2]}.rels"] = relations(
        {name.rstrip("1"): f"{name}.xml" for name in parts} | {"image": "media/image1.png"}
    )
    entries[main] = f'<?xml version="1.0"?>{before}<w:document {_NAMES}><w:body>{body}</w:body></w:document>'
    for name, inner in parts.items():
        root = roots.get(name, name)
        entries[f"word/{name}.xml"] = f"<w:{root} {_NAMES}>{inner}</w:{root}>"
    return zipped({name: text.encode() for name, text in entries.items()})


def relations(targets: dict[str, str]) -> str:
    inner = "".join(
        f'<Relationship Id="r{at}" Type="{RELATED}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(targets.items())
    )
    return f'<Relationships xmlns="{_PACKAGE}">{inner}</Relationships>'


def numbering(*levels: tuple[str, str], start: int = 1) -> str:
    """A list `1` and a list `2` of the same kind; each level has a format and a text such as `%1.`."""
    shape = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for at, (kind, text) in enumerate(levels)
    )
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    return (
        f'<w:abstractNum w:abstractNumId="0">{shape}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/>'
        f'</w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/>{again}</w:num>'
    )


def item(text: str, level: int = 0, number: int = 1) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def cell(*paragraphs: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{''.join(map(paragraph, paragraphs or ('',)))}</w:tc>"


def table(*rows: tuple[str, ...]) -> str:
    return f"<w:tbl>{''.join(f'<w:tr>{chr(10).join(row)}</w:tr>' for row in rows)}</w:tbl>"


def zipped(entries: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in entries.items():
            archive.writestr(name, body)
    return made.getvalue()


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def bomb(megabytes: int) -> bytes:
    """A Word file of some kilobytes that unpacks to so many megabytes without a word of text."""
    return docx("<w:p/>" * (megabytes * 1024 * 1024 // 6))


LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY a "laughlaugh">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
    + "]>"
)
"""A billion of them, if anybody expanded `&j;`."""
