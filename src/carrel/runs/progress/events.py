"""`GET /runs/{id}/events` and `/logs/tail`: the log as server-sent events, as its rows are committed.

A stream holds no lease: it borrows the workspace for each look at the rows. The service queues nothing for it. A slow
reader therefore costs only its connection, which closes after ten seconds in which the reader took nothing.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import nullcontext
from typing import Final, NamedTuple

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.auth.sessions import Session
from carrel.errors import BadInput, NotFound, Unauthorized, Unavailable
from carrel.http.answers import event_stream
from carrel.http.answers.event_stream import MEDIA_TYPE, PING
from carrel.http.answers.response import Response
from carrel.http.request import Request
from carrel.http.requests.envelope import give_lease_back
from carrel.kit.clock import Clock
from carrel.kit.sqlite.database import Connection
from carrel.runs.model import log, run_transitions
from carrel.runs.model.log import Level, LogEntry
from carrel.runs.model.schemas import RunSummary
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import ENDED
from carrel.runs.progress import store
from carrel.runs.progress.hub import Hub
from carrel.runs.progress.live_texts import Watcher
from carrel.vault.pool import WorkspacePool

_BATCH: Final = 200
"""Rows of one piece of a stream: reading and writing more would keep the event loop for too long."""
_REAUTHENTICATE: Final = b"event: reauthenticate\ndata: {}\n\n"


class EventTimes(NamedTuple):
    """Times in seconds: between pings, for the reader to take one piece, and within which commits are sent together."""

    ping: float = 15.0
    client_timeout_seconds: float = 10.0
    gather: float = 0.05


class Only(NamedTuple):
    """The wanted rows; `None` leaves a filter out."""

    level: Level | None = None
    task_key: str | None = None


class _Look(NamedTuple):
    """What a look found: the rows as events, the row up to which it looked, whether there are more, and the run."""

    events: bytes
    seq: int
    is_full: bool
    summary: RunSummary


class Streams:
    """Makes the streams of this process. They end when `stopping` is set."""

    def __init__(
        self, pool: WorkspacePool, hub: Hub, clock: Clock, stopping: asyncio.Event, pace: EventTimes | None = None
    ) -> None:
        self.pool = pool
        self.hub = hub
        self.clock = clock
        self.stopping = stopping
        self.pace = pace or EventTimes()

    def open(self, session: Session, run_id: RunId, last_event_id: str | None, *, texts: bool = False) -> "EventStream":
        """The events of a run after `last_event_id`, or all events without one; with `texts`, answers as they come.

        Raises:
            BadInput: the id is none that an event can have.
        """
        return EventStream(self, session, run_id, _seq(last_event_id), texts=texts)

    def tail(self, session: Session, run_id: RunId, last_event_id: str | None, only: Only) -> "EventStream":
        """The rows of the run's log alone that pass the filters.

        Raises:
            BadInput: the id is none that a row can have.
        """
        return EventStream(self, session, run_id, _seq(last_event_id), only)


class EventStream(Response[bytes]):
    """The answer: log rows as they are committed, a ping now and then, and one last event that names the end.

    With `only` it is the tail of the log. Otherwise it also sends the run's progress after every few rows. With `texts`
    it sends the texts of answers while models write them, as far as the reader keeps up.
    """

    def __init__(
        self,
        streams: Streams,
        session: Session,
        run_id: RunId,
        seq: int,
        only: Only | None = None,
        *,
        texts: bool = False,
    ) -> None:
        super().__init__(b"", media_type=MEDIA_TYPE)
        self._streams = streams
        self._session = session
        self._uuid = session.user.uuid
        self._run_id = run_id
        self._seq = seq
        self._only = only
        self._texts = texts

    def asgi(self, request: Request) -> ASGIApp:
        """What is sent."""
        return self._send

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the run has ended, the session is over, the reader is gone or too slow, or the service stops.

        Raises:
            TooManyStreams: the user has too many; nothing was sent.
        """
        give_lease_back(scope)
        hub, run = self._streams.hub, (self._uuid, self._run_id)
        with hub.subscribed(*run) as news, hub.texts.watched(*run) if self._texts else nullcontext() as watcher:
            await event_stream.stream(
                receive,
                send,
                lambda gone: self._pieces(news, watcher, gone),
                timeout_seconds=self._streams.pace.client_timeout_seconds,
            )

    async def _pieces(
        self, news: asyncio.Event, watcher: Watcher | None, gone: "asyncio.Task[None]"
    ) -> AsyncGenerator[bytes, None]:
        spoken = self._streams.clock.monotonic()
        is_behind = is_to_look = True
        while not gone.done() and not self._streams.stopping.is_set():
            if self._is_over():
                yield _REAUTHENTICATE
                return
            if watcher is not None and (said := watcher.take()):
                spoken = self._streams.clock.monotonic()
                yield b"".join(event_stream.event("text", _json(part)) for part in said)
            news.clear()
            try:
                seen = await self._look(is_behind=is_behind) if is_to_look else None
            except Unauthorized:
                yield _REAUTHENTICATE
                return
            except NotFound:
                # The run was deleted meanwhile.
                return
            except Unavailable:
                # The workspace is being re-encrypted, or the pool has no room to open it: the next look may find it.
                seen = None
            if seen is not None:
                self._seq, is_behind = seen.seq, seen.is_full
                if piece := self._piece(seen):
                    spoken = self._streams.clock.monotonic()
                    yield piece
                if seen.is_full:
                    continue
                if seen.summary.state in ENDED:
                    yield b"event: end\ndata: " + _json(seen.summary) + b"\n\n"
                    return
            moved = await self._wait(news, watcher, gone)
            # Parts of answers come often, and no row comes with them.
            is_to_look = news.is_set() or not moved
            # Many rows may come of which this reader wants none.
            if not moved or self._streams.clock.monotonic() - spoken >= self._streams.pace.ping:
                spoken = self._streams.clock.monotonic()
                yield PING

    def _piece(self, seen: _Look) -> bytes:
        if self._only is not None or not seen.events:
            return seen.events
        return seen.events + b"event: progress\ndata: " + _json(seen.summary) + b"\n\n"

    async def _look(self, *, is_behind: bool) -> _Look:
        only = self._only or Only()
        async with self._streams.pool.leased(self._uuid) as workspace:
            # A reader who is behind may want a long log, or a few rows of it. The event loop reads what just came.
            if is_behind or any(only):
                return await workspace.scan(_look, self._run_id, self._seq, only)
            return workspace.read(_look, self._run_id, self._seq, only)

    def _is_over(self) -> bool:
        """Whether the token expired, or a rekey, an eviction or a change of membership ended the session."""
        epoch = self._streams.pool.keyring.epoch(self._uuid)
        return self._streams.clock.now() >= self._session.expires_at or self._session.epoch != epoch

    async def _wait(self, news: asyncio.Event, watcher: Watcher | None, gone: "asyncio.Task[None]") -> bool:
        """Wait until there is something to look at. Return False if nothing came in the time between two pings."""
        pace, left = self._streams.pace, self._session.expires_at - self._streams.clock.now()
        said = [] if watcher is None else [watcher.news]
        waits = [asyncio.create_task(event.wait()) for event in (news, self._streams.stopping, *said)]
        try:
            done, _ = await asyncio.wait(
                [*waits, gone], timeout=max(0.0, min(pace.ping, left)), return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for wait in waits:
                wait.cancel()
        if news.is_set() or any(event.is_set() for event in said):
            # A run makes hundreds of commits a second; a reader needs twenty.
            await asyncio.sleep(pace.gather)
        return bool(done) or left <= pace.ping


def _look(conn: Connection, run_id: RunId, seq: int, only: Only) -> _Look:
    run = run_transitions.present(conn, run_id).seq
    entries = log.after(conn, run, seq, _BATCH, level=only.level, task_key=only.task_key)
    is_full = len(entries) == _BATCH
    reached = entries[-1].seq if is_full else max(seq, log.newest(conn, run))
    return _Look(b"".join(map(_event, entries)), reached, is_full, store.summary(conn, run_id))


def _event(entry: LogEntry) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (entry.seq, entry.event.encode(), _json(entry))


def _json(value: object) -> bytes:
    return msgspec.json.encode(value)


def _seq(last_event_id: str | None) -> int:
    """The log row after which the stream continues."""
    if not last_event_id:
        return 0
    if not (last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) < 19):
        raise BadInput.at("Last-Event-ID", "must be the id of an event")
    return int(last_event_id)
