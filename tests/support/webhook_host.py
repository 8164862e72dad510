"""The host's side of webhooks: a server that keeps what it is sent, and whether the signature is right."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = bytes(range(7, 39))
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"


class Received:
    """What came, in order; it answers with `status`."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/carrel-events"
        self.status = 204
        self.raw: list[bytes] = []
        """Heads and bodies."""
        self.events: dict[str, dict[str, Any]] = {}
        """By id, as a host keeps them: what is sent again has the id that it had."""
        self.came = threading.Event()


@contextmanager
def webhook_host(port: int = 0) -> Iterator[Received]:
    """A server on loopback."""

    def take(headers: Message, body: bytes) -> int:
        # As https://www.standardwebhooks.com says, with no line of Carrel's.
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        good = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
        assert good in headers["webhook-signature"].split(" ")
        received.raw += [str(headers).encode(), body]
        received.events[headers["webhook-id"]] = json.loads(body)
        received.came.set()
        return received.status

    with posts(take, port) as port:
        received = Received(port)
        yield received


@contextmanager
def posts(take: Callable[[Message, bytes], int], port: int = 0) -> Iterator[int]:
    """The port of a server on loopback, in a thread of its own, that gives `take` each POST and answers its status."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status = take(self.headers, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
