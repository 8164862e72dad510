"""A call to which pieces of a file go one by one, and from which results come one by one; a thread makes it."""

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, cast

from carrel.kit.processes.jobs import (
    LENGTH,
    MIB,
    Jobs,
    PieceRequest,
    StreamEnd,
    WorkerDied,
    WorkerLied,
    WorkerTimedOut,
)

P = ParamSpec("P")
T = TypeVar("T")

MAX_PART_BYTES: Final = 32 * MIB
STREAM_SECONDS: Final = 20.0
"""How long the process may keep its caller waiting altogether, on the clock of the wall."""


class Stream:
    """The channel to a process, for one call at a time. Owned by one thread while it lasts."""

    def __init__(self, channel: socket.socket, jobs: Jobs) -> None:
        self.is_open = False
        """Whether a call is under way: then the process is of no more use."""
        self._channel = channel
        self._jobs = jobs
        self._waited = 0.0

    def read(
        self,
        fn: Callable[Concatenate[Iterator[bytes], P], Iterator[T]],
        pieces: Iterable[bytes],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Iterator[T]:
        """Call `fn(pieces, *args)` in the process and return what it yields, as it comes. No piece may be empty.

        Raises:
            WorkerError: there is no result; see its kinds.
            Exception: what `fn` raised, if the list names it.
        """
        left = iter(pieces)
        self.is_open = True
        self._send(b"".join(self._jobs.call(fn, args)))
        while True:
            part = self._next(fn)
            if isinstance(part, StreamEnd):
                return
            if isinstance(part, PieceRequest):
                self._send(next(left, b""))
            else:
                yield cast(T, part.value)

    def _next(self, fn: Callable[..., object]) -> "PieceRequest | StreamEnd | Any":
        frame = self._receive()
        # After an error of the function, the process waits for the next call.
        self.is_open = False
        try:
            part = self._jobs.part(fn, frame)
        except WorkerLied:
            self.is_open = True
            raise
        self.is_open = not isinstance(part, StreamEnd)
        return part

    def _send(self, frame: bytes) -> None:
        with self._waiting():
            self._channel.sendall(LENGTH.pack(len(frame)) + frame)

    def _receive(self) -> bytearray:
        (length,) = LENGTH.unpack(self._bytes(LENGTH.size))
        if length > MAX_PART_BYTES:
            raise WorkerLied
        return self._bytes(length)

    def _bytes(self, count: int) -> bytearray:
        found = bytearray(count)
        rest = memoryview(found)
        while rest:
            with self._waiting():
                received = self._channel.recv_into(rest)
            if not received:
                raise WorkerDied
            rest = rest[received:]
        return found

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """The block does one thing on the channel, in the time that is left."""
        begun = time.monotonic()
        if self._waited >= STREAM_SECONDS:
            raise WorkerTimedOut
        self._channel.settimeout(STREAM_SECONDS - self._waited)
        try:
            yield
        except TimeoutError:
            raise WorkerTimedOut from None
        except OSError:
            raise WorkerDied from None
        finally:
            self._waited += time.monotonic() - begun
