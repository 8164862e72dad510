"""Slow clients and endless heads, against uvicorn with our protocol."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any, cast

import pytest
import uvicorn

from carrel.http.server import protocol
from carrel.http.server.protocol import Protocol, look, sweep
from carrel.http.server.receiving import RECEIVE_BYTES, SHORT_BYTES, Body, receiving
from tests.support.clock import FakeClock


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Reads the whole body, then answers: `ok`, or how many headers there were by then, or more than sockets hold."""
    while (await receive()).get("more_body"):
        pass
    bodies = {"/headers": b"%d" % len(scope["headers"]), "/much": bytes(32 * 1024 * 1024)}
    body = bodies.get(scope["path"], b"ok")
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(protocol, "SILENT_SECONDS", 0.3)
    monkeypatch.setattr(protocol, "SWEEP_SECONDS", 0.02)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """What the protocol takes for the time."""
    clock = FakeClock()
    monkeypatch.setattr(protocol, "now", clock.monotonic)
    return clock


@asynccontextmanager
async def listening(app: Any = app) -> AsyncIterator[tuple[int, set[Any]]]:
    """The port, and the connections, at which nobody looks."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    made: Any = receiving(Protocol)
    config = uvicorn.Config(app, http=made, ws="none", lifespan="off", log_config=None, access_log=False)
    config.load()
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve([listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield listener.getsockname()[1], server.server_state.connections
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def serving() -> AsyncIterator[int]:
    """The port of a server that cuts off who is too slow."""
    async with listening() as (port, connections):
        sweeping = asyncio.create_task(sweep(connections))
        try:
            yield port
        finally:
            sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await sweeping


async def talk(port: int, *parts: bytes, pause: float = 0.0) -> bytes:
    """Send the parts with a pause between them; what came back when the connection was closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with suppress(ConnectionError):
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
    answer = b""
    with suppress(ConnectionError):
        async with asyncio.timeout(TIMEOUT_SECONDS):
            answer = await reader.read()
    writer.close()
    return answer


async def talk_slowly(time: FakeClock, *parts: bytes, seconds: float) -> bytes:
    """Send the parts, the next so many seconds after one was heard; what came back when the connection was closed."""
    async with listening() as (port, connections), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while not connections:
            await asyncio.sleep(0.001)
        (connection,) = connections
        for part in parts:
            time.advance(seconds)
            look(connections)
            if connection.transport.is_closing():
                break
            writer.write(part)
            while connection.heard != time.monotonic():
                await asyncio.sleep(0.001)
        answer = await reader.read()
        writer.close()
        return answer


TIMEOUT_SECONDS = 60
CLOSE = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"


async def test_an_ordinary_request_passes() -> None:
    async with serving() as port:
        assert (await talk(port, CLOSE)).endswith(b"ok")


async def test_head_and_body_go_out_together_and_the_head_of_a_stream_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    go_on = asyncio.Event()

    async def streaming(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/stream":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await go_on.wait()
            await send({"type": "http.response.body", "body": b"later", "more_body": False})
        else:
            await app(scope, receive, send)

    async with listening(streaming) as (port, connections):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while not connections:
            await asyncio.sleep(0.001)
        (connection,) = connections
        send = connection.transport.write

        def write(data: bytes) -> None:
            written.append(data)
            send(data)

        monkeypatch.setattr(connection.transport, "write", write)
        writer.write(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 OK\r\n")
        assert len(written) == 1
        writer.write(b"HEAD / HTTP/1.1\r\nhost: a\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).count(b"content-length: 2\r\n") == 1
        writer.write(b"GET /stream HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"transfer-encoding: chunked\r\n" in head
        assert b"connection: close\r\n" in head
        go_on.set()
        assert await reader.read() == b"5\r\nlater\r\n0\r\n\r\n"
        writer.close()


async def test_a_header_with_a_line_break_is_never_sent() -> None:
    async def split(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"x-name", b"a\r\nset-cookie: b"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async with listening(split) as (port, _):
        answer = await talk(port, CLOSE)
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"set-cookie" not in answer


async def test_a_connection_without_requests_is_closed_after_its_time(time: FakeClock) -> None:
    async with listening() as (port, connections), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        await reader.readuntil(b"ok")
        (connection,) = connections
        time.advance(connection.timeout_keep_alive - 1)
        look(connections)
        assert not connection.transport.is_closing()
        time.advance(2)
        look(connections)
        assert await reader.read() == b""
        writer.close()


async def test_a_request_passes_that_is_slower_in_all_than_a_silence_may_be(time: FakeClock) -> None:
    head = b"POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 6\r\n\r\n"
    parts = head, b"ab", b"cd", b"ef"
    seconds = 0.6 * protocol.SILENT_SECONDS
    assert (await talk_slowly(time, *parts, seconds=seconds)).endswith(b"ok")


@pytest.mark.parametrize(
    "part",
    [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: a\r\n", b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nab"],
    ids=["nothing", "half a line", "half a head", "half a body"],
)
async def test_a_client_that_falls_silent_is_cut_off(impatient: None, part: bytes) -> None:
    async with serving() as port:
        assert await talk(port, part) == b""


async def test_a_head_that_trickles_is_cut_off(impatient: None) -> None:
    async with serving() as port:
        trickle = [b"GET / HTTP/1.1\r\n", *(b"x%d: y\r\n" % number for number in range(20))]
        assert await talk(port, *trickle, pause=0.05) == b""


async def test_a_head_that_is_too_large_is_400() -> None:
    async with serving() as port:
        answer = await talk(port, b"GET / HTTP/1.1\r\nx: ", *[b"a" * 10_000] * 12, pause=0.001)
        # When the client is still sending, the answer may be lost with the connection.
        assert answer == b"" or json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "malformed"
        assert (await talk(port, CLOSE)).endswith(b"ok")


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nx: " + b"a" * 100_000,
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nhost: a",
        b"GET / HTTP/1.1\r\n" + b"\r\n".join(b"x%d: y" % number for number in range(12_000)),
        b"GET / HTTP/1.1\r\n" + b"\r\n".join([b"x: y"] * (protocol.MAX_HEADERS + 1)),
    ],
    ids=["a long header", "a long address", "twelve thousand headers", "one header too many"],
)
async def test_a_head_that_is_too_large_is_400_also_if_it_comes_at_once(head: bytes) -> None:
    """Fed to the protocol as one piece: a socket may cut it into several."""
    async with listening() as (port, connections):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while not connections:
            await asyncio.sleep(0.001)
        (connection,) = connections
        connection.data_received(head + b"\r\n\r\n")
        answer = await reader.read()
        writer.close()
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "malformed"


async def test_one_connection_too_many_is_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MAX_CONNECTIONS", 1)
    async with listening() as (port, connections):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        while not connections:
            await asyncio.sleep(0.001)
        head, _, body = (await talk(port)).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in head
        assert json.loads(body)["code"] == "service-busy"
        writer.close()


async def test_as_many_headers_pass_as_are_allowed() -> None:
    async with serving() as port:
        more = b"x: y\r\n" * (protocol.MAX_HEADERS - 2)
        head = b"GET /headers HTTP/1.1\r\nhost: a\r\nconnection: close\r\n" + more + b"\r\n"
        assert (await talk(port, head)).endswith(b"\r\n\r\n%d" % protocol.MAX_HEADERS)


async def test_a_large_body_in_the_first_piece_is_no_large_head() -> None:
    body = b"a" * 200_000
    head = b"POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
    async with serving() as port:
        assert (await talk(port, head + body)).endswith(b"ok")


CHUNKED = b"POST %s HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "part",
    [b"0\r\n" + b"x: y\r\n" * 20_000, b"0\r\nx: " + b"y" * 200_000, b"1;" + b"y" * 200_000],
    ids=["many trailers", "one long trailer", "a long extension of a chunk"],
)
async def test_what_surrounds_a_body_has_a_limit_too(part: bytes) -> None:
    async with serving() as port:
        pieces = [part[at : at + 10_000] for at in range(0, len(part), 10_000)]
        answer = await talk(port, CHUNKED % b"/", *pieces, pause=0.001)
        assert answer == b"" or json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "malformed"
        assert (await talk(port, CLOSE)).endswith(b"ok")


async def test_a_trailer_is_no_header() -> None:
    async with serving() as port:
        answer = await talk(port, CHUNKED % b"/headers", b"2\r\nab\r\n0\r\n", b"x-late: a\r\n\r\n", pause=0.05)
        assert answer.endswith(b"\r\n\r\n3")


async def test_a_body_in_many_small_chunks_passes() -> None:
    async with serving() as port:
        chunks = [b"1\r\na\r\n" * 10_000 for _ in range(4)]
        assert (await talk(port, CHUNKED % b"/", *chunks, b"0\r\n\r\n")).endswith(b"ok")


async def test_a_body_that_trickles_is_cut_off(time: FakeClock) -> None:
    head = b"POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
    assert await talk_slowly(time, head % 30, *[b"a"] * 30, seconds=10) == b""
    # As long in all, but with more in every piece.
    pieces = [b"a" * 10 * protocol.LEAST_BYTES] * 30
    assert (await talk_slowly(time, head % sum(map(len, pieces)), *pieces, seconds=10)).endswith(b"ok")


async def test_a_client_that_stays_after_its_last_answer_is_cut_off(time: FakeClock) -> None:
    async with listening() as (port, connections), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(CLOSE)
        assert (await reader.read()).endswith(b"ok")
        time.advance(protocol.LINGER_SECONDS)
        look(connections)
        assert connections
        time.advance(0.1)
        look(connections)
        while connections:
            await asyncio.sleep(0.001)
        writer.close()


async def test_a_client_that_takes_nothing_of_its_answer_is_cut_off(time: FakeClock) -> None:
    async with listening() as (port, connections), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(b"GET /much HTTP/1.1\r\nhost: a\r\n\r\n")
        await reader.readexactly(100)
        (connection,) = connections
        look(connections)
        while not connection.transport.is_closing():
            # Something may still go from one buffer to another.
            await asyncio.sleep(0.001)
            time.advance(protocol.UNTAKEN_SECONDS + 1)
            look(connections)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await reader.readexactly(32 * 1024 * 1024)
        writer.close()


async def test_a_client_that_takes_its_answer_slowly_gets_all_of_it(time: FakeClock) -> None:
    async with listening() as (port, connections), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=64 * 1024)
        writer.write(b"GET /much HTTP/1.1\r\nhost: a\r\n\r\n")
        await reader.readexactly(1)
        (connection,) = connections
        for _ in range(15):
            before = connection.transport.get_write_buffer_size()
            await reader.readexactly(2 * 1024 * 1024)
            while before and connection.transport.get_write_buffer_size() == before:
                await asyncio.sleep(0.001)
            time.advance(0.6 * protocol.UNTAKEN_SECONDS)
            look(connections)
        await reader.readexactly(2 * 1024 * 1024)
        writer.close()


@pytest.mark.parametrize("fails", [False, True])
def test_what_was_received_is_overwritten(fails: bool) -> None:
    read = []

    class Reads:
        due = 0

        def data_received(self, data: memoryview) -> None:
            read.append(bytes(data))
            if fails:
                raise LookupError

    make: Any = receiving(cast(Any, Reads))
    receiver = make()
    receiver.get_buffer(-1)[:6] = b"secret"
    with pytest.raises(LookupError) if fails else nullcontext():
        receiver.buffer_updated(6)
    assert read == [b"secret"]
    assert not any(make().get_buffer(-1)), "all connections share one buffer"


def pieces_of_a_body() -> list[bytes]:
    """New objects: one that stood in the source would stay."""
    return [bytes(f"piece {number}", "ascii") for number in range(3)]


def test_a_body_is_handed_over_whole_and_nothing_stays() -> None:
    for number in range(4):
        pieces, body = pieces_of_a_body()[:number], Body()
        for piece in pieces:
            body += piece
        assert len(body) == 7 * number
        assert bytes(body) == b"".join(pieces_of_a_body()[:number])
        assert (len(body), bytes(body)) == (0, b"")
        assert number < 2 or pieces == [b"*" * 7] * number


def test_a_body_that_nobody_read_is_overwritten() -> None:
    pieces, body = pieces_of_a_body(), Body()
    for piece in pieces:
        body += piece
    del body
    assert pieces == [b"*" * 7] * 3


async def refuse(scope: Any, receive: Any, send: Any) -> None:
    """Answers without waiting for the body."""
    await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


async def test_a_body_that_nobody_wants_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "UNWANTED_BYTES", 1_000_000)
    async with listening(refuse) as (port, connections):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n")
        assert b" 401 " in await reader.readuntil(b"\r\n\r\n")
        with suppress(ConnectionError):
            for _ in range(1_000):
                writer.write(bytes(100_000))
                await writer.drain()
        assert not connections
        writer.close()


ENDLESS = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n"


async def test_a_body_that_nobody_wants_waits_while_others_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "REST_SECONDS", 3_600.0)
    async with listening(refuse) as (port, connections), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ENDLESS)
        await reader.readuntil(b"\r\n\r\n")
        (connection,) = connections
        read: list[int] = []
        usual = connection.data_received

        def counting(data: bytes) -> None:
            read.append(len(data))
            usual(data)

        monkeypatch.setattr(connection, "data_received", counting)
        writer.write(bytes(10 * RECEIVE_BYTES))
        while not connection.flow.read_paused:
            await asyncio.sleep(0.001)
        for _ in range(10):
            assert b" 401 " in await talk(port, CLOSE)
        assert len(read) == 1
        writer.close()


async def test_a_body_that_nobody_wants_is_read_on_after_its_wait() -> None:
    async with listening(refuse) as (port, _), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = bytes(10 * RECEIVE_BYTES)
        writer.write(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n" % len(body))
        await reader.readuntil(b"\r\n\r\n")
        writer.write(body + CLOSE)
        assert b" 401 " in await reader.read()
        writer.close()


async def test_a_body_in_tiny_chunks_is_read_a_little_at_a_time_while_others_are_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocol, "REST_SECONDS", 3_600.0)
    async with listening() as (port, connections), asyncio.timeout(TIMEOUT_SECONDS):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(CHUNKED % b"/" + b"1\r\na\r\n" * 10_000 + b"0\r\n\r\n")
        while not any(connection.flow.is_resting for connection in connections):
            await asyncio.sleep(0.001)
        (connection,) = connections
        for _ in range(10):
            assert b" 200 " in await talk(port, CLOSE)
        # The application wants more all the time.
        assert connection.cycle.more_body
        assert connection.flow.read_paused
        connection.transport.abort()
        writer.close()


async def test_only_of_a_body_of_known_length_much_is_received_at_once() -> None:
    async with listening() as (port, connections), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 200000\r\n\r\n" + bytes(10_000))
        while not connections or next(iter(connections)).due != 190_000:
            await asyncio.sleep(0.001)
        (connection,) = connections
        receiver = receiving(lambda: connection)()
        assert len(receiver.get_buffer(-1)) == RECEIVE_BYTES
        writer.write(bytes(180_000))
        while connection.due != 10_000:
            await asyncio.sleep(0.001)
        assert len(receiver.get_buffer(-1)) == 10_000
        writer.write(bytes(10_000))
        await reader.readuntil(b"ok")
        assert len(receiver.get_buffer(-1)) == SHORT_BYTES
        writer.close()


@pytest.mark.parametrize("ahead", [protocol.MAX_AHEAD, protocol.MAX_AHEAD + 1])
async def test_requests_that_are_sent_ahead_have_a_limit(ahead: int) -> None:
    async with listening() as (port, _), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n" * (1 + ahead))
        for _ in range(1 + protocol.MAX_AHEAD):
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")
        if ahead > protocol.MAX_AHEAD:
            answer = await reader.read()
            assert answer.startswith(b"HTTP/1.1 429 ")
            assert b"too-many-requests" in answer
        writer.close()


async def test_others_go_on_between_the_pieces_of_a_long_answer() -> None:
    rounds = 0

    async def count_rounds() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            await asyncio.sleep(0)

    async def long(scope: Any, receive: Any, send: Any) -> None:
        others = asyncio.create_task(count_rounds())
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"640000")]})
        for more in (*[True] * 9, False):
            await send({"type": "http.response.body", "body": bytes(64_000), "more_body": more})
        others.cancel()

    async with listening(long) as (port, _):
        assert len(await talk(port, CLOSE)) > 640_000
    assert rounds >= 9


async def test_what_follows_an_answer_is_overwritten() -> None:
    """The rest of a body that the application did not wait for."""
    async with listening(refuse) as (port, connections):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 12\r\n\r\nsecret")
        await reader.readuntil(b"\r\n\r\n")
        (connection,) = connections
        assert len(connection.cycle.body) == 0
        writer.write(b"secret" + CLOSE)
        assert b" 401 " in await reader.read()
        writer.close()
