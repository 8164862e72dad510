"""One request and its answer, as uvicorn has them, but answered with less work and fewer calls of the system."""

import asyncio
import re
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

_LONG_BYTES: Final = 32 * 1024
"""A piece of this length belongs to a long answer."""
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_BODILESS: Final = frozenset({204, 304})


class Cycle(RequestResponseCycle):
    """Sends the head of an answer of known length together with the beginning of its body.

    The head of a stream goes out at once, because its first piece may take long.
    """

    _head = b""

    async def receive(self) -> Any:
        """The next pieces of the body, or that the client has left. What holds them is empty then, and stays."""
        if self.waiting_for_100_continue and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.waiting_for_100_continue = False
        if not self.disconnected and not self.response_complete:
            self.flow.resume_reading()
            await self.message_event.wait()
            self.message_event.clear()
        if self.disconnected or self.response_complete:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": bytes(self.body), "more_body": self.more_body}

    async def send(self, message: Any) -> None:
        """Send the start of the answer, or a piece of its body. Others go on between two long pieces.

        After the last piece the client may ask again, whether or not the application goes on here.
        """
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        body = message.get("body", b"")
        if len(body) >= _LONG_BYTES and not self.disconnected:
            await asyncio.sleep(0)
        if self.disconnected:
            return
        if not self.response_started:
            self._start(message["status"], [*self.default_headers, *message["headers"]])
        elif not self.response_complete:
            self._continue(body, message.get("more_body", False))
        else:
            raise RuntimeError("the answer is complete")

    def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        lines = [b"%b: %b" % header for header in headers]
        if _CONTROL.search(b"".join(lines)):
            raise RuntimeError("a control character in a header")
        self.response_started = True
        if self.waiting_for_100_continue and self.more_body:
            # The client may leave the body out now, or not: what comes next may be either (RFC 9110, section 10.1.1).
            self.keep_alive = False
        self.waiting_for_100_continue = False
        # The names are in lower case, as ASGI has them.
        named = dict(headers)
        length = named.get(b"content-length")
        if length is not None:
            self.expected_content_length = int(length)
        elif status not in _BODILESS and self.scope["method"] != "HEAD":
            self.chunked_encoding = True
            lines.append(b"transfer-encoding: chunked")
        if named.get(b"connection") == b"close":
            self.keep_alive = False
        elif not self.keep_alive:
            lines.append(b"connection: close")
        head = STATUS_LINE[status] + b"\r\n".join(lines) + b"\r\n\r\n"
        if self.chunked_encoding:
            self.transport.write(head)
        else:
            self._head = head

    def _continue(self, body: bytes, more_body: bool) -> None:
        size = len(body)
        if self.scope["method"] == "HEAD":
            body = b""
            self.expected_content_length = 0
        elif self.chunked_encoding and more_body and size >= _LONG_BYTES:
            # To copy a long piece takes a tenth of what it takes of the event loop.
            self.transport.writelines((b"%x\r\n" % size, body, b"\r\n"))
            return
        elif self.chunked_encoding:
            body = b"%x\r\n%b\r\n" % (size, body) if size else b""
            if not more_body:
                body += b"0\r\n\r\n"
        elif size > self.expected_content_length:
            raise RuntimeError("the answer is longer than it says")
        else:
            self.expected_content_length -= size
        if not more_body and self.expected_content_length:
            raise RuntimeError("the answer is shorter than it says")
        if self._head:
            body = b"".join((self._head, body))
            self._head = b""
        if body:
            self.transport.write(body)
        if not more_body:
            self.response_complete = True
            self.message_event.set()
            self.on_response()
