"""Clients that mean harm, in a process of their own, until it is killed.

python -m tests.support.attackers KIND PORT TOKEN

It prints a line when all of them have come. TOKEN is the session of one of them, who is a member.
"""

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count

SLOW_CLIENTS = 200
HUGE_BODIES = 10
SENDERS_AHEAD = 16
Attack = Callable[[asyncio.StreamReader, asyncio.StreamWriter, str], Awaitable[None]]
_PIECE = bytes(64 * 1024)
_numbers = count()
_CHUNKED = b"transfer-encoding: chunked\r\n\r\n"
_HEAD = b"POST /api/contents HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _token: str) -> None:
    """A request that comes byte by byte, its head or its body, until the service has enough of it."""
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


async def swell(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
    """A body of gigabytes as fast as the service takes it: with its length or in chunks, from nobody or a member."""
    member = _HEAD + f"x-svc-session-token: {token}\r\n".encode()
    bodies = (
        (_HEAD + b"content-length: 9999999999\r\n\r\n", _PIECE),
        (_HEAD + _CHUNKED, b"%x\r\n%b\r\n" % (len(_PIECE), _PIECE)),
        (_HEAD + _CHUNKED, b"1\r\nx\r\n" * 10_000),
        (member + _CHUNKED, b"1\r\nx\r\n" * 10_000),
        (member + _CHUNKED, b"%x\r\n%b\r\n" % (len(_PIECE), _PIECE)),
    )
    start, piece = bodies[next(_numbers) % len(bodies)]
    writer.write(start)
    for _ in range(10_000):
        writer.write(piece)
        await writer.drain()
    writer.close()


async def send_ahead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _token: str) -> None:
    """Thousands of requests before the first one is answered."""
    writer.write(b"GET /a HTTP/1.1\r\nhost: a\r\n\r\n" * 2_000)
    await reader.read(1)
    writer.transport.abort()


async def again_and_again(attack: Attack, pause: float, port: int, token: str, all_came: asyncio.Barrier) -> None:
    came = False
    while True:
        with suppress(OSError):
            connection = await asyncio.open_connection("127.0.0.1", port)
            if not came:
                came = True
                await all_came.wait()
            await attack(*connection, token)
        await asyncio.sleep(random.uniform(0, pause))


async def main(kind: str, port: int, token: str) -> None:
    attack, clients, pause = KINDS[kind]
    all_came = asyncio.Barrier(clients + 1)
    async with asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(again_and_again(attack, pause, port, token, all_came))
        await all_came.wait()
        print("all have come", flush=True)


KINDS: dict[str, tuple[Attack, int, float]] = {
    "slow": (drip, SLOW_CLIENTS, 0.1),
    "huge": (swell, HUGE_BODIES, 0.1),
    "ahead": (send_ahead, SENDERS_AHEAD, 0.0),
}
"""The attack, how many make it at once, and the longest pause in seconds before each begins anew."""


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
