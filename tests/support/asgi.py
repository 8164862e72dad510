"""Drives an ASGI app's lifespan the way a server does: start, serve, stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
from starlette.types import ASGIApp, Message, Receive, Scope, Send


@asynccontextmanager
async def running(app: Any) -> AsyncIterator[None]:
    inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
    task = asyncio.create_task(app(scope, inbox.get, outbox.put))
    await inbox.put({"type": "lifespan.startup"})
    await _expect("lifespan.startup.complete", outbox, task)
    try:
        yield
    finally:
        await inbox.put({"type": "lifespan.shutdown"})
        await _expect("lifespan.shutdown.complete", outbox, task)
        await task


async def _expect(kind: str, outbox: "asyncio.Queue[dict[str, Any]]", task: "asyncio.Task[None]") -> None:
    message = asyncio.create_task(outbox.get())
    await asyncio.wait([message, task], return_when=asyncio.FIRST_COMPLETED)
    if not message.done():
        message.cancel()
        task.result()
        raise AssertionError("the app left its lifespan early")
    assert message.result()["type"] == kind, message.result()


def _strict(app: ASGIApp) -> ASGIApp:
    """The app for a server that takes nothing after the end of an answer; httpx would add it."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        has_ended = False

        async def say(message: Message) -> None:
            nonlocal has_ended
            assert not has_ended, "the answer has ended"
            has_ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        await app(scope, receive, say)

    return call


def client_of(app: ASGIApp, *, raise_errors: bool = True) -> httpx.AsyncClient:
    """A client that calls the app in this process."""
    # httpx and Litestar each describe ASGI with types of their own.
    transport = httpx.ASGITransport(app=cast("Any", _strict(app)), raise_app_exceptions=raise_errors)
    return httpx.AsyncClient(transport=transport, base_url="http://test")
