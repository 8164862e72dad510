"""uvicorn's HTTP protocol with the limits that it lacks: the size of a request's head, and patience with slow clients.

What is refused here never reaches the application, yet it gets the same shape of answer.
"""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from carrel.kit import problem
from carrel.kit.answer import encoded
from carrel.kit.problem import Malformed

MAX_HEAD_BYTES: Final = 64 * 1024
HEAD_SECONDS: Final = 15.0
"""From the first byte of a request to the end of its head."""
SILENT_SECONDS: Final = 30.0
"""Between two pieces of a body; also before the first byte on a new connection."""
_SWEEP_SECONDS: Final = 5.0


class Protocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._in_head = False
        self._in_message = False
        self._began = self._heard = self.loop.time()
        self._fresh = True

    def data_received(self, data: bytes) -> None:
        """Bytes of a request."""
        self._heard = self.loop.time()
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("")

    def on_message_begin(self) -> None:
        """A request starts."""
        super().on_message_begin()
        self._fresh = False
        self._in_head = self._in_message = True
        self._head_bytes = 0
        self._began = self._heard

    def on_headers_complete(self) -> None:
        """Its head is complete."""
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Its body is complete."""
        self._in_message = False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP request, and close."""
        body = encoded(problem.answer(Malformed(), "").content)
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json\r\ncache-control: no-store\r\n"
            b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body
        )
        self.transport.close()

    def is_too_slow(self, now: float) -> bool:
        """Whether its client has held the connection without saying what it wants for too long."""
        if self._in_head:
            return now - self._began > HEAD_SECONDS
        return (self._in_message or self._fresh) and now - self._heard > SILENT_SECONDS


async def sweep(connections: set[Any]) -> None:
    """Close slow connections, for as long as the server runs."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        for connection in [*connections]:
            # A paused reader waits for us, not for its client.
            if connection.is_too_slow(loop.time()) and not connection.flow.read_paused:
                connection.transport.close()
