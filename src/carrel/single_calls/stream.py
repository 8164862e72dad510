"""`POST /generation` as server-sent events: pieces of the answer as they come, and the whole of it at the end.

A client that disconnects does not end the call. The provider bills it anyway, and only its end reports the tokens. So
the service reads it to its end, and its metering row is exact.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.errors import Unavailable
from carrel.http.answers import event_stream, problem
from carrel.http.answers.event_stream import MEDIA_TYPE, PING
from carrel.http.answers.response import Header, Response
from carrel.http.request import Request
from carrel.http.requests.envelope import give_lease_back
from carrel.kit.plain_text import as_text
from carrel.single_calls import generation
from carrel.single_calls.caller import Caller
from carrel.single_calls.schemas import Completion, GenerationIn, Piece
from carrel.vault.workspace import Workspace


class SendTimes(NamedTuple):
    """Times in seconds: the wait between two pings, and how long a client may take for one send."""

    ping: float = 15.0
    client_timeout_seconds: float = 10.0


PACE = SendTimes()


class SendBuffer:
    """The part of an answer that was not sent yet."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._news = asyncio.Event()

    def add(self, text: str) -> None:
        """Add a part of the answer."""
        self._pieces.append(text)
        self._news.set()

    def wake(self, _: object = None) -> None:
        """Wake the waiting reader for another reason."""
        self._news.set()

    def take(self) -> str:
        """Take everything so far. After this, `wait` waits for more."""
        self._news.clear()
        text = "".join(self._pieces)
        self._pieces.clear()
        return text

    async def wait(self, seconds: float) -> bool:
        """Wait until there is something to send; return False if nothing came in that time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._news.wait()
        return False


async def opened(caller: Caller, workspace: Workspace, data: GenerationIn) -> "GenerationStream":
    """Open the stream once there is something to send.

    A call that fails before its first piece fails as it does without a stream, with the status of its error.

    Raises:
        BadInput, ProviderKeyMissing, RateLimited, ModelCallFailed, ModelCallRefused: as `Caller.call` says.
    """
    heard = SendBuffer()
    call = asyncio.create_task(generation.generate_in_pieces(caller, workspace, data, heard.add))
    call.add_done_callback(heard.wake)
    # Retrieve the error, or asyncio would report it if the reader is gone.
    call.add_done_callback(lambda call: call.cancelled() or call.exception())
    try:
        await heard.wait(PACE.ping)
    except asyncio.CancelledError:
        call.cancel()
        raise
    first = heard.take()
    if call.done() and not first:
        call.result()
    return GenerationStream(call, heard, first, caller.headers(workspace.uuid, data.model))


class GenerationStream(Response[Any]):
    """Send the events: `piece`s, pings in between, and at last `end` with the whole answer or `error`."""

    def __init__(
        self, call: "asyncio.Task[Completion]", heard: SendBuffer, first: str, headers: tuple[Header, ...]
    ) -> None:
        super().__init__(b"", media_type=MEDIA_TYPE, headers=headers)
        self._call = call
        self._heard = heard
        self._first = first

    def asgi(self, request: Request) -> ASGIApp:
        """What is sent."""

        async def sent(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                # The call takes its own lease when it writes, so that a rekey need not wait for the model.
                give_lease_back(scope)
                await event_stream.stream(
                    receive,
                    send,
                    lambda gone: self._events(scope, gone),
                    timeout_seconds=PACE.client_timeout_seconds,
                    headers=self.extra,
                )
                # The call continues without its reader, and the request ends only after it.
                await asyncio.wait([self._call])
            finally:
                self._call.cancel()

        return sent

    async def _events(self, scope: Scope, gone: "asyncio.Task[None]") -> AsyncGenerator[bytes, None]:
        gone.add_done_callback(self._heard.wake)
        text = self._first
        while not gone.done():
            text += self._heard.take()
            over = self._call.done()
            if text:
                yield event_stream.event("piece", msgspec.json.encode(Piece(as_text(text))))
                text = ""
            if over:
                yield self._last(scope)
                return
            if not await self._heard.wait(PACE.ping):
                yield PING

    def _last(self, scope: Scope) -> bytes:
        error = Unavailable() if self._call.cancelled() else self._call.exception()
        if isinstance(error, Exception):
            return event_stream.event("error", msgspec.json.encode(problem.told(scope, error)))
        return event_stream.event("end", msgspec.json.encode(self._call.result()))
