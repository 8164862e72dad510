"""The host's side of webhooks: a server that keeps what it is sent, and whether the signature is right."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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
    """A server on loopback, in a thread of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            # As https://www.standardwebhooks.com says, with no line of Carrel's.
            signed = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + body
            good = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
            assert good in self.headers["webhook-signature"].split(" ")
            received.raw += [str(self.headers).encode(), body]
            received.events[self.headers["webhook-id"]] = json.loads(body)
            received.came.set()
            self.send_response(received.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    received = Received(server.server_port)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    try:
        yield received
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
