"""The response that every route gives: encoded once, and sent in two messages."""

from collections.abc import Iterable
from functools import cache
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.http.answers.etag import etag, matches
from carrel.http.client_connection import CLIENT, ClientConnection
from carrel.http.in_flight import SMALL_BYTES, passage_of
from carrel.http.request import Request

T = TypeVar("T")
Header = tuple[bytes, bytes]

JSON = "application/json"
BINARY = "application/octet-stream"
_encoder = msgspec.json.Encoder()
_BODILESS = frozenset({204, 304})


class AsgiAnswer:
    """An answer as an ASGI application: status, headers and body, ready to be sent."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: list[Header], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if len(self.body) > SMALL_BYTES:
            await self._send_in_pieces(scope, send)
            return
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": False})

    async def _send_in_pieces(self, scope: Scope, send: Send) -> None:
        """Send at the pace of the client, and return when it has taken everything: until then, the answer counts."""
        passage = passage_of(scope)
        if passage is not None:
            passage.answer(len(self.body), may_refuse=scope.get("method") == "GET")
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        # Without copies: the files of the browser app are one object for everybody.
        rest = memoryview(self.body)
        while rest:
            piece: Any = rest[:SMALL_BYTES]
            rest = rest[SMALL_BYTES:]
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        caller: ClientConnection | None = scope.get(CLIENT)
        if caller is not None and caller.taken is not None:
            await caller.taken()


class Response(Generic[T]):
    """What a route returns when the plain resource does not say it all: a status, an ETag, a header, a media type.

    `content` is a struct (sent as JSON), a `str` (as UTF-8), or `bytes` (as they are). With an `etag`, a `GET` whose
    `If-None-Match` names it is answered 304 without encoding anything.
    """

    __slots__ = ("content", "etag", "extra", "media_type", "status_code")

    def __init__(
        self,
        content: T,
        *,
        status_code: int | None = None,
        etag: str | None = None,
        headers: Iterable[Header] = (),
        media_type: str | None = None,
    ) -> None:
        self.content = content
        self.status_code = status_code
        self.media_type = media_type
        self.etag = etag
        self.extra = headers

    def asgi(self, request: Request) -> ASGIApp:
        """What is sent to `request`: 304, if it has this already."""
        if self.is_known_to(request):
            return AsgiAnswer(304, [*self.extra, (b"etag", (self.etag or "").encode("ascii"))], b"")
        return self.with_status(request.status)

    def is_known_to(self, request: Request) -> bool:
        """Whether the client has said that it has this version."""
        if self.etag is None or request.scope["method"] != "GET":
            return False
        known = request.header(b"if-none-match")
        return known is not None and matches(known, self.etag)

    def with_status(self, status: int) -> AsgiAnswer:
        """This answer, encoded, with `status` if it has none of its own."""
        status = self.status_code or status
        headers = [*self.extra]
        if self.etag is not None:
            headers.append((b"etag", self.etag.encode("ascii")))
        if status in _BODILESS:
            return AsgiAnswer(status, headers, b"")
        body = encoded(self.content)
        headers.append(_content_type(self.media_type or JSON))
        headers.append((b"content-length", b"%d" % len(body)))
        return AsgiAnswer(status, headers, body)


@cache
def _content_type(media_type: str) -> Header:
    if media_type.startswith("text/") and "charset" not in media_type:
        media_type += "; charset=utf-8"
    return (b"content-type", media_type.encode("ascii"))


class Versioned(Protocol):
    """A resource that counts its changes."""

    @property
    def version(self) -> int:
        """Rises with every change."""
        ...


V = TypeVar("V", bound=Versioned)


def tagged(resource: V) -> Response[V]:
    """The resource with the ETag of its version: `return tagged(workspace.read(store.get, preset_id))`."""
    return Response(resource, etag=etag(resource.version))


def encoded(content: object) -> bytes:
    """`content` as it goes over the wire."""
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    body = _encoder.encode(content)
    # Behind a long one the encoder leaves a hole of up to half its length, which no other long one fits into.
    return body if len(body) <= SMALL_BYTES else bytes(memoryview(body))
