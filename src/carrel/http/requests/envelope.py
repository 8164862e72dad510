"""The outermost layer, in plain ASGI: the work that every request needs, whatever the framework does.

It gives a request its id, answers HEAD as GET without a body, adds the security headers, handles CORS, releases the
lease on the workspace after the answer, counts the request, and writes one line of access log.
"""

import asyncio
import re
import secrets
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from itertools import count
from typing import Any, Final

from msgspec import UNSET
from starlette.types import Message, Receive, Scope, Send

from carrel.errors import CarrelError
from carrel.http.answers import problem
from carrel.http.answers.fenced import IS_DROPPED, USER, FencedSend, ServingFence
from carrel.http.answers.response import AsgiAnswer, Header
from carrel.http.client_connection import CLIENT, ClientConnection, served
from carrel.http.in_flight import IN_FLIGHT, PASSAGE, WORKED_SECONDS, InFlight, Passage
from carrel.http.requests.cors import Cors, OriginRefused
from carrel.http.requests.routing import Routes
from carrel.http.watching.access_log import AccessLog
from carrel.http.watching.request_metrics import RequestMetrics
from carrel.kit import traces
from carrel.kit.clock import Clock
from carrel.kit.logs import tail
from carrel.kit.reserve import Reserve

RELEASE: Final = "carrel.release"
"""The key in the scope under which a guard stores what releases its lease, or wipes a body that may hold a key."""
_SANE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_NO_STORE: Final = (b"cache-control", b"no-store")
_REMOVING: Final = frozenset({"/api/auth/logout"})
"""Besides every DELETE."""
_FAILED: Final = 400
"""From this status on."""
_BROKEN: Final = 500
"""From this status on, it is not the client's fault."""
_NOSNIFF: Final = (b"x-content-type-options", b"nosniff")
_HSTS: Final = (b"strict-transport-security", b"max-age=31536000")
_VARY: Final = (b"vary", b"Origin")


def give_lease_back(scope: Scope) -> None:
    """Release the guard's lease before the end of its request, which then goes on without the workspace."""
    release = scope.pop(RELEASE, None)
    if release is not None:
        release()


class Envelope:
    """Wraps `app`. `log` notes each request, `requests` counts it; `tls` says that browsers come by HTTPS only.

    A request that finds the `fence` closed is refused. One whose answer finds it closed gets none. Requests that remove
    something may use the room of the `reserve`.
    """

    def __init__(
        self,
        app: Routes,
        *,
        cors: Cors,
        tls: bool,
        clock: Clock,
        log: AccessLog | None,
        requests: RequestMetrics,
        reserve: Reserve,
        fence: ServingFence | None = None,
    ) -> None:
        self.app = app
        self.fence = fence
        self._reserve = reserve
        self._cors = cors
        self._clock = clock
        self._log = log
        self._requests = requests
        self._in_flight = InFlight()
        # This prefix differs from those of other starts and processes, and costs less than a random id for each
        # request.
        process = secrets.token_hex(6).encode("ascii")
        self._ids = (b"%s%012x" % (process, number) for number in count(1))
        self._common: list[Header] = [_NOSNIFF]
        if tls:
            self._common.append(_HSTS)
        if cors.any:
            self._common.append(_VARY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; other scopes pass through."""
        if scope["type"] == "http":
            await self._exchange(scope, receive, send)
            return
        try:
            await self.app(scope, receive, send)
        finally:
            # The lifespan is over.
            if self._log is not None:
                self._log.flush()

    async def _exchange(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = self._clock.monotonic()
        origin, request_id = _origin_and_id(scope["headers"])
        request_id = request_id or next(self._ids)
        extra = [*self._common, (b"x-request-id", request_id)]
        if origin is not None:
            extra += self._cors.answer_headers(origin)
        status = 0

        async def forward(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                passage: Passage | None = inner.get(PASSAGE)
                if passage is not None:
                    if message["status"] >= _FAILED and self._clock.monotonic() - started > WORKED_SECONDS:
                        await self._in_flight.pause()
                    passage.begin_answer()
                status = message["status"]
                headers = [*message["headers"], *extra]
                message["headers"] = headers
                for name, _ in headers:
                    if name == b"cache-control":
                        break
                else:
                    headers.append(_NO_STORE)
            await out(message)

        # This is a copy, because the server's own view of the request must not change.
        inner: dict[str, Any] = {
            **scope,
            problem.REQUEST_ID: request_id.decode("ascii"),
            IN_FLIGHT: self._in_flight,
        }
        out = send if self.fence is None else FencedSend(self.fence, inner, send)
        task = asyncio.current_task()
        caller: ClientConnection | None = inner.get(CLIENT)
        if caller is not None:
            caller.serve(task)
        with traces.span("request", "SERVER"):
            try:
                await self._answer(inner, origin, receive, forward, lambda: status > 0)
            finally:
                served(task)
                self._end(scope["method"], inner, status, started)

    def _end(self, method: str, scope: dict[str, Any], status: int, started: float) -> None:
        """Give back what the request held, count it, and log it."""
        release = scope.get(RELEASE)
        if release is not None:
            release()
        passage: Passage | None = scope.get(PASSAGE)
        if passage is not None:
            passage.end()
        if IS_DROPPED in scope:
            status = 0
        seconds = self._clock.monotonic() - started
        route = scope.get("path_template", "")
        code = scope.get(problem.CODE, UNSET)
        counted = self._requests.add(method, route, status, seconds, code)
        traces.note(
            f"{counted.method} {route}",
            {"http.request.method": counted.method, "http.route": route, "http.response.status_code": status},
            failed=status >= _BROKEN,
        )
        if self._log is not None:
            self._log.add(
                scope,
                method,
                route,
                status,
                seconds * 1000,
                scope[problem.REQUEST_ID],
                tail(scope.get(USER, "")),
                code,
            )

    async def _answer(
        self, scope: Any, origin: bytes | None, receive: Receive, send: Send, has_begun: Callable[[], bool]
    ) -> None:
        """Answer, or refuse. What is raised when the answer has begun ends the connection."""
        refusal = None if self.fence is None else self.fence.refusal(scope["path"])
        if refusal is not None:
            await _refuse(scope, refusal, receive, send)
            return
        method = scope["method"]
        if method == "OPTIONS" and origin is not None:
            headers = dict(scope["headers"])
            wanted = headers.get(b"access-control-request-method")
            if wanted is not None:
                try:
                    permitted = self._cors.preflight(
                        origin, wanted, headers.get(b"access-control-request-headers", b"")
                    )
                except OriginRefused as error:
                    await _refuse(scope, error, receive, send)
                else:
                    await AsgiAnswer(204, permitted, b"")(scope, receive, send)
                return
        if method == "HEAD":
            scope["method"] = "GET"
            head = _Head(receive, send)
            receive, send = head.receive, head.send
        removes = method == "DELETE" or scope["path"] in _REMOVING
        try:
            with self._reserve.lent() if removes else nullcontext():
                await self.app(scope, receive, send)
        except Exception as error:
            if has_begun():
                raise
            await problem.respond(scope, error)(scope, receive, send)


def _origin_and_id(headers: Iterable[Header]) -> tuple[bytes | None, bytes | None]:
    origin = request_id = None
    for name, value in headers:
        if name == b"origin":
            origin = value
        elif name == b"x-request-id" and _SANE_ID.fullmatch(value):
            request_id = value
    return origin, request_id


async def _refuse(scope: Any, error: CarrelError, receive: Receive, send: Send) -> None:
    scope[problem.CODE] = error.code
    await problem.answer(error, scope[problem.REQUEST_ID]).with_status(error.status)(scope, receive, send)


class _Head:
    """Lets a GET route answer a HEAD: it sends the start but no body, and a stream learns that nobody listens."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._over = asyncio.Event()

    async def receive(self) -> Any:
        """The client's messages, until the answer is sent."""
        if self._over.is_set():
            return {"type": "http.disconnect"}
        return await self._receive()

    async def send(self, message: Message) -> None:
        """Sends the start of the answer, and ends it."""
        if message["type"] == "http.response.start":
            await self._send(message)
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
            self._over.set()
