"""Ends the requests of a process that is being replaced, and keeps the connections on which none is under way."""

import asyncio
import os
import socket
from collections.abc import Collection
from typing import Final

from carrel.cli.serving.protocol import Protocol, now

WORK_SECONDS: Final = 10.0
"""How long others wait for a request that is being answered, as at a stop."""
CLIENT_SECONDS: Final = 1.0
"""How long they wait for a client that has not sent all of its request, or not read all of its answer."""
_LOOK_SECONDS: Final = 0.005


async def let_go(connections: Collection[Protocol]) -> list[socket.socket]:
    """The connections of which the next process knows enough: plain TCP, and no request under way. All others close.

    What their clients send meanwhile waits in the kernel.
    """
    # What the kernel had accepted already becomes a connection in this turn of the loop.
    await asyncio.sleep(0)
    for connection in list(connections):
        connection.hold()
    began = now()
    while True:
        waited = now() - began
        if not any(_is_worth_waiting(connection, waited) for connection in connections):
            break
        await asyncio.sleep(_LOOK_SECONDS)
    kept = []
    for connection in list(connections):
        if connection.is_at_rest and connection.scheme == "http":
            plain = connection.transport.get_extra_info("socket")
            kept.append(socket.socket(fileno=os.dup(plain.fileno())))
            # It closes this process's descriptor only: the copy keeps the connection open.
            connection.transport.abort()
        elif connection.is_at_rest:
            # Nobody else has the keys of its TLS session.
            connection.transport.close()
        else:
            connection.transport.abort()
    return kept


def _is_worth_waiting(connection: Protocol, waited: float) -> bool:
    if connection.is_at_rest or connection.transport.is_closing():
        return False
    return waited < (CLIENT_SECONDS if connection.waits_for_client else WORK_SECONDS)
