"""Where a request ends, and in which order answers go out: each request is answered once, whatever surrounds it."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from carrel.http.server import protocol
from tests.cli.test_protocol import listening
from tests.support.request_forms import FORMS, NEXT, Form, statuses

TIMEOUT_SECONDS = 60


class Recorder:
    """An application that keeps what it was asked, and answers when `go_on` is set."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bytes]] = []
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", not scope["path"].startswith("/early")
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message["body"]
            more = message["more_body"]
        self.asked.append((scope["path"], body))
        if not scope["path"].startswith("/early"):
            await self.go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


async def ask(port: int, *pieces: bytes) -> bytes:
    """What came back until the server had nothing more to say. A client that hears it goes on sending."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    heard = asyncio.create_task(reader.read())
    with suppress(ConnectionError):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            # Long enough for the server to read each piece by itself, or to read some together: both are right.
            await asyncio.sleep(0)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        answers = await heard
    writer.close()
    return answers


def pieces(raw: bytes, size: int) -> list[bytes]:
    return [raw[start : start + size] for start in range(0, len(raw), size)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
async def test_a_request_in_any_form_is_answered_once_or_refused(form: Form) -> None:
    recorder = Recorder()
    expected = [("/form", form.body)] if form.body is not None else []
    if form.statuses[-2:] == (200, 200):
        expected.append(("/next", b""))
    raw = form.raw + NEXT
    async with listening(recorder) as (port, _):
        for size in (len(raw), len(form.raw), max(7, len(raw) // 64)):
            recorder.asked.clear()
            assert statuses(await ask(port, *pieces(raw, size))) == form.statuses
            assert recorder.asked == expected


async def connected(port: int, connections: set[Any]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, Any]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while not connections:
        await asyncio.sleep(0)
    (connection,) = connections
    return reader, writer, connection


REFUSED_BEHIND = {
    "garbage": b"\0garbage\r\n\r\n",
    "a broken chunk": b"POST /last HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "too large a head": b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"a" * protocol.MAX_HEAD_BYTES + b"\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("behind", REFUSED_BEHIND.values(), ids=REFUSED_BEHIND)
async def test_answers_under_way_go_out_before_a_refusal(behind: bytes) -> None:
    recorder = Recorder()
    recorder.go_on.clear()
    async with listening(recorder) as (port, connections), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer, connection = await connected(port, connections)
        writer.write(b"POST /made HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx" * 3 + behind)
        while connection.refusal is None:
            await asyncio.sleep(0)
        recorder.go_on.set()
        assert statuses(await reader.read()) == (200, 200, 200, 400)
        writer.close()
    assert recorder.asked == [("/made", b"x")] * 3


async def test_a_request_whose_body_breaks_is_refused_and_never_done() -> None:
    recorder = Recorder()
    async with listening(recorder) as (port, _):
        broken = b"POST /made HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\nzz\r\n"
        assert statuses(await ask(port, broken)) == (400,)
    assert recorder.asked == []


async def test_a_request_that_was_answered_early_gets_no_second_answer_when_its_body_breaks() -> None:
    async with listening(Recorder()) as (port, _), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /early HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n")
        first = await reader.readuntil(b"ok")
        writer.write(b"zz\r\n")
        assert statuses(first + await reader.read()) == (200,)
        writer.close()


async def test_a_client_that_was_answered_before_it_might_send_its_body_is_let_go() -> None:
    """It may send the body now, or the next request: whichever it is, nobody takes the one for the other."""
    recorder = Recorder()
    async with listening(recorder) as (port, _), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /early HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 99\r\n\r\n")
        first = await reader.readuntil(b"ok")
        assert b"connection: close" in first
        writer.write(NEXT)
        assert await reader.read() == b""
        writer.close()
    assert [path for path, _ in recorder.asked] == ["/early"]


async def test_a_client_that_goes_on_sending_can_still_read_why_it_was_refused() -> None:
    async with listening(Recorder()) as (port, _), asyncio.timeout(TIMEOUT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"\0garbage\r\n\r\n")
        for _ in range(200):
            writer.write(bytes(10_000))
            await writer.drain()
        assert statuses(await reader.read()) == (400,)
        writer.close()
