"""Clients that mean harm, in a process of their own, until it is killed: python -m tests.support.attackers KIND PORT"""

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

SLOW_CLIENTS = 200
HUGE_BODIES = 8
_PIECE = bytes(64 * 1024)
_HEAD = b"POST /api/contents HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"


async def drip(port: int) -> None:
    """A request that comes byte by byte, its head or its body, until the service has enough of it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = _HEAD + b"content-length: 1000\r\n\r\n" + b"x" * 1000
    # Those with whole heads drip their bodies.
    start = random.choice((0, len(_HEAD) + 24))
    writer.write(body[:start])
    for byte in body[start:]:
        await asyncio.sleep(random.uniform(0.2, 1.0))
        if reader.at_eof():
            break
        writer.write(bytes((byte,)))
        await writer.drain()
    writer.close()


async def swell(port: int) -> None:
    """A body of gigabytes, with its length or in chunks, as fast as the service takes it."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    if random.random() < 0.5:
        writer.write(_HEAD + b"content-length: 9999999999\r\n\r\n")
        piece = _PIECE
    else:
        writer.write(_HEAD + b"transfer-encoding: chunked\r\n\r\n")
        piece = b"%x\r\n%b\r\n" % (len(_PIECE), _PIECE)
    for _ in range(10_000):
        writer.write(piece)
        await writer.drain()
    writer.close()


async def again_and_again(attack: Callable[[int], Awaitable[None]], port: int) -> None:
    while True:
        with suppress(OSError):
            await attack(port)
        await asyncio.sleep(random.uniform(0, 0.1))


async def main(kind: str, port: int) -> None:
    attack, clients = {"slow": (drip, SLOW_CLIENTS), "huge": (swell, HUGE_BODIES)}[kind]
    await asyncio.gather(*(again_and_again(attack, port) for _ in range(clients)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
