"""Written by `sdk/generate.py` from `carrel_sdk.event_stream`. Change that, and run it again."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing

import httpx

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.errors import RENEWABLE_CODES, CarrelUnreachable, SessionEnded
from carrel_sdk.event_stream import _RECONNECTS, BACKOFF_SECONDS, SILENCE_SECONDS, EventParser, ServerEvent
from carrel_sdk.transport import Request, cause_of


async def follow(
    calls: AsyncCalls,
    path: str,
    last_event_id: str,
    ended: Callable[[ServerEvent], bool],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    *,
    query: Mapping[str, str] | None = None,
) -> AsyncIterator[ServerEvent]:
    """The events at `path` after `last_event_id`, up to the first for which `ended` is true.

    A broken stream is taken up where it broke; a token that ends is renewed if its source can fetch another.

    Raises:
        SessionEnded: the token ended, and there is no other.
        CarrelUnreachable: the stream broke several times in a row without an event in between.
        CarrelApiError: the service refuses the stream.
    """
    breaks = 0
    while True:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_event_id} if last_event_id else {})
        request = Request("GET", path, query or {}, headers=headers, read_seconds=SILENCE_SECONDS)
        try:
            async with aclosing(events_of(calls, request)) as events:
                async for event in events:
                    if event.kind == "reauthenticate":
                        calls.forget_token()
                        break
                    breaks, last_event_id = (0, event.id or last_event_id)
                    yield event
                    if ended(event):
                        return
        except SessionEnded as error:
            if breaks or error.code not in RENEWABLE_CODES or (not calls.forget_token()):
                raise
        except CarrelUnreachable:
            if breaks == _RECONNECTS:
                raise
        breaks += 1
        if breaks > _RECONNECTS:
            raise CarrelUnreachable("the service keeps ending the stream of events", sent=True)
        await sleep(BACKOFF_SECONDS * breaks)


async def events_of(calls: AsyncCalls, request: Request) -> AsyncGenerator[ServerEvent, None]:
    """The events that answer one request, until the service ends them. The request is sent only once.

    Raises:
        CarrelUnreachable: the stream broke off.
        CarrelApiError: the service refuses it.
    """
    parser = EventParser()
    async with calls.open_stream(request) as response:
        chunks = response.aiter_bytes()
        while True:
            try:
                chunk = await anext(chunks, b"")
            except httpx.HTTPError as error:
                cause = cause_of(error)
                break
            if not chunk:
                return
            for item in parser.feed(chunk):
                yield item
    raise CarrelUnreachable("the stream of events broke off", sent=True, cause=cause)
