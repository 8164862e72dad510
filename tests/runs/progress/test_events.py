"""Events as a reader gets them: every commit once, resumable, and no reader holds anything up."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from carrel.auth.known_sessions import KnownSession
from carrel.auth.sessions import Session, User
from carrel.config import Settings
from carrel.errors import BadInput
from carrel.http.answers.etag import ANY_VERSION
from carrel.http.requests.envelope import RELEASE
from carrel.kit.sqlite.database import Connection
from carrel.runs.engine import commands
from carrel.runs.model import log
from carrel.runs.progress import store
from carrel.runs.progress.events import EventTimes, Only, Streams
from carrel.runs.progress.hub import TooManyStreams
from carrel.vault.workspace import Workspace
from tests.support.clock import FakeClock
from tests.support.engine import UUID, EngineHarness, engine_harness, key_of
from tests.support.host import Host, code_of, service
from tests.support.models import TestModels

BRISK = EventTimes(ping=0.05, client_timeout_seconds=0.2, gather=0.0)
HOUR = 3600


class Reader:
    """A client of one stream. `stalled`: it takes nothing."""

    def __init__(
        self,
        harness: EngineHarness,
        run_id: Any,
        *,
        last: str | None = None,
        pace: EventTimes = BRISK,
        only: Only | None = None,
    ) -> None:
        self.clock = FakeClock()
        self.stopping = asyncio.Event()
        self.disconnected = asyncio.Event()
        self.stalled = False
        self.released = False
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.text = ""
        self.complete = False
        streams = Streams(harness.pool, harness.engine.hub, self.clock, self.stopping, pace)
        epoch = harness.pool.keyring.epoch(UUID)
        session = Session(User(UUID, "paid"), epoch, int(self.clock.now()) + HOUR, 0.0, KnownSession(0, 0.0))
        stream = streams.open(session, run_id, last) if only is None else streams.tail(session, run_id, last, only)
        self._answer: Any = stream.asgi(None)  # type: ignore[arg-type]

    async def read(self) -> None:
        scope: Any = {"type": "http", RELEASE: self._release}
        await self._answer(scope, self._receive, self._send)
        assert RELEASE not in scope

    def _release(self) -> None:
        self.released = True

    async def _receive(self) -> Any:
        await self.disconnected.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
            return
        if self.stalled:
            await asyncio.Event().wait()
        self.text += message["body"].decode()
        self.complete = not message["more_body"]

    @property
    def events(self) -> list[dict[str, str]]:
        """What came, without pings."""
        blocks = [block for block in self.text.split("\n\n") if block and not block.startswith(":")]
        return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]

    @property
    def ids(self) -> list[int]:
        return [int(event["id"]) for event in self.events if "id" in event]

    async def until(self, text: str) -> None:
        async with asyncio.timeout(60):
            while text not in self.text:
                await asyncio.sleep(0.005)


@asynccontextmanager
async def reading(reader: Reader) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(reader.read())
    try:
        yield task
    finally:
        reader.disconnected.set()
        async with asyncio.timeout(60):
            await asyncio.wait([task])
        task.result()


async def test_a_reader_gets_every_row_of_the_log_once_and_in_order(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = await harness.make()
        reader = Reader(harness, run_id)
        async with reading(reader) as task:
            await harness.write(commands.start, run_id)
            async with asyncio.timeout(60):
                await task
        logged = [seq for (seq,) in await harness.rows("SELECT seq FROM run_log ORDER BY seq")]
        assert reader.ids == logged
        assert (reader.status, reader.complete, reader.released) == (200, True, True)
        assert reader.headers[b"x-accel-buffering"] == b"no"
        assert reader.headers[b"content-type"].startswith(b"text/event-stream")
        assert reader.headers[b"cache-control"] == b"no-store"
        last = reader.events[-1]
        assert (last["event"], json.loads(last["data"])["state"]) == ("end", "completed")
        assert any(event["event"] == "progress" for event in reader.events)


async def test_a_reader_resumes_after_its_last_event(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished()
        whole, rest = Reader(harness, run.id), Reader(harness, run.id, last="5")
        await whole.read()
        await rest.read()
        assert rest.ids == [number for number in whole.ids if number > 5]
        beyond = Reader(harness, run.id, last=str(10**17))
        await beyond.read()
        assert [event["event"] for event in beyond.events] == ["end"]


async def test_a_tail_that_wants_few_rows_of_a_long_log_looks_once_and_not_on_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run = await harness.finished()
        await harness.write(_lengthen_log, run.id)
        looked: list[str] = []

        async def scan(workspace: Workspace, fn: Any, *args: Any) -> Any:
            looked.append("in a thread")
            return await unwatched(workspace, fn, *args)

        def read(workspace: Workspace, fn: Any, *args: Any) -> Any:
            looked.append("on the event loop")
            return fn(workspace, *args)

        unwatched = Workspace.scan
        monkeypatch.setattr(Workspace, "scan", scan)
        monkeypatch.setattr(Workspace, "read", read)
        tail = Reader(harness, run.id, only=Only("error"))
        await tail.read()
        assert [event["event"] for event in tail.events] == ["end"]
        assert looked == ["in a thread"]


def _lengthen_log(conn: Connection, run_id: Any) -> None:
    for _ in range(1_000):
        log.write(conn, log.seq_of(conn, run_id), "task-succeeded", task_key="r1.generate.d1.c1.s1")


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "٣", "9" * 30, "1 2"])
async def test_an_id_that_no_event_can_have_is_bad_input(tmp_path: Path, last: str) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = await harness.make()
        with pytest.raises(BadInput):
            Reader(harness, run_id, last=last)


async def test_a_quiet_stream_pings(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        reader = Reader(harness, await harness.make())
        async with reading(reader):
            await reader.until(": ping\n\n: ping\n\n")


async def test_a_stream_holds_no_lease(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        reader = Reader(harness, await harness.make())
        async with reading(reader):
            await reader.until("run-created")
            assert not harness.pool.is_leased(UUID)
            assert reader.released


async def test_a_stream_ends_with_its_token(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        reader = Reader(harness, await harness.make())
        async with reading(reader) as task:
            await reader.until("run-created")
            reader.clock.advance(HOUR)
            async with asyncio.timeout(60):
                await task
        assert reader.events[-1]["event"] == "reauthenticate"
        assert reader.complete


async def test_a_stream_ends_when_the_session_does(tmp_path: Path) -> None:
    for end in ("evict", "rekey", "destroy", "membership"):
        async with engine_harness(tmp_path / end, TestModels()) as harness:
            # Between two pings that are far apart: it is told, and need not look.
            reader = Reader(harness, await harness.make(), pace=EventTimes(ping=60.0))
            async with reading(reader) as task:
                await reader.until("run-created")
                if end == "evict":
                    await harness.pool.evict(UUID)
                elif end == "rekey":
                    await harness.pool.rekey(UUID, key_of(), key_of("second"), lambda: None)
                elif end == "membership":
                    harness.pool.keyring.raise_epoch(UUID)
                else:
                    await harness.pool.destroy(UUID, lambda: None)
                async with asyncio.timeout(60):
                    await task
            assert reader.events[-1]["event"] == "reauthenticate", end


async def test_a_stream_ends_when_the_service_stops(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        reader = Reader(harness, await harness.make(), pace=EventTimes(ping=60.0))
        async with reading(reader) as task:
            await reader.until("run-created")
            reader.stopping.set()
            async with asyncio.timeout(60):
                await task
        assert reader.complete


async def test_a_stream_ends_when_its_run_is_deleted(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = await harness.make()
        reader = Reader(harness, run_id, pace=EventTimes(ping=60.0))
        async with reading(reader) as task:
            await reader.until("run-created")
            await harness.write(store.delete, run_id, ANY_VERSION)
            async with asyncio.timeout(60):
                await task


async def test_a_reader_that_takes_nothing_is_dropped_and_holds_nothing_up(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = await harness.start()
        reader = Reader(harness, run_id)
        reader.stalled = True
        async with asyncio.timeout(60):
            await reader.read()
        assert not reader.complete
        assert (await harness.ended(run_id)).state == "completed"


async def test_a_user_has_eight_streams_at_most(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = await harness.make()
        readers = [Reader(harness, run_id) for _ in range(8)]
        tasks = [asyncio.create_task(reader.read()) for reader in readers]
        for reader in readers:
            await reader.until("run-created")
        late = Reader(harness, run_id)
        with pytest.raises(TooManyStreams):
            await late.read()
        assert late.status == 0
        readers[0].disconnected.set()
        await tasks[0]
        again = Reader(harness, run_id)
        async with reading(again):
            await again.until("run-created")
        for reader in readers:
            reader.disconnected.set()
        await asyncio.wait(tasks)


async def test_over_http_a_stream_too_many_is_429_and_head_does_not_wait(settings: Settings, clock: FakeClock) -> None:
    settings = msgspec.structs.replace(settings, max_event_streams=1)
    async with service(settings, clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        made = await client.post("/api/contents", json={"name": "a", "type": "input_document", "body": "A. B."})
        criteria = await client.post("/api/contents", json={"name": "c", "type": "criteria", "body": "- name: Clarity"})
        configuration = {
            "inputs": [made.json()["id"]],
            "generation": {"candidates": [{"label": "given", "existing": {made.json()["id"]: made.json()["id"]}}]},
            "scoring": {"judges": [{"model": "local:reader"}], "criteria": criteria.json()["id"]},
        }
        run = (await client.post("/api/runs", json={"configuration": configuration})).json()
        path = f"/api/runs/{run['id']}/events"
        head = await client.head(path)
        assert (head.status_code, head.headers["x-accel-buffering"], head.content) == (200, "no", b"")
        both = [asyncio.create_task(client.get(path)) for _ in range(2)]
        [refused], [streaming] = await asyncio.wait(both, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        assert (refused.result().status_code, code_of(refused.result())) == (429, "too-many-streams")
        unknown = await client.get("/api/runs/nobody/events")
        assert (unknown.status_code, code_of(unknown)) == (404, "not-found")
        # The input is looked at before the row.
        for place in (path, "/api/runs/nobody/events", "/api/runs/nobody/logs/tail"):
            bad = await client.get(place, headers={"Last-Event-ID": "yesterday"})
            assert (bad.status_code, code_of(bad)) == (400, "invalid-input")
        streaming.cancel()
        await asyncio.wait([streaming])
