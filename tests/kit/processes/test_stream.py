"""A call to which pieces go one by one: what comes back, who may end it, and what a hostile process makes of it."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from typing import Any, TypeVar

import msgspec
import pytest

from carrel.errors import BadInput, FieldError
from carrel.kit.processes import stream as streams
from carrel.kit.processes.confinement import Confinement
from carrel.kit.processes.jobs import (
    LENGTH,
    StreamEnd,
    WorkerDied,
    WorkerError,
    WorkerFailed,
    WorkerLied,
    WorkerTimedOut,
)
from carrel.kit.processes.stream import Stream
from carrel.kit.processes.worker import Child, Worker
from tests.support import worker_jobs as jobs

T = TypeVar("T")
PIECES = [b"a", b"b" * 1_000_000, b"c"]


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    worker = Worker(jobs.JOBS)
    yield worker
    await worker.close()


async def streamed(worker: Worker, read: Callable[[Stream], T]) -> T:
    async with worker.stream() as stream:
        return await asyncio.to_thread(read, stream)


async def test_pieces_go_in_as_they_are_wanted_and_results_come_out_as_they_are_made(worker: Worker) -> None:
    order: list[str] = []

    def pieces() -> Iterator[bytes]:
        for piece in PIECES:
            order.append("in")
            yield piece

    def read(stream: Stream) -> list[bytes]:
        found = []
        for part in stream.read(jobs.doubled, pieces(), 9):
            order.append("out")
            found.append(part)
        return found

    assert await streamed(worker, read) == [piece for piece in PIECES for _ in range(2)]
    assert order == ["in", "out", "out"] * 3
    pid = await worker.run(jobs.pid)
    assert await streamed(worker, lambda stream: list(stream.read(jobs.doubled, [], 9))) == []
    assert await worker.run(jobs.pid) == pid


async def test_a_refusal_comes_with_its_faults_and_the_process_stays(worker: Worker) -> None:
    pid = await worker.run(jobs.pid)
    with pytest.raises(BadInput) as raised:
        await streamed(worker, lambda stream: list(stream.read(jobs.doubled, PIECES, 2)))
    assert raised.value.errors == (FieldError("pieces[2]", "is one too many"),)
    with pytest.raises(WorkerFailed):
        await streamed(worker, lambda stream: list(stream.read(jobs.doubled, PIECES, "two")))  # type: ignore[arg-type]
    assert await worker.run(jobs.pid) == pid


async def test_a_stream_that_is_left_ends_its_process(worker: Worker) -> None:
    pid = await worker.run(jobs.pid)

    def read(stream: Stream) -> bytes:
        with closing(stream.read(jobs.doubled, PIECES, 9)) as parts:  # type: ignore[type-var]  # it is a generator
            return next(parts)

    assert await streamed(worker, read) == b"a"
    assert await worker.run(jobs.pid) != pid

    def fail() -> Iterator[bytes]:
        yield b"a"
        raise KeyError

    with pytest.raises(KeyError):
        await streamed(worker, lambda stream: list(stream.read(jobs.doubled, fail(), 9)))
    assert await worker.run(jobs.add, 1, 2) == 3


async def test_a_worker_that_is_closed_ends_the_stream_under_way(worker: Worker) -> None:
    closing_: list[asyncio.Task[None]] = []
    loop = asyncio.get_running_loop()

    def pieces() -> Iterator[bytes]:
        yield b"a"
        closing_.append(asyncio.run_coroutine_threadsafe(start_to_close(), loop).result())
        while True:
            yield b"b"

    async def start_to_close() -> asyncio.Task[None]:
        return asyncio.create_task(worker.close())

    with pytest.raises(WorkerDied):
        await streamed(worker, lambda stream: sum(1 for _ in stream.read(jobs.doubled, pieces(), 1 << 30)))
    await closing_[0]


def framed(*frames: Any) -> bytes:
    found = [frame if isinstance(frame, bytes) else msgspec.msgpack.encode(frame) for frame in frames]
    return b"".join(LENGTH.pack(len(frame)) + frame for frame in found)


GREETING = framed(Confinement(account=True, no_new_privileges=True, landlock=7, seccomp=True))
LIES: dict[str, tuple[bytes, type[WorkerError]]] = {
    "nothing": (b"", WorkerDied),
    "half a frame": (framed(StreamEnd())[:-1], WorkerDied),
    "a frame without an end": (LENGTH.pack(1 << 40), WorkerLied),
    "no message": (framed(b"\xc1"), WorkerLied),
    "another type": (framed({"type": "done", "value": 7}), WorkerLied),
    "another kind": (framed({"type": "confined"}), WorkerLied),
    "an error that is not on the list": (framed({"type": "refused", "error": "KeyboardInterrupt"}), WorkerLied),
    "too many faults": (
        framed({"type": "refused", "error": "BadInput", "faults": [["a", "b"]] * 51}),
        WorkerLied,
    ),
    "a fault without end": (framed({"type": "refused", "error": "BadInput", "faults": [["a", "b" * 301]]}), WorkerLied),
}


class Peer:
    """In place of a process: it says what it is to say, whatever it is asked."""

    pid = os.getpid()

    def __init__(self, said: bytes, *, stays: bool = False) -> None:
        self.ours, self._theirs = socket.socketpair()
        self.ours.setblocking(False)
        self._theirs.sendall(GREETING)
        self._said, self._stays = said, stays

    def speak(self) -> None:
        self._theirs.sendall(self._said)
        if not self._stays:
            self._theirs.shutdown(socket.SHUT_WR)

    def kill(self) -> None:
        self._theirs.close()

    def wait(self) -> int:
        return 0


async def outcome(peer: Peer) -> tuple[BaseException | list[bytes], int | None]:
    worker = Worker(jobs.JOBS, start=lambda _module, _seconds: Child(peer, peer.ours))  # type: ignore[arg-type]

    def read(stream: Stream) -> list[bytes]:
        peer.speak()
        return list(stream.read(jobs.doubled, [b"a"], 9))

    try:
        return await streamed(worker, read), worker.pid
    except WorkerError as error:
        return error, worker.pid
    finally:
        await worker.close()


@pytest.mark.parametrize("lie", LIES)
async def test_a_process_that_lies_is_ended(lie: str) -> None:
    said, kind = LIES[lie]
    found, pid = await outcome(Peer(said))
    assert type(found) is kind
    assert pid is None


async def test_a_process_that_keeps_its_caller_waiting_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "STREAM_SECONDS", 0.05)
    found, pid = await outcome(Peer(b"", stays=True))
    assert type(found) is WorkerTimedOut
    assert pid is None
