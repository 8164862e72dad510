"""Mails: the headers that people read, the text, and the names of what is attached."""

from email.message import EmailMessage

import pytest

from carrel.documents.extract import text_of
from carrel.documents.refusals import FormatMismatch

HEAD = "From: Ada <ada@example.org>\nTo: bob@example.org\nSubject: Prices ä"


def mail(plain: str, page: str = "") -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Ada <ada@example.org>", "bob@example.org", "Prices ä"
    made["X-Spam"] = "no"
    made.set_content(plain)
    if page:
        made.add_alternative(page, subtype="html")
    return made


def attached() -> EmailMessage:
    made = mail("Hello!")
    made.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="Größe 1.pdf")
    made.add_attachment(mail("Inner."))
    return made


def parts(kind: str, *bodies: str) -> bytes:
    inner = "".join(f"--B\n{body}\n" for body in bodies)
    return f"Subject: a\nContent-Type: multipart/{kind}; boundary=B\n\n{inner}--B--\n".encode()


def page(html: str) -> str:
    return f"Content-Type: text/html\n\n{html}"


TABLE = "<p>Hello!</p><table><tr><td>Plan<td>Pro</tr><tr><td>Price<td>20</tr></table><p hidden>x</p>"
READ: dict[str, tuple[bytes, str, dict[str, int]]] = {
    "plain": (mail("Grüße,\nAda").as_bytes(), f"{HEAD}\n\nGrüße,\nAda", {}),
    "a page": (
        mail("Hello! Plan Pro Price 20", TABLE).as_bytes(),
        f"{HEAD}\n\nHello!\n\n| Plan | Pro |\n| --- | --- |\n| Price | 20 |",
        {"hidden_text": 1},
    ),
    "an empty page": (mail("Hello!", "<p> </p>").as_bytes(), f"{HEAD}\n\nHello!", {}),
    "attachments": (
        attached().as_bytes(),
        f"{HEAD}\n\nHello!\n\nAttachment: Größe 1.pdf\n\n---\n\nAttached mail:\n\n{HEAD}\n\nInner.",
        {"attachment": 1},
    ),
    "texts around a picture": (
        parts(
            "mixed", page("<p>Look:</p>"), "Content-Type: image/png; name=a.png\n\nx", page("<p>Nice?</p>"), "\nBye."
        ),
        "Subject: a\n\nLook:\n\nNice?\n\nBye.\n\nAttachment: a.png",
        {"attachment": 1},
    ),
    "a page with a picture beside a plain form": (
        parts("alternative", "\nplain", "Content-Type: multipart/mixed; boundary=C\n\n--C\n" + page("b") + "\n--C--"),
        "Subject: a\n\nb",
        {},
    ),
    "an invitation": (
        parts("mixed", "\nCome!", "Content-Type: text/calendar\n\nBEGIN:VCALENDAR"),
        "Subject: a\n\nCome!\n\nAttachment: text/calendar",
        {"attachment": 1},
    ),
    "a mailbox": (
        b"From ada Fri May  1 09:30:00 2026\nSubject: a\n\nFrom here on\n>From there\n\n"
        b"From bob Fri May  1 09:31:00 2026\nSubject: b\n\nyes\n",
        "Subject: a\n\nFrom here on\nFrom there\n\n---\n\nSubject: b\n\nyes",
        {},
    ),
    "no encoding": (b"\nSubject: a\n\nGr\xf6\xdfe \x80", "Subject: a\n\nGröße €", {}),
    "an encoding that the page names": (
        b'Subject: a\nContent-Type: text/html\n\n<meta charset="koi8-r"><p>' + "Цена".encode("koi8-r"),
        "Subject: a\n\nЦена",
        {},
    ),
    "a foreign encoding": (
        b"Subject: =?iso-8859-1?Q?Gr=F6=DFe?=\nContent-Type: text/plain; charset=iso-8859-1\n\n\x93Gr\xf6\xdfe\x94",
        "Subject: Größe\n\n“Größe”",
        {},
    ),
    "an unknown encoding": (
        b"Subject: a\nContent-Type: text/plain; charset=none\n\nb\xff",
        "Subject: a\n\nbÿ",
        {},
    ),
    "headers in an encoding of their own": (b"Subject: Gr\xf6\xdfe\r\n\r\na", "Subject: Größe\n\na", {}),
    "parts without a sign between them": (
        b"Subject: a\nMIME-Version: 1.0\nContent-Type: multipart/mixed\n\nb",
        "Subject: a\n\nb",
        {},
    ),
    "a mark": (b"\xef\xbb\xbfSubject: a\n\nb", "Subject: a\n\nb", {}),
}


@pytest.mark.parametrize("name", READ)
def test_a_mail_is_read_as_people_see_it(name: str) -> None:
    body, shown, left_out = READ[name]
    found = text_of("eml", memoryview(body), 10_000)
    assert (found.text, {one.kind: one.count for one in found.remarks}) == (shown, left_out)


@pytest.mark.parametrize(
    ("charset", "encoding", "words"),
    [
        ("utf-16", "utf-16", "Größe"),
        ("utf-16", "utf-8", "Größe"),
        ("x-sjis", "cp932", "日本"),
        ("Windows-31J", "cp932", "日本①"),
        ("iso-8859-8-i", "iso-8859-8", "שלום"),
        ("cp-850", "cp850", "Größe"),
        ("UTF-8//IGNORE", "utf-8", "Größe"),
    ],
)
def test_encodings_have_the_names_that_mails_give_them(charset: str, encoding: str, words: str) -> None:
    body = f"Subject: a\nContent-Type: text/plain; charset={charset}\n\n".encode() + words.encode(encoding)
    assert text_of("eml", memoryview(body), 10_000).text == f"Subject: a\n\n{words}"


def test_a_text_without_the_headers_of_a_mail_is_none() -> None:
    with pytest.raises(FormatMismatch):
        text_of("eml", memoryview(b"Hello, this is no mail.\n"), 10_000)
