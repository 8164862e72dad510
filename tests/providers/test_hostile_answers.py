"""Answers that would become many more bytes, objects or pieces than they are sent as: what they cost is bounded."""

import asyncio
import gc
import gzip
import json
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
from msgspec.structs import replace

from carrel.config import Secret
from carrel.providers.base import Access, Answer, GenerateMatter, ModelRequest, ProviderError
from carrel.providers.catalogue import KNOWN
from carrel.providers.connections.transport import MAX_ERROR_BYTES
from carrel.providers.foreign_json import MAX_ELEMENTS
from carrel.providers.http_provider import HttpProvider
from carrel.providers.protocols.wire import Wire
from tests.support.hostile_answers import GOOD, SHAPES, SILENT_STREAMS, STREAMS, many
from tests.support.network import provider_of
from tests.support.raw_server import RawServer, Say, ok, raw_server, says

MB = 1_000_000
LONGEST = 512 * 1024
"""Of an answer, here: an eighth of what a service reads."""
CALLS = 24
WIRES = [pytest.param(known.wire, id=name) for name, known in KNOWN.items()]
WIRES += [pytest.param(known.second.wire, id=f"{name}'s second") for name, known in KNOWN.items() if known.second]
PROTOCOLS = {
    "openai": b'{"choices":[{"message":{"content":%b}}]}',
    "anthropic": b'{"content":[{"type":"text","text":%b}]}',
    "google": b'{"candidates":[{"content":{"parts":[{"text":%b}]}}]}',
    "bedrock": b'{"output":{"message":{"content":[{"text":%b}]}}}',
}
"""An answer with a text as JSON, by a provider that speaks the protocol."""


@contextmanager
def growing_by_less_than(most_bytes: int) -> Iterator[None]:
    """What Python asks for at most during the block, in all threads, beyond what it had before."""
    gc.collect()
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most_bytes
    finally:
        tracemalloc.stop()


def packed(body: bytes) -> bytes:
    return ok(gzip.compress(body, 9), b"Content-Type: application/json", b"Content-Encoding: gzip")


def in_chunks(chunk: bytes, kind: bytes, times: int = 1_000_000) -> Say:
    """An answer in so many equal chunks, as long as anybody listens."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
    several = 1 + 65_536 // (len(chunk) + 5)

    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for _ in range(times // several):
            writer.write((b"%x\r\n" % len(chunk) + chunk + b"\r\n") * several)
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    return say


def request(server: RawServer) -> ModelRequest:
    return ModelRequest(
        model="m",
        system="",
        prompt="Say hello.",
        matter=GenerateMatter("", ""),
        timeout_seconds=60,
        access=Access(Secret(b"sk-canary-0123456789"), f"http://localhost:{server.port}/v1"),
        user="ada",
    )


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with raw_server(says()) as made:
        yield made


@pytest.fixture
async def provider(server: RawServer) -> AsyncIterator[HttpProvider]:
    async with provider_of("openai", f"localhost:{server.port}", max_answer_bytes=LONGEST) as made:
        # The client is imported, and has one connection.
        server.say = says(ok(GOOD % b"Hello"))
        await made.complete(request(server))
        server.asked.clear()
        yield made


@pytest.mark.parametrize("shape", SHAPES)
async def test_an_answer_that_unpacks_without_end_costs_no_more_than_the_longest_and_is_not_asked_for_again(
    server: RawServer, provider: HttpProvider, shape: str
) -> None:
    body = packed(SHAPES[shape](8 * LONGEST))
    server.say = says(body)
    # The server is in this process, too, and keeps what it has not sent.
    with growing_by_less_than(6 * MB + CALLS * len(body)):
        errors = await asyncio.gather(
            *(provider.complete(request(server)) for _ in range(CALLS)), return_exceptions=True
        )
    assert {(error.code, error.retryable) for error in errors if isinstance(error, ProviderError)} == {
        ("answer-too-large", False)
    }
    assert len(server.asked) == len(errors) == CALLS


@pytest.mark.parametrize("shape", SHAPES)
async def test_an_answer_just_below_the_limit_costs_little_more_than_its_bytes_however_many_come(
    server: RawServer, provider: HttpProvider, shape: str
) -> None:
    server.say = says(packed(SHAPES[shape](LONGEST - 100)))
    # The room for all of them, and the objects of one.
    with growing_by_less_than(8 * LONGEST + 12 * MB):
        ends = await asyncio.gather(*(provider.complete(request(server)) for _ in range(CALLS)), return_exceptions=True)
    codes = {end.code for end in ends if isinstance(end, ProviderError)}
    assert codes <= {"answer-too-large", "provider-malformed", "service-busy"}
    assert len(server.asked) == CALLS


async def test_long_answers_of_one_user_together_take_no_more_than_their_share(
    server: RawServer, provider: HttpProvider
) -> None:
    """Those beyond it fail, and may be tried again; the others are good."""
    server.say = says(ok(GOOD % (b"a" * (LONGEST // 4 - 100))))
    asked = [request(server) for _ in range(CALLS)]
    room = provider.network.room
    places = [room.place("ada") for _ in asked]
    calls = (provider.complete(replace(one, place=place)) for one, place in zip(asked, places, strict=True))
    ends = await asyncio.gather(*calls, return_exceptions=True)
    good = [end for end in ends if isinstance(end, Answer)]
    assert 2 <= len(good) <= 2 * 4
    assert {error.code for error in ends if isinstance(error, ProviderError)} == {"service-busy"}
    # Once they are stored, there is room again.
    for place in places:
        place.release()
    assert (await provider.complete(request(server))).text == good[0].text


@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_of_a_long_error_the_status_is_read_alone(server: RawServer, provider: HttpProvider, status: int) -> None:
    refusal = json.dumps({"error": {"message": "max_tokens " * MAX_ERROR_BYTES}}).encode()
    head = b"HTTP/1.1 %d No\r\nRetry-After: 7\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    body = gzip.compress(refusal)
    server.say = says(head % (status, len(body)) + body)
    with growing_by_less_than(2 * MB), pytest.raises(ProviderError) as caught:
        await provider.complete(request(server))
    codes = {400: "request-refused", 401: "provider-key-rejected", 429: "rate-limited", 500: "provider-overloaded"}
    assert caught.value.code == codes[status]
    assert caught.value.retry_after_seconds == (7 if status in (429, 500) else None)
    assert len(server.asked) == 1


@pytest.mark.parametrize("kind", [b"application/json", b"text/event-stream"])
async def test_an_answer_in_tiny_pieces_is_given_up(server: RawServer, provider: HttpProvider, kind: bytes) -> None:
    server.say = in_chunks(b"x", kind)
    with pytest.raises(ProviderError, match="answer-too-large"):
        await provider.stream(request(server), print)


async def test_a_server_may_send_spaces_while_a_model_thinks(server: RawServer, provider: HttpProvider) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = GOOD % b"Hello"
    server.say = says(head, b"1\r\n \r\n" * 3_600, b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    assert (await provider.complete(request(server))).text == "Hello"


@pytest.mark.parametrize("chunk", STREAMS.values(), ids=STREAMS)
async def test_a_stream_without_end_is_given_up(server: RawServer, provider: HttpProvider, chunk: bytes) -> None:
    server.say = in_chunks(chunk, b"text/event-stream")
    heard = list[int]()
    with growing_by_less_than(6 * MB), pytest.raises(ProviderError) as caught:
        await provider.stream(request(server), lambda text: heard.append(len(text)))
    assert (caught.value.code, caught.value.retryable) == ("answer-too-large", False)
    assert sum(heard) <= LONGEST // 4
    assert len(server.asked) == 1


async def test_a_stream_of_empty_lines_is_no_answer(server: RawServer, provider: HttpProvider) -> None:
    server.say = in_chunks(SILENT_STREAMS["empty lines"], b"text/event-stream", 100)
    with pytest.raises(ProviderError, match="provider-malformed"):
        await provider.stream(request(server), print)


@pytest.mark.parametrize("wire", WIRES)
def test_no_protocol_makes_objects_of_more_elements_than_an_answer_may_have(wire: Wire) -> None:
    elements = many(b"{}", b'{"choices":[],"content":[],"candidates":[],"data":[', b"]}", 3 * MAX_ELEMENTS)
    for read in (wire.answered, wire.models):
        with growing_by_less_than(MB), pytest.raises(ProviderError, match="answer-too-large"):
            read(elements)
    with growing_by_less_than(2 * MB), pytest.raises(ProviderError, match="answer-too-large"):
        wire.streamed().feed(b"data: " + elements + b"\n")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_text_full_of_commas_and_brackets_is_an_answer_like_any_other(name: str) -> None:
    text = '[{"a",1}]\\' * (MAX_ELEMENTS // 2)
    answer = KNOWN[name].wire.answered(PROTOCOLS[name] % json.dumps(text).encode())
    assert answer is not None
    assert answer.text == text
