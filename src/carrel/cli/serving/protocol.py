"""uvicorn's HTTP protocol with limits that it lacks: on the size of a request's head, and on slow clients.

A request that is refused here never reaches the application, but gets an answer of the same shape. What the parser
calls for each request, line and piece stands here whole: calling uvicorn's own methods besides, for settings that
Carrel does not use, costs a tenth of a small request.
"""

import asyncio
import socket
import time
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.flow_control import FlowControl

from carrel.cli.serving.cycle import Cycle
from carrel.cli.serving.pace import CHUNKS_A_SECOND, UNWANTED_A_SECOND, Pace
from carrel.cli.serving.receiving import Body, Reader
from carrel.errors import CarrelError
from carrel.kit.concurrency.caller import Caller
from carrel.kit.http import problem
from carrel.kit.http.answer import CALLER, encoded
from carrel.kit.http.in_flight import ServiceBusy, TooManyRequests
from carrel.kit.http.problem import Malformed
from carrel.kit.sqlite.database import wipe

MAX_HEAD_BYTES: Final = 64 * 1024
MAX_HEADERS: Final = 100
"""As many as web servers usually take."""
HEAD_SECONDS: Final = 15.0
"""From the first byte of a request to the end of its head."""
SILENT_SECONDS: Final = 30.0
"""The longest wait between two pieces of a body, and for the first byte on a new connection."""
CREDIT_SECONDS: Final = 60.0
"""For this long a body may be as slow as it likes. After that each second has to bring `LEAST_BYTES`."""
LEAST_BYTES: Final = 1024
MAX_CONNECTIONS: Final = 4096
"""At once. Each takes some 20 kB, and up to `WRITE_BUFFER_BYTES` besides."""
WRITE_BUFFER_BYTES: Final = 16 * 1024
"""How much of small answers may wait for a client before no further request of it is answered."""
UNSENT_BYTES: Final = 64 * 1024
"""How much of an answer the kernel takes ahead of the client; else it takes megabytes, which nobody counts."""
UNTAKEN_SECONDS: Final = 60.0
"""For this long a client may read nothing of an answer that waits for it."""
UNWANTED_BYTES: Final = 64 * 1024 * 1024
"""So much of a body is read after its request was answered: an honest client sees its answer when it has sent all."""
WAITING_BYTES: Final = 96 * 1024
"""When so much of a body waits for the application, no more is read. With less, each body would take more steps."""
MANY_CHUNKS: Final = 64
"""In what is received at once. If there are more, each has less than a hundred bytes, and their pace is another."""
MAX_AHEAD: Final = 16
"""Requests that a client sends before the one at work is answered. Browsers send none ahead."""
SWEEP_SECONDS: Final = 5.0
now = time.monotonic


class _Flow(FlowControl):
    """Reads from a connection or not; while it rests, whoever wants more of the body waits."""

    is_resting = False

    def resume_reading(self) -> None:
        """Read on, unless the connection rests."""
        if not self.is_resting:
            super().resume_reading()


class Protocol(Reader):
    """One connection."""

    pace = Pace(UNWANTED_A_SECOND)
    chunk_pace = Pace(CHUNKS_A_SECOND)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = self._line_bytes = self._unwanted = self._pieces = 0
        self._in_head = False
        self._in_message = False
        self._began = self.heard = self._credit_until = now()
        self._fresh = True
        self._idle_since: float | None = None
        """When the last request was answered, until the next begins. A timer for each would cost more."""
        self._untaken = 0
        self._taken = self.heard
        self._caller = Caller(self._drop, self._all_taken)

    def connection_made(self, transport: Any) -> None:
        """A client connects. Beyond the limit it is told to come again."""
        super().connection_made(transport)
        self.flow: _Flow = _Flow(transport)
        transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES)
        with suppress(OSError, AttributeError):
            # Only Linux has it, and only for TCP.
            connected = transport.get_extra_info("socket")
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        if len(self.connections) > MAX_CONNECTIONS:
            self._refuse(ServiceBusy(retry_after_seconds=1))

    def _drop(self) -> None:
        self.transport.abort()

    async def _all_taken(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.set_write_buffer_limits(high=0)
            await self.flow.drain()
            self.transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has left: nothing that only it waits for goes on."""
        super().connection_lost(exc)
        self._caller.leave()

    def data_received(self, data: bytes) -> None:
        """Bytes of a request."""
        self.heard = heard = now()
        credit = self._credit_until + len(data) / LEAST_BYTES
        self._credit_until = credit if credit < heard + CREDIT_SECONDS else heard + CREDIT_SECONDS
        self._pieces = 0
        unwanted = self._unwanted
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError as error:
            # What a method below has raised to the parser, or the parser's own complaint.
            raised = error.__context__
            self._refuse(raised if isinstance(raised, CarrelError) else Malformed())
            return
        except httptools.HttpParserUpgrade:
            # The request for another protocol was answered as any other.
            return
        if self._pieces > MANY_CHUNKS:
            self._rest(self.chunk_pace.wait(self._pieces))
        elif self._unwanted != unwanted:
            self._rest(self.pace.wait(len(data)))
        if self._in_message and not self._pieces:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self._refuse(Malformed())

    def _rest(self, seconds: float) -> None:
        """Leave the rest of the body where it is, until others have had their turn."""
        if seconds and not self.transport.is_closing():
            self.flow.pause_reading()
            self.flow.is_resting = True
            self.loop.call_later(seconds, self._go_on)

    def _go_on(self) -> None:
        self.flow.is_resting = False
        if not self.pipeline and not self._is_full and not self.transport.is_closing():
            self.flow.resume_reading()

    @property
    def _is_full(self) -> bool:
        """Whether the application has to take what is there before more of the body is read."""
        return self.cycle is not None and not self.cycle.response_complete and len(self.cycle.body) > WAITING_BYTES

    def on_message_begin(self) -> None:
        """A request starts."""
        self.url = b""
        self.headers = []
        self.expect_100_continue = False
        self._idle_since = None
        self._fresh = False
        self._in_head = self._in_message = True
        self._head_bytes = self._line_bytes = self._unwanted = 0
        self._began = self.heard
        self._credit_until = self.heard + CREDIT_SECONDS

    def on_header(self, name: bytes, value: bytes) -> None:
        """A line of its head. Trailers behind a body are ignored: the guards have seen the head by then."""
        if self._in_head:
            # Line by line, because the whole head may come in one piece.
            self._line_bytes += len(name) + len(value)
            if self._line_bytes > MAX_HEAD_BYTES or len(self.headers) == MAX_HEADERS:
                raise Malformed
            name = name.lower()
            if name == b"content-length":
                # The parser has read it, and it is a number.
                self.due = int(value)
            elif name == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
            self.headers.append((name, value))

    def on_url(self, url: bytes) -> None:
        """A part of its address."""
        self._line_bytes += len(url)
        if self._line_bytes > MAX_HEAD_BYTES:
            raise Malformed
        self.url += url

    def on_headers_complete(self) -> None:
        """Its head is complete: the application begins, or does so when the requests before this one are answered."""
        self._in_head = False
        parser = self.parser
        version = parser.get_http_version()
        address = httptools.parse_url(self.url)
        path = address.path.decode("ascii")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": version,
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "method": parser.get_method().decode("ascii"),
            "root_path": "",
            "path": unquote(path) if "%" in path else path,
            "raw_path": address.path,
            "query_string": address.query or b"",
            "headers": self.headers,
            "state": self.app_state.copy(),
            CALLER: self._caller,
        }
        before = self.cycle
        self.cycle = Cycle(
            scope,  # type: ignore[arg-type]  # ASGI lets a server add keys
            self.transport,
            self.flow,
            self.logger,
            self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )
        if before is None or before.response_complete:
            self._start_asgi_task(self.cycle, self.app)
        elif len(self.pipeline) >= MAX_AHEAD:
            raise TooManyRequests(retry_after_seconds=1)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))

    def on_body(self, body: bytes) -> None:
        """A piece of its body. Other code limits the body; this class limits everything around it."""
        self._pieces += 1
        self._head_bytes = 0
        self.due -= len(body)
        cycle = self.cycle
        if cycle.response_complete:
            self._unwanted += len(body)
            wipe(body)
            if self._unwanted > UNWANTED_BYTES and not self.transport.is_closing():
                self.transport.close()
            return
        if not isinstance(cycle.body, Body):
            cycle.body = Body()  # type: ignore[assignment]  # what uvicorn does with it, it can
        cycle.body += body
        if len(cycle.body) > WAITING_BYTES:
            self.flow.pause_reading()
        cycle.message_event.set()

    def on_message_complete(self) -> None:
        """Its body is complete."""
        self._in_message = False
        self.due = 0
        if self.cycle.response_complete:
            self._forget()
        else:
            self.cycle.more_body = False
            self.cycle.message_event.set()

    def on_response_complete(self) -> None:
        """The answer is sent. What the application left unread of the body may hold a key."""
        # A later request may wait already, and its body is not read yet.
        if self.cycle.response_complete and isinstance(self.cycle.body, Body):
            self.cycle.body.wipe()
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif self.cycle.response_complete:
            self._idle_since = now()
            if not self._in_message:
                self._forget()

    def _forget(self) -> None:
        """Let go of a request that was read and answered: thousands of connections may wait for their next one."""
        self.cycle = None  # type: ignore[assignment]  # as before the first one
        self.headers = []

    def _refuse(self, error: CarrelError) -> None:
        body = encoded(problem.answer(error, "").content)
        status = HTTPStatus(error.status)
        retry_after = b"" if error.retry_after_seconds is None else b"retry-after: %d\r\n" % error.retry_after_seconds
        self.transport.write(
            b"HTTP/1.1 %d %s\r\n" % (status, status.phrase.encode("ascii"))
            + b"content-type: application/problem+json\r\ncache-control: no-store\r\nconnection: close\r\n"
            + retry_after
            + b"content-length: %d\r\n\r\n" % len(body)
            + body
        )
        self.transport.close()

    def is_too_slow(self, at: float) -> bool:
        """Whether its client has kept the connection open for too long without a complete request."""
        if self._in_head:
            return at - self._began > HEAD_SECONDS
        if self._in_message and at > self._credit_until:
            return True
        if self._in_message or self._fresh:
            return at - self.heard > SILENT_SECONDS
        return self._idle_since is not None and at - self._idle_since > self.timeout_keep_alive

    def forgive(self, at: float) -> None:
        """Start the waiting times anew, because the client was waiting for us."""
        self.heard = at
        self._credit_until = at + CREDIT_SECONDS

    def takes_nothing(self, at: float) -> bool:
        """Whether the client has read no byte of its answer for too long."""
        waiting = self.transport.get_write_buffer_size()
        if not waiting or waiting != self._untaken:
            self._untaken, self._taken = waiting, at
        return at - self._taken > UNTAKEN_SECONDS


async def sweep(connections: set[Any]) -> None:
    """Close slow connections, for as long as the server runs."""
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        look(connections)


def look(connections: set[Any]) -> None:
    """Close those that are too slow now."""
    for connection in [*connections]:
        at = now()
        if connection.takes_nothing(at):
            # `close` would wait until the client has read everything.
            connection.transport.abort()
        elif connection.flow.read_paused:
            connection.forgive(at)
        elif connection.is_too_slow(at):
            connection.transport.close()
