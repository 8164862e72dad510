"""The other side of `worker.py`. It is started as a file, so it imports only the parts of Carrel that a call names."""

import ctypes
import gc
import os
import pickle
import resource
import select
import signal
import socket
import struct
import sys
from io import BufferedIOBase

_LENGTH = struct.Struct(">Q")
_LOWER_PRIORITY = 5
_PAUSE_SECONDS = 0.1
_PR_SET_DUMPABLE = 4


def main() -> None:
    """Answer calls until the parent hangs up."""
    for ignored in (signal.SIGINT, signal.SIGTERM):  # the parent decides when to end, and hangs up when it ends itself
        signal.signal(ignored, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold a document
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # and so does the memory, which is for nobody else to read
    sys.path[:] = sys.argv[1:]  # the parent's, so that the child finds the same modules
    os.nice(_LOWER_PRIORITY)  # requests go first
    with socket.socket(fileno=_take_stdin()) as channel, channel.makefile("rwb") as stream:
        while call := _receive(stream):
            answer = _answer(call)
            stream.write(_LENGTH.pack(len(answer)))
            stream.write(answer)
            stream.flush()
            del call, answer  # what a call held must not outlive it while the next is awaited
            if not select.select([channel], [], [], _PAUSE_SECONDS)[0]:
                gc.collect()  # nor what refers to itself, as templates of reports do


def _take_stdin() -> int:
    channel = os.dup(0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return channel


def _receive(stream: BufferedIOBase) -> bytes:
    """The next message; empty when the parent has hung up."""
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return b""
    (length,) = _LENGTH.unpack(header)
    return stream.read(length)


def _answer(call: bytes) -> bytes:
    try:
        fn, args = pickle.loads(call)  # noqa: S301 - the parent is the only one to write here
        value = fn(*args)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is for the caller
        return _message(False, error)
    return _message(True, value)


def _message(done: bool, value: object) -> bytes:
    try:
        message = pickle.dumps((done, value), protocol=pickle.HIGHEST_PROTOCOL)
        if not done:
            pickle.loads(message)  # noqa: S301 - made one line above; exceptions often fail only on the way back
    except Exception:  # noqa: BLE001 - an object may refuse to travel in any manner
        return pickle.dumps((False, None))
    return message


if __name__ == "__main__":
    main()
