"""Mails (EML), read with the parser of Python: who wrote to whom, when, about what, the text, and what is attached.

A mailbox (mbox) is mails one after another, each below a line that begins with `From `. Python's `mailbox` reads
paths only, of which a worker opens none.
"""

import re
from collections import Counter
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from typing import Final

from bs4.dammit import EncodingDetector

from carrel.documents import encodings, html
from carrel.documents.refusals import DocumentBroken, DocumentTooComplex, FormatMismatch
from carrel.kit import encodings as unicode

_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")
_LAME: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What the parser raises on unexpected mails."""
_POSTMARK: Final = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*[0-9]{4}[^\r\n]*\r?\n")
"""What stands before each mail of a mailbox: who sent it, and a date."""
_BELOW_HEADERS: Final = re.compile(rb"\r?\n\r?\n")
_WORDS: Final = ("text/plain", "text/html", "text/markdown")
_QUOTED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_NEXT: Final = "\n\n---\n\n"


def text(body: memoryview, left_out: Counter[str]) -> str:
    """The headers, the text as a reader of the mail sees it, and the names of attachments, which `left_out` counts.

    Mails that are attached come with their texts.

    Raises:
        DocumentBroken, DocumentTooComplex, FormatMismatch
    """
    try:
        mark, _ = unicode.of(bytes(body[:4]))
        mails = [_parsed(mail) for mail in _mails(bytes(body[mark:]).lstrip(b"\r\n"))]
        if not any(_headers(mail) for mail in mails):
            raise FormatMismatch
        return _NEXT.join(_shown(mail, left_out) for mail in mails)
    except RecursionError:
        raise DocumentTooComplex from None
    except _LAME:
        raise DocumentBroken from None


def _mails(body: bytes) -> list[bytes]:
    if not body.startswith(b"From "):
        return [body]
    return [_QUOTED.sub(rb"\1", mail) for mail in _POSTMARK.split(body) if mail.strip()]


def _parsed(body: bytes) -> EmailMessage:
    end = _BELOW_HEADERS.search(body)
    head = body if end is None else body[: end.start()]
    try:
        head.decode()
    except UnicodeDecodeError:  # some programs write their own encoding there
        body = head.decode("cp1252", "replace").encode() + body[len(head) :]
    return BytesParser(policy=policy.default).parsebytes(body)


def _headers(mail: EmailMessage) -> list[str]:
    return [f"{name}: {' '.join(str(mail[name]).split())}" for name in _HEADERS if mail[name]]


def _shown(mail: EmailMessage, left_out: Counter[str]) -> str:
    inner: list[EmailMessage] = []
    names: list[str] = []
    said = "\n\n".join(_said(mail, inner, names, left_out))
    left_out["attachment"] += len(names)
    parts = ("\n".join(_headers(mail)), said, "\n".join(f"Attachment: {name}" for name in names))
    forwarded = (f"{_NEXT}Attached mail:\n\n{_shown(one, left_out)}" for one in inner)
    return "\n\n".join(filter(None, parts)) + "".join(forwarded)


def _said(part: MIMEPart, inner: list[EmailMessage], names: list[str], left_out: Counter[str]) -> Iterator[str]:
    """The texts of a part; what is attached comes into the lists."""
    kind = part.get_content_type()
    if kind == "message/rfc822":
        payload = part.get_payload()
        inner += (one for one in (payload if isinstance(payload, list) else ()) if isinstance(one, EmailMessage))
    elif kind == "multipart/alternative" and part.is_multipart():
        yield from _best(list(part.iter_parts()), inner, names, left_out)
    elif part.is_multipart() and kind.startswith("multipart/"):
        for one in part.iter_parts():
            yield from _said(one, inner, names, left_out)
    elif not kind.startswith(("multipart/", *_WORDS)) or part.get_filename() or part.is_attachment():
        names.append(" ".join((part.get_filename() or kind).split()))
    elif words := _decoded(part, left_out).strip():
        yield words


def _best(forms: list[MIMEPart], inner: list[EmailMessage], names: list[str], left_out: Counter[str]) -> Iterator[str]:
    """Of several forms of one thing the page, because plain forms of it lack tables, unless nothing is on it."""
    forms.sort(key=lambda form: any(part.get_content_type() == "text/html" for part in form.walk()), reverse=True)
    for form in forms:
        named: list[str] = []
        said = list(_said(form, inner, named, left_out))
        if said or form is forms[-1]:
            names += named
            yield from said
            return


def _decoded(part: MIMEPart, left_out: Counter[str]) -> str:
    body = part.get_payload(decode=True)
    found = body if isinstance(body, bytes) else b""
    is_page = part.get_content_type() == "text/html"
    named = part.get_content_charset()
    if named is None and is_page:
        named = EncodingDetector.find_declared_encoding(found, is_html=True)
    words = encodings.forgiving(found, named or "ascii")
    return html.text(words, left_out) if is_page else words
