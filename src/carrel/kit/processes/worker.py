"""A worker: a separate process for pure work that would block the event loop. It has no keys and no secrets.

It is a fresh interpreter (`fork` and `exec` in one step, what multiprocessing calls *spawn*), started at the first
call. Not `multiprocessing` itself: that runs the parent's main program again in the child, and leaves the parent's
environment readable in `/proc/<pid>/environ`. Here the child gets an environment of a few harmless names, three file
descriptors, and over a socket pair the functions to run. It may read a hostile file, so its answers are not
trusted either: of everything that a pickle can name, only data types and errors are accepted.
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
from carrel.kit.processes import allocator

T = TypeVar("T")

_CHILD = Path(__file__).with_name("worker_child.py")
_PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TZ")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Sums of floats depend on the number of threads. With one thread they are the same everywhere."""
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
    """A call has no result."""


class WorkerDied(WorkerError):
    """The process ended during the call, or the worker was closed. An open worker starts another for the next call."""


class WorkerTimedOut(WorkerError):
    """The call took longer than allowed, and its process was ended."""


class WorkerFailed(WorkerError):
    """The function's result or error cannot be sent back."""


class Worker:
    """Runs one function at a time in a process that starts when it is first needed.

    A call that is cancelled or takes too long ends the process, because nothing else stops a computation. The next
    call starts a new process.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._users: KeyedLock[str] = KeyedLock()
        self._child: _Child | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The current process, if any."""
        return self._child.process.pid if self._child else None

    def turn_of(self, user: str) -> AbstractAsyncContextManager[None]:
        """Hold the user's lock, so that only one call of each user waits among all calls."""
        return self._users.of(user)

    async def run(self, fn: Callable[..., T], *args: object, timeout_seconds: float | None = None) -> T:
        """Call `fn(*args)` in the worker. `fn` is a function of a module; arguments and result are pickled.

        `timeout_seconds` counts from the call's start, not while it waits for others.

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
        """Like `run`, but call `fn` in a thread of this process if the worker gives no result.

        For results that are needed in any case and are never too much work for this process.

        Raises:
            Exception: what `fn` raised.
        """
        try:
            return await self.run(fn, *args)
        except WorkerError:
            return await asyncio.to_thread(fn, *args)

    async def close(self) -> None:
        """End the process. Calls that run or wait raise `WorkerDied`."""
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
        """Admit only Carrel's structs, tuples and errors, and Python's errors: calling them has no effects."""
        if (module, name) == _REBUILD or module == "builtins" or module.partition(".")[0] == "carrel":
            found = super().find_class(module, name)
            is_data = isinstance(found, type) and issubclass(found, Exception if module == "builtins" else _DATA)
            if is_data or (module, name) == _REBUILD:
                return found
        raise pickle.UnpicklingError


class _Child(NamedTuple):
    process: subprocess.Popen[bytes]
    channel: socket.socket


def _environment() -> dict[str, str]:
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return passed_on | _ONE_THREAD | allocator.ENVIRONMENT


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
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ}
                | _ONE_THREAD
                | allocator.ENVIRONMENT,
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
