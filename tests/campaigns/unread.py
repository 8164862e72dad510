"""Thousands of answers that nobody reads: `python -m tests.campaigns.unread [ANSWERS [USERS]]`."""

import resource
import socket
import sys
import time
from contextlib import ExitStack
from typing import NamedTuple

import httpx

from tests.campaigns.cost import service
from tests.campaigns.process import resident_bytes
from tests.campaigns.user import User
from tests.support.service import Service

MAX_BYTES = 200 * 1000 * 1000
_SIZE = 1_000_000
_SETTLE_SECONDS = 2.0


class Held(NamedTuple):
    """The memory of the service before and while the answers wait, and how a stranger is served meanwhile."""

    before_bytes: int
    waiting_bytes: int
    connected: int
    slowest_ms: float


def unread(running: Service, answers: int, users: int = 4) -> Held:
    """Ask for so many answers of a megabyte, on a connection each, and read none of them."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with httpx.Client(base_url=running.url, timeout=60) as client, ExitStack() as stack:
        contents = [_content(User.new(client, running.plugin_secret)) for _ in range(users)]
        requests = [_request(user, path) for user, path in contents]
        stranger = User.new(client, running.plugin_secret, "stranger")
        stranger.get("/users/me")
        for user, path in contents:
            for _ in range(3):
                user.get(path)
        before = resident_bytes(running.pid)
        connected = 0
        for number in range(answers):
            connection = socket.socket()
            stack.callback(connection.close)
            # Else the kernel takes a part of the answer on the side of the client.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(10)
            try:
                connection.connect(("127.0.0.1", running.port))
                connection.sendall(requests[number % users])
                connected += 1
            except OSError:
                continue
        time.sleep(_SETTLE_SECONDS)
        slowest = 0.0
        for _ in range(20):
            began = time.perf_counter()
            stranger.get("/users/me")
            slowest = max(slowest, time.perf_counter() - began)
        return Held(before, resident_bytes(running.pid), connected, slowest * 1000)


def _content(user: User) -> tuple[User, str]:
    return user, f"/contents/{user.content('fragment', 'x' * _SIZE)}"


def _request(user: User, path: str) -> bytes:
    (token,) = user.session.values()
    return f"GET /api{path} HTTP/1.1\r\nHost: a\r\nX-SVC-Session-Token: {token}\r\n\r\n".encode()


def main(answers: int, users: int) -> None:
    """Measure and print."""
    with service() as running:
        held = unread(running, answers, users)
    print(
        f"{answers} unread answers of {_SIZE / 1e6:.0f} MB to {users} users: the service grew from"
        f" {held.before_bytes / 1e6:.0f} to {held.waiting_bytes / 1e6:.0f} MB;"
        f" a stranger waited {held.slowest_ms:.0f} ms at most"
    )


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*[*given, *(10_000, 4)[len(given) :]])
