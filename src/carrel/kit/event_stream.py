"""What all streams of server-sent events have in common."""

from typing import Final

from litestar.types import Receive

MEDIA_TYPE: Final = "text/event-stream"
HEADERS: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)
PING: Final = b": ping\n\n"


async def gone(receive: Receive) -> None:
    """Until the reader disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


def event(name: str, data: bytes) -> bytes:
    """One event; `data` is JSON, so it holds no line break."""
    return b"event: %s\ndata: %s\n\n" % (name.encode("ascii"), data)
