"""What the two processes of a hot restart send each other over their pair of sockets: bytes, and descriptors."""

import socket
import struct
from collections.abc import Sequence

_HEAD = struct.Struct("!QI")
"""How many bytes follow, and how many descriptors come before them."""
_AT_ONCE = 250
"""The kernel passes at most 253 descriptors with one message."""


def send(channel: socket.socket, body: bytes, descriptors: Sequence[int] = ()) -> None:
    """Send one message. Raises `OSError`."""
    channel.sendall(_HEAD.pack(len(body), len(descriptors)))
    for start in range(0, len(descriptors), _AT_ONCE):
        socket.send_fds(channel, [b"\0"], list(descriptors[start : start + _AT_ONCE]))
    channel.sendall(body)


def receive(channel: socket.socket) -> tuple[bytes, list[int]]:
    """The next message. Its descriptors are closed in programs that this one starts.

    Raises:
        EOFError: the other process has ended, or closed its end.
        OSError
    """
    length, count = _HEAD.unpack(_exactly(channel, _HEAD.size))
    descriptors: list[int] = []
    while len(descriptors) < count:
        byte, found, _, _ = socket.recv_fds(channel, 1, _AT_ONCE, socket.MSG_CMSG_CLOEXEC)
        if not byte:
            raise EOFError
        descriptors += found
    return _exactly(channel, length), descriptors


def _exactly(channel: socket.socket, length: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < length:
        piece = channel.recv(length - len(pieces))
        if not piece:
            raise EOFError
        pieces += piece
    return bytes(pieces)
