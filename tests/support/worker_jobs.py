"""A closed list for tests of workers: what a hijacked worker would try, and a few harmless things."""

import ctypes
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from carrel.errors import BadInput, FieldError, NotFound
from carrel.kit.processes.jobs import Jobs


def add(a: int, b: int = 1) -> int:
    return a + b


def pid() -> int:
    return os.getpid()


def size(text: str) -> int:
    return len(text)


def zeros(count: int) -> bytes:
    return bytes(count)


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def spin() -> None:
    while True:
        pass


def same(thing: tuple[FieldError, dict[str, float], bytes, None]) -> tuple[FieldError, dict[str, float], bytes, None]:
    return thing


def fail(error: str) -> None:
    raise {"NotFound": NotFound, "KeyError": KeyError, "SystemExit": SystemExit}[error]


def doubled(pieces: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Each piece twice; refuse what comes after so many."""
    for number, piece in enumerate(pieces):
        if number >= most:
            raise BadInput(errors=(FieldError(f"pieces[{number}]", "is one too many"),))
        yield piece
        yield piece


def promise() -> int:
    """Break it."""
    return "no number"  # type: ignore[return-value]


def die() -> None:
    os.abort()


def environment() -> dict[str, str]:
    return dict(os.environ)


def modules() -> list[str]:
    return sorted(sys.modules)


def attempt(what: str, place: str) -> str:
    """The error that an attempt to break out raises; nothing if it succeeds."""
    try:
        _ATTEMPTS[what](place)
    except Exception as error:  # noqa: BLE001 - it is what the test wants to know
        return f"{type(error).__name__} {getattr(error, 'errno', '')}"
    return ""


def raw_attempt(number: int, arguments: list[int]) -> int:
    """The errno of a system call past Python's own checks; 0 if it succeeds."""
    libc = ctypes.CDLL(None, use_errno=True)
    done = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
    return ctypes.get_errno() if done == -1 else 0


def _connect(place: str) -> None:
    with socket.socket() as made:
        made.connect(("127.0.0.1", int(place)))


_ATTEMPTS: dict[str, Callable[[str], object]] = {
    "read": lambda place: open(place).close(),
    "write": lambda place: open(place, "w").close(),
    "list": os.listdir,
    "delete": os.unlink,
    "socket": lambda _: socket.socket().close(),
    "unix": lambda _: socket.socket(socket.AF_UNIX).close(),
    "connect": _connect,
    "execute": lambda place: os.execv(place, [place]),
    "spawn": lambda place: subprocess.run([place], check=False),
    "fork": lambda _: os.fork(),
    "kill": lambda place: os.kill(int(place), 0),
    "import": __import__,
    "memory": lambda place: bytes(int(place)),
    "limit": lambda _: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
}

JOBS = Jobs(
    "tests",
    __name__,
    (
        *(add, pid, size, zeros, sleep, spin, same, fail, promise, die, environment, modules),
        *(attempt, raw_attempt, doubled),
    ),
    errors=(BadInput, NotFound, ZeroDivisionError),
)
