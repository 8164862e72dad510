"""Mails (EML), read with the parser of Python: who wrote to whom, when, about what, the text, and what is attached."""

from collections import Counter
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from typing import Final

from carrel.documents import encodings, html
from carrel.documents.refusals import DocumentBroken, DocumentTooComplex, FormatMismatch
from carrel.kit import encodings as unicode

_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")
_LAME: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What the parser raises on unexpected mails."""


def text(body: memoryview, left_out: Counter[str]) -> str:
    """The headers, the text as a reader of the mail sees it, and the names of attachments, which `left_out` counts.

    Raises:
        DocumentBroken, DocumentTooComplex, FormatMismatch
    """
    try:
        mark, _ = unicode.of(bytes(body[:4]))
        mail = BytesParser(policy=policy.default).parsebytes(bytes(body[mark:]))
        headers = [f"{name}: {' '.join(str(mail[name]).split())}" for name in _HEADERS if mail[name]]
        if not headers:
            raise FormatMismatch
        said = _said(mail, left_out)
        names = list(_attached(mail))
    except RecursionError:
        raise DocumentTooComplex from None
    except _LAME:
        raise DocumentBroken from None
    left_out["attachment"] += len(names)
    parts = ("\n".join(headers), said.strip(), "\n".join(f"Attachment: {name}" for name in names))
    return "\n\n".join(filter(None, parts))


def _said(mail: EmailMessage, left_out: Counter[str]) -> str:
    """The text: of several forms the page, because plain forms of it lack tables, unless nothing is on it."""
    for form in ("html", "plain"):
        part = mail.get_body((form,))
        if part is not None:
            words = _decoded(part)
            if form == "html":
                words = html.text(words, left_out)
            if words.strip():
                return words
    return ""


def _decoded(part: MIMEPart) -> str:
    body = part.get_payload(decode=True)
    found = body if isinstance(body, bytes) else b""
    return encodings.forgiving(found, part.get_content_charset("utf-8"))


def _attached(mail: MIMEPart) -> Iterator[str]:
    """The names of the files that come along, and the subjects of mails that do."""
    if mail.get_content_type() == "message/rfc822":
        inner = mail.get_payload()
        first = inner[0] if isinstance(inner, list) and inner else None
        yield mail.get_filename() or str(first["Subject"] if isinstance(first, EmailMessage) else "") or "a mail"
    elif mail.is_multipart():
        for part in mail.iter_parts():
            yield from _attached(part)
    elif mail.get_filename() or mail.is_attachment():
        yield " ".join((mail.get_filename() or mail.get_content_type()).split())
