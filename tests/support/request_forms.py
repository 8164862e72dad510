"""Requests whose end two programs may see in different places, and how many answers each has to get.

RFC 9112 says where a request ends. Where a form leaves that open, the only right answer is a refusal.
"""

import re
from typing import Final, NamedTuple

SMUGGLED: Final = b"GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n"
"""What is a body, or a part of a head: nobody has sent it as a request."""
NEXT: Final = b"GET /next HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
"""The request that follows each form on its connection."""
_CHUNKED: Final = b"%x\r\n%b\r\n0\r\n\r\n" % (len(SMUGGLED), SMUGGLED)
_LENGTH: Final = b"content-length: %d" % len(SMUGGLED)
_BOTH: Final = (200, 200)
_LAST: Final = (200,)
_REFUSED: Final = (400,)


class Form(NamedTuple):
    """A request, without `NEXT`, and the statuses on its connection when `NEXT` has been sent behind it."""

    name: str
    raw: bytes
    statuses: tuple[int, ...]
    body: bytes | None = None
    """What the application has to get, where it is called at all."""


def _post(
    name: str, headers: tuple[bytes, ...], sent: bytes, statuses: tuple[int, ...], body: bytes = SMUGGLED
) -> Form:
    lines = (b"POST /form HTTP/1.1", b"host: a", *headers)
    return Form(name, b"\r\n".join(lines) + b"\r\n\r\n" + sent, statuses, body if 200 in statuses else None)


def _length(name: str, value: bytes, statuses: tuple[int, ...] = _REFUSED) -> Form:
    return _post(name, (b"content-length: " + value,), SMUGGLED, statuses)


def _coding(name: str, *lines: bytes, statuses: tuple[int, ...] = _REFUSED) -> Form:
    return _post(name, tuple(b"transfer-encoding" + line for line in lines), _CHUNKED, statuses)


def _chunks(name: str, sent: bytes, statuses: tuple[int, ...] = _REFUSED) -> Form:
    return _post(name, (b"transfer-encoding: chunked",), sent, statuses, b"abc")


def _get(name: str, head: bytes, statuses: tuple[int, ...] = _REFUSED) -> Form:
    return Form(name, head, statuses, b"" if 200 in statuses else None)


_UPGRADE: Final = (b"connection: upgrade", b"upgrade: other")
_N: Final = b"%d" % len(SMUGGLED)

FORMS: Final = (
    _post("upgrade with a length", (*_UPGRADE, _LENGTH), SMUGGLED, _BOTH),
    _post("upgrade with chunks", (*_UPGRADE, b"transfer-encoding: chunked"), _CHUNKED, _BOTH),
    _post("upgrade and close", (b"connection: close, upgrade", b"upgrade: other", _LENGTH), SMUGGLED, _LAST),
    _post("offer of h2c", (b"connection: Upgrade, HTTP2-Settings", b"upgrade: h2c", _LENGTH), SMUGGLED, _BOTH),
    _get(
        "upgrade without a body",
        b"GET /form HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n",
        _BOTH,
    ),
    _post("length and coding", (_LENGTH, b"transfer-encoding: chunked"), SMUGGLED, _REFUSED),
    _post("coding and length", (b"transfer-encoding: chunked", b"content-length: 5"), _CHUNKED, _REFUSED),
    _post("the same length twice", (_LENGTH, _LENGTH), SMUGGLED, _REFUSED),
    _post("two lengths", (_LENGTH, b"content-length: 0"), SMUGGLED, _REFUSED),
    _length("a list of lengths", _N + b", " + _N),
    _length("a length with a plus", b"+" + _N),
    _length("a length with a minus", b"-" + _N),
    _length("a hexadecimal length", b"0x%x" % len(SMUGGLED)),
    _length("an empty length", b""),
    _length("a length beyond 64 bits", b"9" * 23),
    _length("a length with a space", b"3 5"),
    _length("a length among blanks", b"\t" + _N + b" \t", _BOTH),
    _post("a folded line", (b"x: a\r\n b", _LENGTH), SMUGGLED, _REFUSED),
    _post("a folded coding", (b"transfer-encoding:\r\n chunked",), _CHUNKED, _REFUSED),
    _get("bare line feeds", b"GET /form HTTP/1.1\nhost: a\n\n"),
    _post("a bare line feed", (b"x: a\n" + _LENGTH,), SMUGGLED, _REFUSED),
    _post("a bare carriage return", (b"x: a\r" + _LENGTH,), SMUGGLED, _REFUSED),
    _post("a space before the colon", (b"content-length : " + _N,), SMUGGLED, _REFUSED),
    _coding("a space before the colon of a coding", b" : chunked"),
    _coding("identity", b": identity"),
    _coding("a coding that nobody undoes", b": gzip, chunked"),
    _coding("chunked twice", b": chunked", b": chunked"),
    _coding("chunked, but not last", b": chunked, identity"),
    _coding("a coding with another name", b": xchunked"),
    _coding("a coding behind a control character", b": \x0bchunked"),
    _coding("a coding in capitals", b": CHUNKED", statuses=_BOTH),
    _chunks("an extension", b"3;a=b\r\nabc\r\n0\r\n\r\n", _BOTH),
    _chunks("an extension with a line feed", b"3;a\nabc\r\n0\r\n\r\n"),
    _chunks("an extension in quotes", b'3;a="\r\n0\r\n\r\n"\r\nabc\r\n0\r\n\r\n'),
    _chunks("a size with a prefix", b"0x3\r\nabc\r\n0\r\n\r\n"),
    _chunks("a negative size", b"-3\r\nabc\r\n0\r\n\r\n"),
    _chunks("a size beyond 64 bits", b"f" * 17 + b"\r\nabc\r\n0\r\n\r\n"),
    _chunks("chunks between line feeds", b"3\nabc\n0\n\n"),
    _chunks("a chunk that is too long", b"3\r\nabcde\r\n0\r\n\r\n"),
    _chunks("a size with a space", b"3 \r\nabc\r\n0\r\n\r\n"),
    _chunks("a trailer", b"3\r\nabc\r\n0\r\nx: a\r\n\r\n", _BOTH),
    _chunks("a length among the trailers", b"3\r\nabc\r\n0\r\ncontent-length: 99\r\n\r\n"),
    _get("an absolute target", b"GET http://b/form HTTP/1.1\r\nhost: b\r\n\r\n", _BOTH),
    Form("a tunnel", b"CONNECT a:80 HTTP/1.1\r\nhost: a\r\n" + _LENGTH + b"\r\n\r\n" + SMUGGLED, _REFUSED),
    Form("a tunnel to a path", b"CONNECT /form HTTP/1.1\r\nhost: a\r\n" + _LENGTH + b"\r\n\r\n" + SMUGGLED, _REFUSED),
    _post("an expectation", (b"expect: 100-continue", _LENGTH), SMUGGLED, (100, 200, 200)),
    Form("an old version", b"POST /form HTTP/1.0\r\nhost: a\r\n" + _LENGTH + b"\r\n\r\n" + SMUGGLED, _LAST, SMUGGLED),
    Form(
        "an old version that stays",
        b"POST /form HTTP/1.0\r\nhost: a\r\nconnection: keep-alive\r\n" + _LENGTH + b"\r\n\r\n" + SMUGGLED,
        _LAST,
        SMUGGLED,
    ),
    Form(
        "an old version in chunks",
        b"POST /form HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n" + _CHUNKED,
        _REFUSED,
    ),
    _get("the oldest version", b"GET /form\r\n"),
    _get("a version that does not exist", b"GET /form HTTP/1.2\r\nhost: a\r\n\r\n"),
    _get("the beginning of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    _get("no host", b"GET /form HTTP/1.1\r\n\r\n"),
    _get("a host with a space", b"GET /form HTTP/1.1\r\nhost: a b\r\n\r\n"),
    _get("two hosts", b"GET /form HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n"),
    _get("a NUL", b"GET /form HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n"),
    _get("a name with a space", b"GET /form HTTP/1.1\r\nhost: a\r\nx y: a\r\n\r\n"),
    _get("a first line that begins with a space", b"GET /form HTTP/1.1\r\n host: a\r\n\r\n"),
    _get("empty lines before it", b"\r\n\r\nGET /form HTTP/1.1\r\nhost: a\r\n\r\n", _BOTH),
    _get("a method with a sign", b"G@T /form HTTP/1.1\r\nhost: a\r\n\r\n"),
    _get("a head over the limit", b"GET /form HTTP/1.1\r\nhost: a\r\nx: " + b"a" * 70_000 + b"\r\n\r\n"),
    _get("the last one", b"GET /form HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", _LAST),
    Form("garbage behind it", b"GET /form HTTP/1.1\r\nhost: a\r\n\r\n\0garbage\r\n\r\n", (200, 400), b""),
    Form("a GET with a body", b"GET /form HTTP/1.1\r\nhost: a\r\n" + _LENGTH + b"\r\n\r\n" + SMUGGLED, _BOTH, SMUGGLED),
)


def statuses(answers: bytes) -> tuple[int, ...]:
    """The statuses of all answers in what came back on a connection."""
    return tuple(int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answers))
