"""The network of tests, with its thread: what calls servers of a test's own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from carrel.kit.clock import SystemClock
from carrel.providers.catalogue import KNOWN
from carrel.providers.connections.network import MAX_ANSWER_BYTES, Network
from carrel.providers.connections.transport import Transport
from carrel.providers.http_provider import HttpProvider


@asynccontextmanager
async def transport(*rules: str, max_answer_bytes: int = MAX_ANSWER_BYTES) -> AsyncIterator[Transport]:
    """A transport that may call the hosts of these rules."""
    network = Network(max_answer_bytes)
    made = Transport(network, 64, rules)
    try:
        yield made
    finally:
        await made.close()
        await network.close()


@asynccontextmanager
async def provider_of(name: str, *rules: str, max_answer_bytes: int = MAX_ANSWER_BYTES) -> AsyncIterator[HttpProvider]:
    """A provider of the catalogue that may call the hosts of these rules."""
    network = Network(max_answer_bytes)
    made = HttpProvider(name, KNOWN[name], network, connections=64, rules=rules, clock=SystemClock())
    try:
        yield made
    finally:
        await made.close()
        await network.close()
