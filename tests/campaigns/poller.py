"""A stranger who asks for `/users/me` again and again: `python -m tests.campaigns.poller PORT TOKEN SECONDS`.

A process of its own that only waits and asks, so that what it waits for is the service and not its own machinery.
"""

import json
import os
import socket
import sys
import time
from contextlib import suppress

_PAUSE_SECONDS = 0.01


def main(port: int, token: str, seconds: float) -> None:
    """Print the milliseconds of each request as a list in JSON."""
    with suppress(OSError):  # only root may go first; the attackers' clients run on the same cores
        os.nice(-10)
    request = f"GET /api/users/me HTTP/1.1\r\nHost: a\r\nX-SVC-Session-Token: {token}\r\n\r\n".encode()
    found: list[float] = []
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        until = time.monotonic() + seconds
        while time.monotonic() < until or not found:
            began = time.perf_counter()
            connection.sendall(request)
            answer = received = connection.recv(65536)
            # Head and body may come apart.
            while not answer.endswith(b"}"):
                assert received, "the service has closed the connection"
                answer += (received := connection.recv(65536))
            assert answer.startswith(b"HTTP/1.1 200 "), answer
            found.append((time.perf_counter() - began) * 1000)
            time.sleep(_PAUSE_SECONDS)
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
