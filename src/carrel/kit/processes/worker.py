"""A worker: a separate process for pure work that would block the event loop. It has no keys and no secrets.

It is a fresh interpreter (`fork` and `exec` in one step, what multiprocessing calls *spawn*), started at the first
call. Not `multiprocessing` itself: that runs the parent's main program again in the child, and leaves the parent's
environment readable in `/proc/<pid>/environ`. Here the child gets an environment of a few harmless names and one end of
a socket pair. It runs the functions of one closed list (`jobs.py`), and gives up every other right before it sees the
first call (`confinement.py`). It may read a hostile file, so its answers are not trusted: they are checked, and a
process that sends anything else is replaced.
"""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar, cast

import msgspec

from carrel.kit import logs, meters
from carrel.kit.processes import allocator
from carrel.kit.processes.confinement import Confinement
from carrel.kit.processes.jobs import (
    BOUNDS,
    LENGTH,
    CallLimits,
    Jobs,
    WorkerDied,
    WorkerError,
    WorkerFailed,
    WorkerLied,
    WorkerTimedOut,
)
from carrel.kit.processes.stream import Stream

T = TypeVar("T")

STARTING_SECONDS: Final = 60.0
"""A start takes half a second, and longer on a machine that is busy."""

PROGRAM: Final = Path(__file__).with_name("child.py")
_PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TZ")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Sums of floats depend on the number of threads. With one thread they are the same everywhere."""
_MAX_GREETING_BYTES: Final = 1024
_PIECE_BYTES: Final = 64 * 1024
_greeting = msgspec.msgpack.Decoder(Confinement)
_Pieces = list[bytes | memoryview]


class Worker:
    """One process for the functions of one list. It starts when it is first needed, and makes one call at a time.

    A call that is cancelled or takes too long ends the process, because nothing else stops a computation. The next
    call starts a new process.
    """

    def __init__(self, jobs: Jobs, bounds: CallLimits = BOUNDS, start: "Start | None" = None) -> None:
        self._jobs = jobs
        self._start = start or started
        self._bounds = bounds
        self._turn = asyncio.Lock()
        self._child: Child | None = None
        self._closed = False
        self.confined: Confinement | None = None
        """What the process that started last is kept from."""

    @property
    def pid(self) -> int | None:
        """The current process, if any."""
        return self._child.process.pid if self._child else None

    async def run(self, fn: Callable[..., T], *args: object, timeout_seconds: float | None = None) -> T:
        """Call `fn(*args)` in the process. `timeout_seconds` counts neither waiting nor the start of a process.

        Raises:
            KeyError: `fn` is not on the list.
            WorkerError: no result; see its kinds.
            Exception: what `fn` raised, if the list names it.
        """
        call = self._jobs.call(fn, args)
        if _size(call) > self._bounds.call:
            raise WorkerFailed
        async with self._turn:
            try:
                answer = await self._exchange(call, timeout_seconds)
                return cast(T, self._jobs.result(fn, answer))
            except WorkerError as error:
                if isinstance(error, WorkerLied):
                    await self._discard()
                if not self._closed:
                    logs.warning("worker-error", kind=self._jobs.kind, reason=type(error).__name__, code=str(error))
                raise

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[Stream]:
        """A stream for a thread, which has to be done with it when the block ends.

        Raises:
            WorkerError: there is no process.
        """
        async with self._turn:
            try:
                stream = Stream(await self._ready(), self._jobs)
            except (OSError, EOFError, TimeoutError):
                await self._discard()
                raise WorkerDied from None
            try:
                yield stream
            finally:
                if stream.is_open:
                    await self._discard()
                elif self._child is not None:
                    self._child.channel.setblocking(False)

    async def close(self) -> None:
        """End the process for good. Calls that run or wait raise `WorkerDied`."""
        self._closed = True
        if self._child:
            self._child.process.kill()
        async with self._turn:
            await self._discard()

    async def _exchange(self, call: _Pieces, timeout_seconds: float | None) -> bytearray:
        finished = False
        try:
            channel = await self._ready()
            async with asyncio.timeout(timeout_seconds):
                await _send(channel, call)
                answer = await _receive(channel, self._bounds.answer)
            finished = True
        except TimeoutError:
            raise WorkerTimedOut from None
        except (OSError, EOFError):
            raise WorkerDied from None
        else:
            return answer
        finally:
            if not finished:
                await self._discard()

    async def _ready(self) -> socket.socket:
        """The channel to a process that waits for a call and has said nothing since the last one."""
        if self._closed:
            raise WorkerDied
        if self._child and not _is_silent(self._child.channel):
            await self._discard()
        if not self._child:
            self._child = self._start(self._jobs.module, self._bounds.cpu_seconds)
            async with asyncio.timeout(STARTING_SECONDS):
                greeting = await _receive(self._child.channel, _MAX_GREETING_BYTES)
            try:
                self.confined = _greeting.decode(greeting)
            except (msgspec.DecodeError, ValueError):
                raise WorkerLied from None
            meters.WORKERS.labels(self._jobs.kind).inc()
            logs.info("worker-started", kind=self._jobs.kind, state=self.confined.names())
        return self._child.channel

    async def _discard(self) -> None:
        child, self._child = self._child, None
        if child:
            child.process.kill()
            child.channel.close()
            await asyncio.to_thread(child.process.wait)


class Child(NamedTuple):
    """A process, and our end of its channel."""

    process: subprocess.Popen[bytes]
    channel: socket.socket


Start = Callable[[str, float], Child]
"""Starts a process for the list of a module, with so much processor time for a call."""


def started(module: str, cpu_seconds: float) -> Child:
    """A new process for the list of this module.

    Raises:
        WorkerDied: the system has no room for another process.
    """
    ours, theirs = socket.socketpair()
    search_path = map(os.path.abspath, sys.path)
    try:
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own file
                [sys.executable, "-I", str(PROGRAM), module, str(cpu_seconds), *search_path],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # what it might print could hold a document
                env=_environment(),
                cwd="/",
                start_new_session=True,  # a terminal's Ctrl-C is for the parent alone
            )
    except OSError:
        ours.close()
        raise WorkerDied from None
    ours.setblocking(False)
    return Child(process, ours)


def _environment() -> dict[str, str]:
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return passed_on | _ONE_THREAD | allocator.ENVIRONMENT


def _is_silent(channel: socket.socket) -> bool:
    """Whether the process lives and sent nothing that nobody asked for."""
    try:
        channel.recv(1)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _size(pieces: _Pieces) -> int:
    return sum(piece.nbytes if isinstance(piece, memoryview) else len(piece) for piece in pieces)


async def _send(channel: socket.socket, pieces: _Pieces) -> None:
    loop = asyncio.get_running_loop()
    begun = LENGTH.pack(_size(pieces))
    for piece in pieces:
        if len(begun) + len(piece) <= _PIECE_BYTES:
            begun += piece
        else:
            await loop.sock_sendall(channel, begun)
            await loop.sock_sendall(channel, piece)
            begun = b""
    if begun:
        await loop.sock_sendall(channel, begun)


async def _receive(channel: socket.socket, most: int) -> bytearray:
    """A frame of at most so many bytes, after which nothing follows."""
    loop = asyncio.get_running_loop()
    begun = b""
    while len(begun) < LENGTH.size:
        piece = await loop.sock_recv(channel, _PIECE_BYTES)
        if not piece:
            raise EOFError
        begun += piece
    (length,) = LENGTH.unpack_from(begun)
    if length > most or length < len(begun) - LENGTH.size:
        raise WorkerLied
    frame = bytearray(length)
    frame[: len(begun) - LENGTH.size] = begun[LENGTH.size :]
    rest = memoryview(frame)[len(begun) - LENGTH.size :]
    while rest:
        count = await loop.sock_recv_into(channel, rest)
        if not count:
            raise EOFError
        rest = rest[count:]
    return frame
