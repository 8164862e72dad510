"""`POST /generation` as a stream of events: over TCP, against servers that stream in each of the three protocols."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.http.requests.envelope import RELEASE
from carrel.single_calls import stream
from carrel.single_calls.schemas import Completion
from carrel.single_calls.stream import GenerationStream, SendBuffer, SendTimes
from tests.support.clock import FakeClock
from tests.support.host import Host, code_of
from tests.support.live_server import live_server
from tests.support.own_hosts import own_hosts
from tests.support.streaming_server import MODELS, PIECES, TEXT, USAGE, StreamingFault, StreamingServer, streaming
from tests.support.strict_servers import KEY
from tests.support.web_runs import add_keys

Json = dict[str, Any]
Event = tuple[str, Json]
STREAM = {"Accept": "text/event-stream"}
BODY = {"model": MODELS[0], "prompt": "What does the ledger say?"}
COLUMNS = {field: field for field in USAGE} | {
    "cached_tokens": "cached_read_tokens",
    "written_tokens": "cached_write_tokens",
}
EVERY_MODEL = pytest.mark.parametrize("model", MODELS)


@pytest.fixture
async def server() -> AsyncIterator[StreamingServer]:
    async with streaming() as server:
        with own_hosts(server.base_urls):
            yield server


@pytest.fixture
async def client(settings: Settings, clock: FakeClock, server: StreamingServer) -> AsyncIterator[httpx.AsyncClient]:
    async with live_server(replace(settings, provider_hosts=(f"localhost:{server.port}",)), clock) as client:
        yield client


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient, server: StreamingServer) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada"))
    await add_keys(client, KEY, server.base_urls)
    return client


async def test_a_server_that_refuses_to_stream_is_asked_for_the_whole_once_and_for_all(
    ada: httpx.AsyncClient, server: StreamingServer
) -> None:
    server.refuses = True
    for _ in range(2):
        said = await heard(ada)
        assert [name for name, _ in said] == ["piece", "end"]
        assert said[0][1]["text"] == TEXT
    assert ["stream" in body for _, body in server.asked] == [True, False, False]
    assert [row["outcome"] for row in await rows(ada)] == ["answered"] * 2


@asynccontextmanager
async def streamed(client: httpx.AsyncClient, **changes: Any) -> AsyncIterator[httpx.Response]:
    async with client.stream("POST", "/api/generation", json=BODY | changes, headers=STREAM) as answer:
        yield answer


async def events(answer: httpx.Response) -> AsyncIterator[Event]:
    """The events as they come; pings under their own name."""
    name = ""
    async for line in answer.aiter_lines():
        if line == ": ping":
            yield "ping", {}
        elif line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line:
            assert KEY not in line
            yield name, json.loads(line.removeprefix("data: "))


async def heard(client: httpx.AsyncClient, **changes: Any) -> list[Event]:
    async with streamed(client, **changes) as answer:
        assert answer.status_code == 200, await answer.aread()
        return [event async for event in events(answer)]


async def rows(client: httpx.AsyncClient) -> list[Json]:
    found: list[Json] = (await client.get("/api/metering/calls")).json()["items"]
    return found


async def settled(client: httpx.AsyncClient) -> Json:
    """The only row, once its call is over."""
    async with asyncio.timeout(60):
        while (found := await rows(client))[0]["outcome"] == "running":
            await asyncio.sleep(0.01)
    (row,) = found
    return row


def text_of(heard: list[Event]) -> str:
    return "".join(data["text"] for name, data in heard if name == "piece")


@EVERY_MODEL
async def test_an_answer_comes_in_pieces_and_is_counted_once(
    ada: httpx.AsyncClient, server: StreamingServer, model: str
) -> None:
    server.fault = "wait"
    async with streamed(ada, model=model) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
        assert answer.headers["ratelimit-policy"].startswith('"concurrency"')
        coming = events(answer)
        # The first piece is here while the model still writes.
        assert await anext(coming) == ("piece", {"text": PIECES[0]})
        assert server.ended == 0
        server.go_on.set()
        rest = [event async for event in coming]
    assert PIECES[0] + text_of(rest) == TEXT
    name, whole = rest[-1]
    assert (name, whole["text"], whole["usage"], whole["finish_reason"]) == ("end", TEXT, USAGE, "stop")
    row = await settled(ada)
    assert (row["id"], row["outcome"], row["phase"]) == (whole["id"], "answered", "generate")
    assert row["cost"] == whole["cost"] is not None
    assert {field: row[COLUMNS[field]] for field in USAGE} == USAGE


@EVERY_MODEL
async def test_each_server_is_asked_to_stream_in_its_own_words(
    ada: httpx.AsyncClient, server: StreamingServer, model: str
) -> None:
    await heard(ada, model=model)
    ((path, asked),) = server.asked
    if model.startswith("google"):
        assert path.endswith(":streamGenerateContent?alt=sse")
        assert "stream" not in asked
    else:
        assert asked["stream"] is True
        assert ("stream_options" in asked) == model.startswith("openai")


async def test_without_the_header_the_answer_is_whole_and_other_types_are_refused(ada: httpx.AsyncClient) -> None:
    built_in = BODY | {"model": "local:lead", "prompt": "Forty ships came into the harbour. The lamp was lit."}
    whole = await ada.post("/api/generation", json=built_in)
    assert whole.headers["content-type"] == "application/json"
    refused = await ada.post("/api/generation", json=built_in, headers={"Accept": "image/png"})
    assert code_of(refused) == "not-acceptable"
    # A built-in model says everything at once.
    (piece, end) = await heard(ada, **built_in)
    assert piece == ("piece", {"text": whole.json()["text"]})
    assert (end[0], end[1]["text"], end[1]["cost"]) == ("end", whole.json()["text"], "0")


@EVERY_MODEL
@pytest.mark.parametrize(
    ("fault", "code"),
    [("error", "provider-overloaded"), ("cut", "provider-malformed"), ("abort", "provider-malformed")],
)
async def test_an_answer_that_breaks_off_ends_in_an_error_and_is_of_unknown_cost(
    ada: httpx.AsyncClient, server: StreamingServer, model: str, fault: StreamingFault, code: str
) -> None:
    server.fault = fault
    async with streamed(ada, model=model) as answer:
        if answer.status_code == 503:
            # It broke off before anything was sent on.
            problem = json.loads(await answer.aread())
        else:
            *pieces, (name, problem) = [event async for event in events(answer)]
            assert (text_of(pieces), name) == (PIECES[0], "error")
    assert (problem["code"], problem["status"]) == ("model-call-failed", 503)
    assert problem["errors"][0]["message"].endswith(code)
    assert KEY not in str(problem)
    row = await settled(ada)
    # What it cost is not known, so it is not said to be nothing.
    assert (row["outcome"], row["code"], row["cost"]) == ("failed", code, None)


@EVERY_MODEL
async def test_whoever_goes_away_in_the_middle_leaves_an_exact_row(
    ada: httpx.AsyncClient, server: StreamingServer, model: str
) -> None:
    server.fault = "wait"
    async with streamed(ada, model=model) as answer:
        await anext(events(answer))
    assert (await rows(ada))[0]["outcome"] == "running"
    server.go_on.set()
    row = await settled(ada)
    assert row["outcome"] == "answered"
    assert {field: row[COLUMNS[field]] for field in USAGE} == USAGE
    assert row["cost"] is not None
    assert all(one["in_flight"] == 0 for one in (await ada.get("/api/rate-limits")).json()["items"])


async def test_a_stream_ends_with_the_users_key_and_its_row_says_that_nobody_knows(
    ada: httpx.AsyncClient, host: Host, server: StreamingServer
) -> None:
    server.fault = "wait"
    async with streamed(ada) as answer:
        coming = events(answer)
        await anext(coming)
        assert code_of(await host.login("ada", "wrong")) == "key-rejected"
        (name, problem) = await anext(coming)
    assert (name, problem["code"]) == ("error", "workspace-closed")
    ada.headers.update(await host.signed_in("ada"))
    row = await settled(ada)
    assert (row["outcome"], row["cost"]) == ("unknown-outcome", None)


async def test_a_changed_password_does_not_end_a_stream(
    ada: httpx.AsyncClient, host: Host, clock: FakeClock, server: StreamingServer
) -> None:
    server.fault = "wait"
    async with streamed(ada) as answer:
        coming = events(answer)
        await anext(coming)
        changed = await host.rekey("ada", "second")
        assert changed.status_code == 200
        server.go_on.set()
        assert [name async for name, _ in coming][-1] == "end"
    ada.headers["X-SVC-Session-Token"] = changed.json()["session_token"]
    assert (await settled(ada))["outcome"] == "answered"


async def test_a_model_that_is_silent_too_long_is_a_time_out_with_pings_before_it(
    ada: httpx.AsyncClient, server: StreamingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "PACE", SendTimes(ping=0.05, client_timeout_seconds=60.0))
    server.fault = "wait"
    # Time enough for the first piece on a machine that has much else to do.
    came = await heard(ada, timeout_seconds=3)
    assert [name for name, _ in came[:2]] == ["piece", "ping"]
    name, problem = came[-1]
    assert (name, problem["code"]) == ("error", "model-call-failed")
    assert problem["errors"][0]["message"].endswith("provider-timeout")
    row = await settled(ada)
    assert (row["outcome"], row["code"], row["cost"]) == ("failed", "provider-timeout", None)


async def test_what_fails_before_the_first_piece_has_the_status_of_its_error(
    ada: httpx.AsyncClient, server: StreamingServer
) -> None:
    async def answered(**changes: Any) -> str:
        async with streamed(ada, **changes) as answer:
            await answer.aread()
            return code_of(answer)

    assert await answered(model="no body:x") == "invalid-input"
    assert await answered(model="groq:llama-3.3-70b") == "provider-key-missing"
    assert await answered(parameters={"seed": 1}, model=MODELS[1]) == "model-call-refused"
    assert server.asked == []
    await ada.put("/api/rate-limits/openai", json={"requests_per_minute": 1, "concurrency": 4})
    await heard(ada)
    async with streamed(ada) as answer:
        await answer.aread()
        assert (code_of(answer), answer.headers["retry-after"]) == ("rate-limited", "60")


async def test_a_reader_that_takes_nothing_is_given_up_and_the_call_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "PACE", SendTimes(ping=1.0, client_timeout_seconds=0.05))
    written, stalled, released = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def call() -> Completion:
        await written.wait()
        return Completion(
            id="c",
            model="local:lead",
            host=None,
            text=TEXT,
            thought=None,
            finish_reason="stop",
            usage=None,
            cost="0",
            latency_ms=1,
        )

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            stalled.set()
            await asyncio.Event().wait()

    async def receive() -> Any:
        await asyncio.Event().wait()

    under_way = asyncio.create_task(call())
    answer: Any = GenerationStream(under_way, SendBuffer(), PIECES[0], ())
    scope: Any = {"type": "http", RELEASE: released.set}
    sending = asyncio.create_task(answer.asgi(None)(scope, receive, send))
    await stalled.wait()
    # Nobody who re-encrypts the workspace has to wait for this.
    assert released.is_set()
    await asyncio.wait([sending], timeout=0.2)
    assert not sending.done()
    written.set()
    await sending
    assert under_way.result().text == TEXT
