"""Files as users and strangers upload them, made by hand."""

import io
import zipfile
import zlib

from pypdf import PdfWriter

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def packed_pdf(content: str) -> bytes:
    """A PDF of one page whose content is compressed."""
    body = zlib.compress(content.encode())
    return pdf("PLACE").replace(
        b"<< /Length 36 >>\nstream\nBT /F1 12 Tf 72 720 Td (PLACE) Tj ET",
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s" % (len(body), body),
    )


def pdf(*pages: str, password: str | None = None) -> bytes:
    """A small PDF, one line of plain text a page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for line in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({line}) Tj ET" if line else ""
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        content = len(objects)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    made = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(made))
        made += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    made += f"{head}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(made)}\n%%EOF\n".encode()
    return _locked(made, password) if password is not None else made


def _locked(plain: bytes, password: str) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(plain))
    writer.encrypt(password, "the owner's", algorithm="AES-256")
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def docx(body: str, *, before: str = "", part: str = "word/document.xml") -> bytes:
    """A Word file whose document is `body`, as WordprocessingML; `before` stands before its root."""
    xml = f'<?xml version="1.0"?>{before}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
    return zipped({"[Content_Types].xml": b"<Types/>", part: xml.encode()})


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
