"""A server of all three protocols that tells everybody the key it was called with, whatever goes wrong with it.

The key stands in the body of its refusal, in headers that clients read, in the reason of the status line, and in the
address that a redirect leads to: as it is, and as it looks in base64 and in a query string.
"""

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote

from aiohttp import web


class Fault(NamedTuple):
    """What goes wrong, and the code that Carrel is to have for it. `how` is anything but a plain refusal."""

    name: str
    code: str
    status: int = 200
    how: str = ""
    words: Mapping[str, object] = MappingProxyType({})


FAULTS = (
    Fault("bad key", "provider-key-rejected", 401, words={"type": "authentication_error", "code": "invalid_api_key"}),
    Fault("forbidden", "provider-key-rejected", 403, words={"status": "PERMISSION_DENIED"}),
    Fault("Google's bad key", "provider-key-rejected", 400, words={"details": [{"reason": "API_KEY_INVALID"}]}),
    Fault("no credit", "provider-no-credit", 402, words={"code": "insufficient_quota"}),
    Fault("unknown model", "model-unknown", 404, words={"code": "model_not_found", "status": "NOT_FOUND"}),
    Fault("refused", "request-refused", 400, words={"type": "invalid_request_error"}),
    Fault("too fast", "rate-limited", 429, words={"type": "rate_limit_error", "status": "RESOURCE_EXHAUSTED"}),
    Fault("broken", "provider-overloaded", 500),
    Fault("overloaded", "provider-overloaded", 529, words={"type": "overloaded_error"}),
    Fault("its own time-out", "provider-timeout", 408),
    Fault("redirect", "provider-redirected", 307),
    Fault("an error in an answer", "provider-overloaded"),
    Fault("broken off", "provider-malformed", how="break off"),
    Fault("breaks down in a stream", "provider-overloaded", how="stream an error"),
    Fault("silent", "provider-timeout", how="say nothing"),
    Fault("hung up", "provider-unreachable", how="hang up"),
    Fault("nobody there", "provider-unreachable", how="not be there"),
    Fault("no certificate", "provider-untrusted", how="speak TLS"),
)


class LeakingServer:
    """What it was asked, and what is wrong with it."""

    def __init__(self, *, tls: bool) -> None:
        self.fault = FAULTS[0]
        self._scheme = "https" if tls else "http"
        self.keys: set[str] = set()
        """Every key that it saw, so that a test knows that there was something to tell."""
        self.urls: list[str] = []
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"{self._scheme}://localhost:{self.port}"

    @property
    def host(self) -> str:
        """What `CARREL_PROVIDER_HOSTS` must name."""
        return f"localhost:{self.port}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        self.urls.append(str(request.url))
        headers = request.headers
        key = headers.get("x-api-key") or headers.get("x-goog-api-key") or headers.get("Authorization", "")[7:]
        self.keys.add(key)
        if self.fault.how == "say nothing":
            await asyncio.Event().wait()
        if self.fault.how == "hang up":
            assert request.transport is not None
            request.transport.abort()
            return web.StreamResponse()
        if self.fault.how in ("break off", "stream an error"):
            return await self._begin(request, key)
        said = {"error": {"message": _leak(key), "param": key, **self.fault.words}, "message": key, "key": key}
        return web.Response(
            status=self.fault.status,
            reason=f"No {key}",
            body=json.dumps(said).encode(),
            headers=self._headers(key) | {"Content-Type": "application/json"},
        )

    async def _begin(self, request: web.Request, key: str) -> web.StreamResponse:
        answer = web.StreamResponse(headers=self._headers(key) | {"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        error = {"type": "error", "error": {"type": "overloaded_error", "code": 503, "message": _leak(key)}}
        if self.fault.how == "stream an error":
            await answer.write(b"data: " + json.dumps(error).encode() + b"\n\n")
        else:
            await answer.write(b'data: {"key": "' + key.encode())
            assert request.transport is not None
            request.transport.abort()
        return answer

    def _headers(self, key: str) -> dict[str, str]:
        # The clocks of tests may stand still, so nobody is asked to wait.
        wait = {"Retry-After": "0"} if self.fault.status in (429, 529, 500, 408) else {"Retry-After": key}
        leads = {"Location": f"http://localhost:{self.port}/stolen?key={quote(key)}"}
        return wait | leads | {"x-request-id": key, "Set-Cookie": f"key={quote(key)}", "WWW-Authenticate": f"Key {key}"}


def _leak(key: str) -> str:
    encoded = base64.b64encode(key.encode()).decode()
    return f"Sentence of theirs: the key {key} ({encoded}, https://x.example/?key={quote(key)}) is wrong."


def traces(key: str) -> tuple[str, ...]:
    """What must be found nowhere: the key, most of it, and what it becomes in other clothes."""
    return (key, key[:-4], key[6:], base64.b64encode(key.encode()).decode()[:20], key.encode().hex(), key[::-1])


@asynccontextmanager
async def leaking_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[LeakingServer]:
    """The server in this event loop."""
    server = LeakingServer(tls=tls is not None)
    app = web.Application()
    app.add_routes([web.route("*", "/{path:.*}", server.answer)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        server.port = runner.addresses[0][1]
        yield server
    finally:
        await runner.cleanup()
