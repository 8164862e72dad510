"""Clients that send requests without a pause, each over connections of its own: `python -m tests.campaigns.attackers`.

It reads a JSON list from its standard input: the port, the number of connections for each request, and the requests,
each as the text of what is sent. It attacks until the input ends, and then prints how many answers had which status.

A process of its own that does no more than send and receive: the clients run on the service's cores, so what they spend
themselves would make everybody wait, although attackers bring machines of their own.
"""

import json
import os
import selectors
import socket
import sys
from collections import Counter
from contextlib import suppress

ENCODING = "latin-1"
"""What makes bytes of the text of a request, whatever they are."""
_RECEIVED_AT_ONCE = 1 << 20
_HEAD_END = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length: "
_CLOSED = "closed"


class _Connection:
    """Sends its request again and again. What it receives is counted and dropped."""

    def __init__(self, selector: selectors.BaseSelector, port: int, request: bytes, answers: Counter[str]) -> None:
        self._selector = selector
        self._port = port
        self._request = request
        self._answers = answers
        self._open()

    def _open(self) -> None:
        self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=120)
        self._socket.setblocking(False)
        self._selector.register(self._socket, selectors.EVENT_WRITE, self)
        self._begin()

    def _begin(self) -> None:
        self._unsent = memoryview(self._request)
        self._head = b""
        self._rest = -1

    def _again(self) -> None:
        self._begin()
        self._selector.modify(self._socket, selectors.EVENT_WRITE, self)

    def send(self) -> None:
        """Send what the socket takes."""
        try:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]
        except OSError:
            # A refusal may come before the whole body was sent.
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._selector.modify(self._socket, selectors.EVENT_READ, self)

    def receive(self, into: memoryview) -> None:
        """Receive what has come."""
        count = 0
        with suppress(OSError):
            count = self._socket.recv_into(into)
        if not count:
            self._answers[_CLOSED] += 1
            self._selector.unregister(self._socket)
            self._socket.close()
            self._open()
        elif self._rest >= 0:
            self._rest -= count
        else:
            self._head += into[:count]
            head, found, body = self._head.partition(_HEAD_END)
            if found:
                self._answers[head.split(b" ", 2)[1].decode()] += 1
                self._rest = int((head.lower() + b"\r\n").partition(_LENGTH)[2].split(b"\r\n")[0] or 0) - len(body)
        if not self._rest:
            self._again()


def main() -> None:
    """Attack until the standard input ends."""
    port, connections, requests = json.loads(sys.stdin.readline())
    answers = Counter[str]()
    into = memoryview(bytearray(_RECEIVED_AT_ONCE))
    with selectors.DefaultSelector() as selector:
        for request in requests:
            for _ in range(connections):
                _Connection(selector, port, request.encode(ENCODING), answers)
        os.set_blocking(sys.stdin.fileno(), False)
        selector.register(sys.stdin, selectors.EVENT_READ)
        while True:
            for key, events in selector.select():
                if key.data is None:
                    print(json.dumps(answers))
                    return
                if events & selectors.EVENT_WRITE:
                    key.data.send()
                else:
                    key.data.receive(into)


if __name__ == "__main__":
    main()
