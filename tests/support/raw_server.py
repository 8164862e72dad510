"""A server on a real socket that says whatever bytes a test tells it to say."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Say = Callable[[asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """A server that answers every request by `say`, and keeps what it was asked."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.asked: list[bytes] = []
        self.visits = 0
        """Connections, whether or not anything was asked."""
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visits += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.asked.append(head)
                await self.say(writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def raw_server(say: Say, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawServer]:
    made = RawServer(say)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=tls)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()


def says(*pieces: bytes, then_close: bool = False) -> Say:
    async def say(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        if then_close:
            writer.close()

    return say


def ok(body: bytes, *headers: bytes) -> bytes:
    return b"\r\n".join([b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(body), *headers, b"", body])
