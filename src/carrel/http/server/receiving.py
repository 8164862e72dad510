"""Receives requests so that nothing of them stays in memory when they have been read: they may carry a user's key.

uvloop receives into a buffer that it never overwrites, and hands every piece over as an object of its own, which stays
in freed memory. So the service brings its own buffer, which the parser reads in place.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from carrel.kit.sqlite.database import wipe

RECEIVE_BYTES: Final = 64 * 1024
"""The most of a body of known length that is received at once."""
SHORT_BYTES: Final = 8 * 1024
"""The most of anything else. If it is chunks of one byte each, the parser takes 0.3 ms for it."""
_ZEROS: Final = memoryview(bytes(RECEIVE_BYTES))


class Reader(HttpToolsProtocol):
    """uvicorn's protocol, which says besides how much it expects."""

    due = 0
    """The bytes of a body of known length that are still to come: of them, the parser reads many in no time."""


class Receiver(asyncio.BufferedProtocol):
    """Hands what a connection receives to `protocol`, and overwrites it as soon as that has read it.

    All connections share `buffer`, because the event loop receives and hands over in one step. A class of its own,
    because uvloop gives a buffer to no protocol that is an `asyncio.Protocol`, as uvicorn's is.
    """

    def __init__(self, protocol: Reader, buffer: memoryview) -> None:
        self._protocol = protocol
        self._buffer = buffer
        self._short = buffer[:SHORT_BYTES]

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to put what arrives."""
        due = self._protocol.due
        return self._buffer[:due] if due > SHORT_BYTES else self._short

    def buffer_updated(self, nbytes: int) -> None:
        """Read what arrived."""
        received = self._buffer[:nbytes]
        try:
            self._protocol.data_received(received)  # type: ignore[arg-type]  # the parser takes any buffer
        finally:
            received[:] = _ZEROS[:nbytes]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open."""
        self._protocol.connection_made(transport)  # type: ignore[arg-type]  # a stream's, as uvicorn has it too

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self._protocol.connection_lost(exc)

    def eof_received(self) -> None:
        """The client sends no more."""
        self._protocol.eof_received()

    def pause_writing(self) -> None:
        """The client reads too slowly."""
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._protocol.resume_writing()


def receiving(protocol: Callable[..., Reader]) -> Callable[..., Receiver]:
    """Makes a connection's `protocol`, as uvicorn would, behind a receiver."""
    buffer = memoryview(bytearray(RECEIVE_BYTES))

    def make(**kwargs: Any) -> Receiver:
        return Receiver(protocol(**kwargs), buffer)

    return make


class Body:
    """The pieces of a body until the application asks for it. Those that it does not ask for are overwritten.

    It stands where uvicorn has a `bytearray`, and does what uvicorn does with that one.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0

    def __iadd__(self, piece: bytes) -> "Body":
        self._pieces.append(piece)
        self._length += len(piece)
        return self

    def __len__(self) -> int:
        return self._length

    def __bytes__(self) -> bytes:
        """All of it, for the application, which overwrites it where it holds a key. Nothing of it is left here."""
        if len(self._pieces) == 1:
            self._length = 0
            return self._pieces.pop()
        whole = b"".join(self._pieces)
        self.wipe()
        return whole

    def wipe(self) -> None:
        """Overwrite what the application has not asked for."""
        while self._pieces:
            wipe(self._pieces.pop())
        self._length = 0

    def __del__(self) -> None:
        self.wipe()
