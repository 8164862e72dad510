"""A worker: one process of its own for pure work that would hold up the event loop, without keys, without secrets.

It is a fresh interpreter (`fork` and `exec` in one step, what multiprocessing calls *spawn*), started at the first
call. Not `multiprocessing` itself: that runs the parent's main program again in the child, and leaves the parent's
environment readable in `/proc/<pid>/environ`. Here the child gets an environment of a few harmless names, three file
descriptors, and over a socket pair the functions to run. What it reads may be a stranger's file, so what it answers is
not trusted either: of all that a pickle may name, only kinds of data and of errors are taken.
"""

import asyncio
import io
import os
import pickle
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from carrel.kit.concurrency.keyed_lock import KeyedLock

T = TypeVar("T")

_CHILD = Path(__file__).with_name("worker_child.py")
_PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TZ")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Sums of floats depend on how many threads share them; one thread adds the same everywhere."""
_LENGTH = struct.Struct(">Q")
_MAX_ANSWER_BYTES = 1024 * 1024 * 1024
_DATA = (msgspec.Struct, tuple, Exception)
_REBUILD = ("msgspec._utils", "rebuild")
"""What a struct is pickled with; it calls one of the kinds above."""
_GARBAGE = (
    *(pickle.UnpicklingError, ArithmeticError, AttributeError, EOFError, ImportError, LookupError, MemoryError),
    *(RecursionError, TypeError, ValueError),
)
"""What reading a pickle raises that our own code in the child did not write."""


class WorkerError(Exception):
    """A call that brought no result."""


class WorkerDied(WorkerError):
    """The process ended under the call, or the worker was closed; the next call of an open worker starts another."""


class WorkerTimedOut(WorkerError):
    """The call took longer than it was given; its process was ended."""


class WorkerFailed(WorkerError):
    """The function raised what cannot be sent back, or its result cannot be."""


class Worker:
    """Runs one function at a time in a process that starts when it is first needed.

    A call that is cancelled or takes too long ends the process, for nothing else stops a computation; whoever comes
    next gets a new one.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._users: KeyedLock[str] = KeyedLock()
        self._child: _Child | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process that is there now, if any."""
        return self._child.process.pid if self._child else None

    def turn_of(self, user: str) -> AbstractAsyncContextManager[None]:
        """The user's turn to gather something and have it worked on: one of a user's wishes waits among all others'."""
        return self._users.of(user)

    async def run(self, fn: Callable[..., T], *args: object, timeout_seconds: float | None = None) -> T:
        """What `fn(*args)` returns there. `fn` is a function of a module; arguments and result are pickled.

        `timeout_seconds` counts from the call's turn, not while others are served.

        Raises:
            WorkerError: no result; see its kinds.
            Exception: what `fn` raised.
        """
        call = pickle.dumps((fn, args), protocol=pickle.HIGHEST_PROTOCOL)
        async with self._turn:
            done, value = await self._exchange(call, timeout_seconds)
        if done:
            return cast(T, value)
        raise value if isinstance(value, Exception) else WorkerFailed

    async def run_or_here(self, fn: Callable[..., T], *args: object) -> T:
        """`run`, or the same in a thread of this process if the worker brings no result.

        For what has to be had and cannot be too much for this process, which serves everybody.

        Raises:
            Exception: what `fn` raised.
        """
        try:
            return await self.run(fn, *args)
        except WorkerError:
            return await asyncio.to_thread(fn, *args)

    async def close(self) -> None:
        """End the process; calls that are under way or waiting raise `WorkerDied`."""
        self._closed = True
        if self._child:
            self._child.process.kill()
        async with self._turn:
            await self._discard()

    async def _exchange(self, call: bytes, timeout_seconds: float | None) -> tuple[bool, object]:
        if self._closed:
            raise WorkerDied
        if self._child and self._child.process.poll() is not None:
            await self._discard()
        if not self._child:
            self._child = _start()
        finished = False
        try:
            async with asyncio.timeout(timeout_seconds):
                answer = await _call(self._child.channel, call)
            finished = True
        except TimeoutError:
            raise WorkerTimedOut from None
        except (OSError, EOFError):
            raise WorkerDied from None
        finally:
            if not finished:
                await self._discard()
        try:
            done, value = _Answer(io.BytesIO(answer)).load()
        except _GARBAGE:
            raise WorkerFailed from None
        return done is True, value

    async def _discard(self) -> None:
        child, self._child = self._child, None
        if child:
            child.process.kill()
            child.channel.close()
            await asyncio.to_thread(child.process.wait)


class _Answer(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Carrel's structs, tuples and errors, and Python's errors: nothing that does anything when it is called."""
        if (module, name) == _REBUILD or module == "builtins" or module.partition(".")[0] == "carrel":
            found = super().find_class(module, name)
            is_data = isinstance(found, type) and issubclass(found, Exception if module == "builtins" else _DATA)
            if is_data or (module, name) == _REBUILD:
                return found
        raise pickle.UnpicklingError


class _Child(NamedTuple):
    process: subprocess.Popen[bytes]
    channel: socket.socket


def _start() -> _Child:
    ours, theirs = socket.socketpair()
    search_path = map(os.path.abspath, sys.path)
    try:
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own file
                [sys.executable, "-I", str(_CHILD), *search_path],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # what it might print could hold a document
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ} | _ONE_THREAD,
                cwd="/",
                start_new_session=True,  # a terminal's Ctrl-C is for the parent alone
            )
    except OSError:
        ours.close()
        raise WorkerDied from None
    ours.setblocking(False)
    return _Child(process, ours)


async def _call(channel: socket.socket, call: bytes) -> bytearray:
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(channel, _LENGTH.pack(len(call)))
    await loop.sock_sendall(channel, call)
    (length,) = _LENGTH.unpack(await _receive(channel, _LENGTH.size))
    if length > _MAX_ANSWER_BYTES:
        raise EOFError
    return await _receive(channel, length)


async def _receive(channel: socket.socket, length: int) -> bytearray:
    loop = asyncio.get_running_loop()
    received = bytearray(length)
    view = memoryview(received)
    while view:
        count = await loop.sock_recv_into(channel, view)
        if not count:
            raise EOFError
        view = view[count:]
    return received
