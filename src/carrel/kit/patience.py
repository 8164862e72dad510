"""Awaiting something to its end, whatever becomes of the caller."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def see_through(work: Awaitable[T]) -> T:
    """Await `work` to its end, also when the caller is cancelled meanwhile; the cancellation is raised then.

    A thread cannot be stopped, and what comes after it must not be left out. While a caller holds a lock, it holds it
    until the work is done.
    """
    future = asyncio.ensure_future(work)
    cancellation: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation is None or future.cancelled():
        return future.result()
    # Fetched, so that nobody complains of it: the caller is gone.
    future.exception()
    raise cancellation
