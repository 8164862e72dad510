"""uvicorn's HTTP protocol, stricter about where a request ends, and with limits on heads and on slow clients.

Each request that was read is answered once, in its turn. What cannot be read is refused after the answers before it,
and ends the connection.

A request that is refused here never reaches the application, but gets an answer of the same shape. What the parser
calls for each request, line and piece stands here whole: calling uvicorn's own methods besides, for settings that
Carrel does not use, costs a tenth of a small request.
"""

import asyncio
import re
import socket
import time
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.flow_control import FlowControl

from carrel.errors import CarrelError, Malformed
from carrel.http.answers import problem
from carrel.http.answers.response import encoded
from carrel.http.client_connection import CLIENT, ClientConnection
from carrel.http.in_flight import ServiceBusy, TooManyRequests
from carrel.http.server.cycle import Cycle
from carrel.http.server.receiving import Body, Reader
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
"""In what is received at once. If there are more, each has less than a hundred bytes."""
REST_SECONDS: Final = 0.002
"""Between two pieces of a body that nobody wants, or that comes in small chunks. Without a rest, libuv reads up to 32
of them from one connection before it looks at any other."""
MAX_AHEAD: Final = 16
"""Requests that a client sends before the one at work is answered. Browsers send none ahead."""
LINGER_SECONDS: Final = 2.0
"""For this long a client may go on sending when its last answer is on its way. If the connection were closed at once,
its next byte would be answered by a reset, which can take the answer away from it."""
SWEEP_SECONDS: Final = 5.0
_HOST: Final = re.compile(rb"[A-Za-z0-9._~%!$&'()*+,;=:\[\]-]*")
"""What a host may consist of (RFC 3986, section 3.2.2)."""
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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = self._line_bytes = self._unwanted = self._pieces = 0
        self._in_head = False
        self._in_message = False
        self._began = self.heard = self._credit_until = now()
        self._fresh = True
        self._idle_since: float | None = None
        """When the last request was answered, until the next begins. A timer for each would cost more."""
        self._at_work: Cycle | None = None
        """The request that the application answers now. `cycle` is the last one that was read."""
        self.refusal: CarrelError | None = None
        """What the client is told when all requests before are answered."""
        self._ended: float | None = None
        """When the last answer was given. What the client sends from then on is ignored."""
        self._is_chunked = False
        self._hosts = 0
        self._untaken = 0
        self._taken = self.heard
        self._caller = ClientConnection(self._drop, self._all_taken)

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
        self._stop_working()
        self._caller.leave()

    def data_received(self, data: bytes) -> None:
        """Bytes of a request."""
        self.heard = heard = now()
        if self.refusal is not None or self._ended is not None:
            self._ignore(len(data))
            self._rest()
            return
        credit = self._credit_until + len(data) / LEAST_BYTES
        self._credit_until = credit if credit < heard + CREDIT_SECONDS else heard + CREDIT_SECONDS
        self._pieces = 0
        unwanted = self._unwanted
        try:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            # What a method below has raised to the parser, or the parser's own complaint.
            raised = error.__context__
            self._refuse(raised if isinstance(raised, CarrelError) else Malformed())
            return
        if self._pieces > MANY_CHUNKS or self._unwanted != unwanted:
            self._rest()
        if self._in_message and not self._pieces:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(Malformed())

    def _ignore_upgrade(self, data: bytes) -> None:
        """Read the body of a request that asks for another protocol, and what follows; it is answered as any other.

        RFC 9110, section 7.8, lets a server ignore the wish. The parser takes the end of such a head for the end of the
        request, whatever the head says of a body: what follows would be read as requests that nobody has sent. Another
        parser begins at the body; its head says where that ends, and no callback below heeds it within a request.
        """
        framing = b"transfer-encoding: chunked" if self._is_chunked else b"content-length: %d" % self.due
        stays = b"keep-alive" if self.parser.should_keep_alive() else b"close"
        self.parser = httptools.HttpRequestParser(self)
        self.parser.feed_data(b"POST / HTTP/1.1\r\nconnection: %b\r\n%b\r\n\r\n" % (stays, framing))
        self.parser.feed_data(data)

    def _rest(self) -> None:
        """Leave the rest of the body where it is for a moment: others go on meanwhile."""
        if not self.transport.is_closing():
            self.flow.pause_reading()
            self.flow.is_resting = True
            self.loop.call_later(REST_SECONDS, self._go_on)

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
        if self._in_message:
            return
        self.url = b""
        self.headers = []
        self.expect_100_continue = False
        self._idle_since = None
        self._fresh = False
        self._in_head = self._in_message = True
        self._head_bytes = self._line_bytes = self._unwanted = self._hosts = 0
        self._is_chunked = False
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
            elif name == b"transfer-encoding":
                # The parser lets other codings before this one pass, and repeated ones. Nobody here undoes them.
                if self._is_chunked or value.lower() != b"chunked":
                    raise Malformed
                self._is_chunked = True
            elif name == b"host":
                if not _HOST.fullmatch(value):
                    raise Malformed
                self._hosts += 1
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
        if not self._in_head:
            return
        parser = self.parser
        version = parser.get_http_version()
        method = parser.get_method().decode("ascii")
        # RFC 9112: 2.3 on versions, 3.2 on one host, 6.1 on codings that old clients do not know. No tunnel begins.
        is_clear = self._hosts == 1 if version == "1.1" else version == "1.0" and not self._is_chunked
        if not is_clear or method == "CONNECT":
            raise Malformed
        address = httptools.parse_url(self.url)
        path = address.path.decode("ascii")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": version,
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "method": method,
            "root_path": "",
            "path": unquote(path) if "%" in path else path,
            "raw_path": address.path,
            "query_string": address.query or b"",
            "headers": self.headers,
            "state": self.app_state.copy(),
            CLIENT: self._caller,
        }
        if len(self.pipeline) >= MAX_AHEAD:
            raise TooManyRequests(retry_after_seconds=1)
        self.cycle = cycle = Cycle(
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
        self._in_head = False
        if self._at_work is None:
            self._work(cycle)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((cycle, self.app))

    def _work(self, cycle: Cycle) -> None:
        self._at_work = cycle
        self._start_asgi_task(cycle, self.app)

    def on_body(self, body: bytes) -> None:
        """A piece of its body. Other code limits the body; this class limits everything around it."""
        self._pieces += 1
        self._head_bytes = 0
        self.due -= len(body)
        cycle = self.cycle
        if cycle.response_complete:
            wipe(body)
            self._ignore(len(body))
            return
        if not isinstance(cycle.body, Body):
            cycle.body = Body()  # type: ignore[assignment]  # what uvicorn does with it, it can
        cycle.body += body
        if len(cycle.body) > WAITING_BYTES:
            self.flow.pause_reading()
        cycle.message_event.set()

    def on_message_complete(self) -> None:
        """Its body is complete."""
        if self.parser.should_upgrade():
            # It is not: `_ignore_upgrade` reads it.
            return
        self._in_message = False
        self.due = 0
        if self.cycle.response_complete:
            self._forget()
        else:
            self.cycle.more_body = False
            self.cycle.message_event.set()

    def on_response_complete(self) -> None:
        """The answer is sent. What the application left unread of the body may hold a key."""
        answered, self._at_work = self._at_work, None
        self.server_state.total_requests += 1
        if answered is None:
            return
        if isinstance(answered.body, Body):
            answered.body.wipe()
        if self.transport.is_closing():
            return
        if not answered.keep_alive:
            self._end()
            return
        if self.refusal is not None and not self.pipeline:
            self._tell(self.refusal)
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._work(self.pipeline.pop()[0])  # type: ignore[arg-type]  # all are ours
        elif self.cycle.response_complete:
            self._idle_since = now()
            if not self._in_message:
                self._forget()

    def _forget(self) -> None:
        """Let go of a request that was read and answered: thousands of connections may wait for their next one."""
        self.cycle = None  # type: ignore[assignment]  # as before the first one
        self.headers = []

    def _refuse(self, error: CarrelError) -> None:
        """Read no more. The client is told why after the answers that are under way."""
        broken: Cycle | None = None
        if self._in_message and not self._in_head:
            broken = self.cycle  # type: ignore[assignment]  # ours
        if broken is not None and broken.response_complete:
            # It has had its answer, and there is no request to which another one would belong.
            self._end()
        elif broken is not None and broken is self._at_work:
            if broken.response_started:
                self.transport.abort()
            else:
                # The application waits for the rest of its body, so it has done nothing.
                self._tell(error)
        else:
            if broken is not None:
                self.pipeline.popleft()
            if self._at_work is None:
                self._tell(error)
            else:
                self.refusal = error

    def _tell(self, error: CarrelError) -> None:
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
        self._end()

    def _ignore(self, size: int) -> None:
        self._unwanted += size
        if self._unwanted > UNWANTED_BYTES and not self.transport.is_closing():
            self.transport.close()

    def _end(self) -> None:
        """Send no more. The client may take what was sent before the connection is closed."""
        if self._ended is not None or self.transport.is_closing():
            return
        self._ended = now()
        self._stop_working()
        self.pipeline.clear()
        if self.transport.can_write_eof():
            # The client may have gone already.
            with suppress(OSError):
                self.transport.write_eof()
            self.flow.resume_reading()
        else:
            self.transport.close()

    def _stop_working(self) -> None:
        if self._at_work is not None:
            self._at_work.disconnected = True
            self._at_work.message_event.set()

    def is_too_slow(self, at: float) -> bool:
        """Whether its client has kept the connection open for too long without a complete request."""
        if self._ended is not None:
            return at - self._ended > LINGER_SECONDS
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
