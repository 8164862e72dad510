"""A proxy before the service that appends what a terminal would obey to every word of its answers."""

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

HOSTILE = (
    "\x1b]0;owned\x07"  # the title
    "\x1b]52;c;b3duZWQ=\x07"  # the clipboard
    "\x1b[2J\x1b[95;5mFAKE\x1b[0m\x08\r\x00\x7f"  # a clean screen, colours, what stands there already
    "\x9b31m\x9d0;owned\x9c"  # the same in characters of their own
    "\u202e\u2066\u200f\u061c\ufeff"  # another direction, and nothing at all
    "[link=https://x.example/]here[/link] [red]:smiley:[/]"  # what Rich would take for markup
)
TRACES: tuple[str, ...] = (
    *("\x1b]", "\x1b[2J", "\x1b[95", "\x07", "\x08", "\x00", "\x7f", "\x9b", "\x9c", "\x9d"),
    *("\u202e", "\u2066", "\u200f", "\u061c", "\ufeff", "😃"),
)
"""What stands nowhere in what is printed."""
_FIELDS = """
answer body candidate check code column description detail document document_name first folder group hint input
input_name instructions judge label language license message name note owner path prefix prompt reason reference rule
model family provider scope second sentence summary tag tags text title user_agent value variables verdict voter word
words
"""
_WORDS = frozenset(_FIELDS.split())


def spoiled(value: Any, key: str = "") -> Any:
    """The same with the hostile characters at the end of each text that is no id, time, state or other code."""
    if isinstance(value, dict):
        return {name: spoiled(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [spoiled(one, key) for one in value]
    return value + HOSTILE if isinstance(value, str) and (key in _WORDS or " " in value) else value


@contextmanager
def hostile_proxy(port: int) -> Iterator[str]:
    """The address of a proxy before the service at this port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            self.close_connection = True
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as upstream:
                upstream.request(self.command, self.path, body, dict(self.headers))
                with upstream.getresponse() as answer, suppress(ConnectionError):
                    self._pass_on(answer)

        def _pass_on(self, answer: http.client.HTTPResponse) -> None:
            kind = answer.headers.get("Content-Type", "")
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "content-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            if kind.startswith("text/event-stream"):
                for line in answer:
                    before, data, event = line.partition(b"data: ")
                    self.wfile.write(before + data + _spoiled(event) + b"\n" if data else line)
                    self.wfile.flush()
            else:
                found = answer.read()
                self.wfile.write(_spoiled(found) if "json" in kind else found)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    for method in ("GET", "POST", "PUT", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.handle_any)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _spoiled(body: bytes) -> bytes:
    return json.dumps(spoiled(json.loads(body))).encode() if body.strip() else body
