"""Server-sent events: a parser that takes bytes as they come, and a stream that resumes after a break."""

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from typing import Final, NamedTuple

import httpx

from carrel_sdk.calls import Calls
from carrel_sdk.errors import RENEWABLE_CODES, CarrelUnreachable, SessionEnded
from carrel_sdk.transport import Request, cause_of

SILENCE_SECONDS: Final = 45.0
"""The service pings every 15 seconds; a stream that is silent for this long is broken."""
_RECONNECTS: Final = 5
BACKOFF_SECONDS: Final = 0.5
_LINE_BYTES: Final = 4 * 1024 * 1024


class ServerEvent(NamedTuple):
    """One event. `id` says where to resume."""

    id: str
    kind: str
    data: str


def follow(
    calls: Calls,
    path: str,
    last_event_id: str,
    ended: Callable[[ServerEvent], bool],
    sleep: Callable[[float], None] = time.sleep,
    *,
    query: Mapping[str, str] | None = None,
) -> Iterator[ServerEvent]:
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
            with closing(events_of(calls, request)) as events:
                for event in events:
                    if event.kind == "reauthenticate":
                        # With another token if there is one; the same may do, too, if only the membership changed.
                        calls.forget_token()
                        break
                    breaks, last_event_id = 0, event.id or last_event_id
                    yield event
                    if ended(event):
                        return
        except SessionEnded as error:
            if breaks or error.code not in RENEWABLE_CODES or not calls.forget_token():
                raise
        except CarrelUnreachable:
            if breaks == _RECONNECTS:
                raise
        breaks += 1
        if breaks > _RECONNECTS:
            raise CarrelUnreachable("the service keeps ending the stream of events", sent=True)
        sleep(BACKOFF_SECONDS * breaks)


def events_of(calls: Calls, request: Request) -> Generator[ServerEvent, None, None]:
    """The events that answer one request, until the service ends them. The request is sent only once.

    Raises:
        CarrelUnreachable: the stream broke off.
        CarrelApiError: the service refuses it.
    """
    parser = EventParser()
    with calls.open_stream(request) as response:
        chunks = response.iter_bytes()
        while True:
            try:
                chunk = next(chunks, b"")
            except httpx.HTTPError as error:
                cause = cause_of(error)
                break
            if not chunk:
                return
            yield from parser.feed(chunk)
    # Raised here and not above: the HTTP client's error holds the request, and with it the token.
    raise CarrelUnreachable("the stream of events broke off", sent=True, cause=cause)


class EventParser:
    """A parser for the HTML standard's event streams. `feed` takes any piece and returns the events it completes."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._after_cr = False
        self._first = True
        self._id = ""
        self._kind = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that `chunk` completes.

        Raises:
            ValueError: a line is longer than any that Carrel sends.
        """
        events: list[ServerEvent] = []
        for line in self._lines(chunk):
            event = self._line(line)
            if event is not None:
                events.append(event)
        return events

    def _lines(self, chunk: bytes) -> Iterator[str]:
        # By hand: `splitlines` would also split at U+2028 and others, which JSON allows inside a string.
        for part in chunk.replace(b"\r\n", b"\n").splitlines(keepends=True):
            ended_by_cr, self._after_cr = self._after_cr, part.endswith(b"\r")
            if part == b"\n" and ended_by_cr and not self._rest:
                continue
            self._rest += part
            if len(self._rest) > _LINE_BYTES:
                raise ValueError("a line of the event stream is too long")
            if part.endswith((b"\n", b"\r")):
                line = self._rest.rstrip(b"\r\n").decode("utf-8", "replace")
                self._rest.clear()
                yield line.removeprefix("\ufeff") if self._first else line
                self._first = False

    def _line(self, line: str) -> ServerEvent | None:
        if not line:
            data, kind = "\n".join(self._data), self._kind or "message"
            complete = bool(self._data)
            self._data, self._kind = [], ""
            return ServerEvent(self._id, kind, data) if complete else None
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._kind = value
        elif field == "id" and "\0" not in value:
            self._id = value
        return None
