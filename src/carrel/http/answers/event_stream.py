"""Shared parts of all streams of server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Final

from starlette.types import Receive, Send

from carrel.http.answers.response import Header

MEDIA_TYPE: Final = "text/event-stream"
HEADERS: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)
PING: Final = b": ping\n\n"


async def gone(receive: Receive) -> None:
    """Wait until the reader disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


def event(name: str, data: bytes) -> bytes:
    """One event; `data` is JSON, so it holds no line break."""
    return b"event: %s\ndata: %s\n\n" % (name.encode("ascii"), data)


async def stream(
    receive: Receive,
    send: Send,
    pieces: Callable[["asyncio.Task[None]"], AsyncGenerator[bytes, None]],
    *,
    timeout_seconds: float,
    headers: Iterable[Header] = (),
) -> None:
    """Send the answer: each event of `pieces`, until it ends or the reader takes nothing for too long.

    `pieces` gets a task that is done when the reader is gone.
    """
    left = asyncio.create_task(gone(receive))
    try:
        async with aclosing(pieces(left)) as events:
            await send({"type": "http.response.start", "status": 200, "headers": [*HEADERS, *headers]})
            async for piece in events:
                async with asyncio.timeout(timeout_seconds):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
    except TimeoutError:
        # Do not wait for a reader that takes nothing, because the rows hold what it missed.
        return
    finally:
        left.cancel()
