"""Hostile answers of a model's server, and what a stranger notices: `python -m tests.campaigns.answers [WORD]`.

One user calls a server of their own, 64 calls at once: a run of 200 documents, or 60 single calls that are streamed.
"""

import asyncio
import gzip
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import httpx

from tests.campaigns.beside import stranger
from tests.campaigns.process import forget_peak, peak_bytes, resident_bytes
from tests.campaigns.shared import sharing
from tests.campaigns.user import User
from tests.support.hostile_answers import GOOD, SHAPES, SILENT_STREAMS, STREAMS
from tests.support.raw_server import ok
from tests.support.service import Service, free_port

MAX_MS = 250.0
MAX_BYTES = 100 * 1024 * 1024
"""What the service may grow by: 32 MiB for all long answers, as documented, and 64 MiB around them."""
LONGEST = 16 * 1024 * 1024
_DOCUMENTS = 200
_STREAMS = 60
_SECONDS = 15.0
_STREAM_BYTES = 16 * 1024 * 1024
_KEY = "sk-0123456789abcdef"


class Held(NamedTuple):
    """How long a stranger waited at most, and by how much the service grew."""

    slowest_ms: float
    grown_bytes: int


def _packed(body: bytes, status: bytes = b"200 OK") -> bytes:
    packed = gzip.compress(body)
    head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(packed)) + packed


def _shaped(make: Callable[[int], bytes]) -> bytes:
    return _packed(make(LONGEST))


def _stream(event: bytes) -> bytes:
    chunk = b"%x\r\n%b\r\n" % (len(event), event)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + chunk * (_STREAM_BYTES // len(chunk)) + b"0\r\n\r\n"


def _tiny() -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"1\r\n \r\n" * 1_000_000 + b"0\r\n\r\n"


ANSWERS: dict[str, Callable[[], bytes]] = {
    **{name: partial(_shaped, make) for name, make in SHAPES.items()},
    "a text of a megabyte": lambda: ok(GOOD % (b"a" * 1_000_000 + b"\\ud83d\\ude00")),
    "not packed": lambda: ok(SHAPES["annotations"](LONGEST)),
    "tiny chunks": _tiny,
    "an error": lambda: _packed(SHAPES["annotations"](LONGEST), b"429 No"),
    **{f"stream: {name}": partial(_stream, event) for name, event in (STREAMS | SILENT_STREAMS).items()},
}


def held(name: str) -> Held:
    """What a stranger and the service's memory notice of one kind of answer."""
    with _server(name) as port, TemporaryDirectory(prefix="carrel-answers-") as folder:
        running = Service(Path(folder), settings={"CARREL_PROVIDER_HOSTS": f"127.0.0.1:{port}"})
        running.start()
        try:
            with sharing(running) as shared:
                user = shared.new_user()
                key = {"provider": "openai", "key": _KEY, "base_url": f"http://127.0.0.1:{port}/v1"}
                user.post("/provider-keys", key)
                # The client and the prices are read with the first call.
                user.get("/provider-keys/test/openai")
                user.client.post("/api/generation", json=_ASKED, headers=user.session)
                with stranger(shared) as other:
                    before = resident_bytes(running.pid)
                    forget_peak(running.pid)
                    other.longest_ms()
                    if name.startswith("stream"):
                        asyncio.run(_streamed(running.url, user))
                    else:
                        _run(user)
                    return Held(other.longest_ms(), peak_bytes(running.pid) - before)
        finally:
            running.kill()


_ASKED = {"model": "openai:m", "prompt": "Say hello.", "parameters": {"max_output_tokens": 1_000_000}}


def _run(user: User) -> None:
    inputs = [user.content("input_document", f"Document {number}") for number in range(_DOCUMENTS)]
    configuration = {
        "inputs": inputs,
        "instructions": user.content("generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": "openai:m"}]},
        "scoring": {"judges": [{"model": "local:reader"}], "criteria": user.content("criteria", "- name: Coverage")},
        "limits": {"concurrency": 64},
    }
    run = user.post("/runs", {"configuration": configuration})["id"]
    user.post(f"/runs/{run}/start", None)
    until = time.monotonic() + _SECONDS
    while user.get(f"/runs/{run}")["state"] == "running" and time.monotonic() < until:
        time.sleep(0.1)


async def _streamed(url: str, user: User) -> None:
    async def again_and_again(client: httpx.AsyncClient) -> None:
        headers = {**user.session, "Accept": "text/event-stream"}
        while True:
            with suppress(httpx.HTTPError):
                async with client.stream("POST", "/api/generation", json=_ASKED, headers=headers) as answer:
                    async for _ in answer.aiter_raw():
                        pass

    async with _client(url) as client:
        calls = [asyncio.create_task(again_and_again(client)) for _ in range(_STREAMS)]
        await asyncio.wait(calls, timeout=_SECONDS)
        for call in calls:
            call.cancel()


@asynccontextmanager
async def _client(url: str) -> AsyncIterator[httpx.AsyncClient]:
    limits = httpx.Limits(max_connections=_STREAMS)
    async with httpx.AsyncClient(base_url=url, timeout=600, limits=limits) as client:
        yield client


@contextmanager
def _server(name: str) -> Iterator[int]:
    port = free_port()
    command = [sys.executable, "-m", "tests.campaigns.answers", "--serve", str(port), name]
    with Popen(command, stdout=PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline(), "the server did not start"
        try:
            yield port
        finally:
            process.kill()


class _Answering(asyncio.Protocol):
    """Answers each request that it got whole: a list of models to a GET, and the hostile answer to any other."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._received = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, whole, body = self._received.partition(b"\r\n\r\n")
        length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
        if whole and len(body) >= length:
            self._received = body[length:]
            self._transport.write(ok(b'{"data": []}') if head.startswith(b"GET") else self._answer)


async def _serve(port: int, answer: bytes) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: _Answering(answer), "127.0.0.1", port)
    print("here", flush=True)
    await server.serve_forever()


def line(name: str, found: Held) -> str:
    """One line of figures."""
    return f"{name:26} {found.slowest_ms:7.0f} ms {found.grown_bytes / 1e6:7.0f} MB"


def main(words: list[str]) -> None:
    """Measure and print, or be the server."""
    if words[:1] == ["--serve"]:
        asyncio.run(_serve(int(words[1]), ANSWERS[words[2]]()))
        return
    for name in ANSWERS:
        if not words or any(word in name for word in words):
            print(line(name, held(name)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
