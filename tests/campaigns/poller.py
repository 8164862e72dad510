"""A stranger who asks for `/users/me` again and again: `python -m tests.campaigns.poller PORT TOKEN [SECONDS]`.

Without a number of seconds it asks until its standard input ends, and prints its longest wait since the last line each
time that it gets one. A process of its own that only waits and asks, so that what it waits for is the service and not
its own machinery.
"""

import json
import os
import select
import socket
import sys
import time
from contextlib import suppress

_PAUSE_SECONDS = 0.01
_PAUSE_BESIDE_SECONDS = 0.02
"""Longer, because what this costs the service is counted with the request beside which it asks."""


def main(port: int, token: str, seconds: float | None) -> None:
    """Print the milliseconds of each request as a list in JSON, or the longest of them for each line that comes."""
    with suppress(OSError):  # only root may go first; the attackers' clients run on the same cores
        os.nice(-10)
    request = f"GET /api/users/me HTTP/1.1\r\nHost: a\r\nX-SVC-Session-Token: {token}\r\n\r\n".encode()
    found: list[float] = []
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        until = time.monotonic() + (seconds or 0)
        while seconds is None or time.monotonic() < until or not found:
            began = time.perf_counter()
            connection.sendall(request)
            answer = received = connection.recv(65536)
            # Head and body may come apart.
            while not answer.endswith(b"}"):
                assert received, "the service has closed the connection"
                answer += (received := connection.recv(65536))
            assert answer.startswith(b"HTTP/1.1 200 "), answer
            found.append((time.perf_counter() - began) * 1000)
            if seconds is not None:
                time.sleep(_PAUSE_SECONDS)
            elif select.select([sys.stdin], [], [], _PAUSE_BESIDE_SECONDS)[0]:
                if not sys.stdin.readline():
                    return
                print(max(found), flush=True)
                found.clear()
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else None)
