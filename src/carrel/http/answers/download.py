"""A file on its way out of a database: piece by piece to the wire, never whole in memory, and never shown in a page."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Final
from urllib.parse import quote

from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.errors import CarrelError
from carrel.http.answers import accept, event_stream
from carrel.http.answers.problem import NotAcceptable
from carrel.http.answers.response import BINARY, Header, Response
from carrel.http.in_flight import passage_of
from carrel.http.request import Request

Piece = Callable[[int], Awaitable[bytes]]
"""The piece with this ordinal, counted from 0."""

PIECE_BYTES: Final = 1024 * 1024
"""About as long as a piece is."""
_TIMEOUT_SECONDS: Final = 60.0


class Download(Response[bytes]):
    """`size` bytes in pieces, as an attachment named `file_name`.

    A reader that takes nothing for a minute is not waited for: it holds the workspace open.
    """

    def __init__(
        self,
        piece: Piece,
        size: int,
        *,
        file_name: str,
        media_type: str,
        etag: str,
        headers: Iterable[Header] = (),
        timeout_seconds: float = _TIMEOUT_SECONDS,
    ) -> None:
        super().__init__(
            b"",
            media_type=media_type,
            etag=etag,
            headers=(*headers, attachment(file_name)),
        )
        self._piece = piece
        self._size = size
        self._kind = media_type
        self._client_timeout_seconds = timeout_seconds

    def asgi(self, request: Request) -> ASGIApp:
        """What is sent: the file, unless the client has it already."""
        if self.is_known_to(request):
            return super().asgi(request)
        self._kind = _wanted(request, self._kind)
        return self._send

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        count_piece(scope)
        # The first piece before the first byte: what is wrong by now can still be said.
        body = await self._piece(0)
        headers = [
            *self.extra,
            (b"etag", (self.etag or "").encode("ascii")),
            (b"content-type", self._kind.encode()),
            # Not for a 304: the server would wait for bytes that never come, and give the connection up.
            (b"content-length", b"%d" % self._size),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            left = self._size
            ordinal = 0
            while left:
                async with asyncio.timeout(self._client_timeout_seconds):
                    left -= len(body)
                    await send({"type": "http.response.body", "body": body, "more_body": left > 0})
                ordinal += 1
                if left:
                    body = await self._piece(ordinal)
        except (CarrelError, TimeoutError):
            # Replaced, closed or not taken: the connection ends before its length, so nobody takes it for whole.
            return


class StreamedDownload(Response[bytes]):
    """A file that is made while it is sent, so that nobody knows its length before its end.

    Each piece comes from `pieces`, which ends when the reader has gone. One that takes nothing for a minute is not
    waited for: it holds what the file is made of.
    """

    def __init__(
        self,
        pieces: Callable[[], AsyncGenerator[bytes, None]],
        *,
        file_name: str,
        media_type: str,
        timeout_seconds: float = _TIMEOUT_SECONDS,
    ) -> None:
        super().__init__(b"", media_type=media_type)
        self._pieces = pieces
        self._kind = media_type
        self._file_name = file_name
        self._client_timeout_seconds = timeout_seconds

    def asgi(self, request: Request) -> ASGIApp:
        """What is sent: the file, as it is made."""
        self._kind = _wanted(request, self._kind)
        return self._send

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        count_piece(scope)
        pieces = self._pieces()
        # The first piece before the first byte: what is wrong by now can still be said.
        body = await anext(pieces)
        headers = [(b"content-type", self._kind.encode()), attachment(self._file_name)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        gone = asyncio.create_task(event_stream.gone(receive))
        # Closed, damaged or not taken: the connection ends in the middle, so nobody takes it for whole.
        with suppress(CarrelError, TimeoutError):
            try:
                while not gone.done():
                    async with asyncio.timeout(self._client_timeout_seconds):
                        await send({"type": "http.response.body", "body": body, "more_body": bool(body)})
                    if not body:
                        return
                    body = await anext(pieces, b"")
            finally:
                gone.cancel()
                await pieces.aclose()


def count_piece(scope: Scope) -> None:
    """Count what a file in pieces holds of the user's memory: one piece, and one on its way to the client.

    Raises:
        TooMuchInFlight, ServiceBusy
    """
    passage = passage_of(scope)
    if passage is not None:
        passage.answer(2 * PIECE_BYTES, may_refuse=True)


def _wanted(request: Request, media_type: str) -> str:
    """The file's own media type, or the general one for a client that asks for that. No client is refused."""
    try:
        return accept.choose(request.header(b"accept"), (media_type, BINARY))
    except NotAcceptable:
        return media_type


def attachment(file_name: str) -> Header:
    """The header that has a browser save a file under `file_name`, whatever characters that has (RFC 6266)."""
    plain = "".join(one if one.isascii() and one.isprintable() and one not in '"\\%;' else "_" for one in file_name)
    value = f'attachment; filename="{plain}"'
    if plain != file_name:
        value += f"; filename*=UTF-8''{quote(file_name, safe='')}"
    return (b"content-disposition", value.encode("ascii"))
