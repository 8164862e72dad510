"""Work in threads, awaited on the event loop with as few of its rounds as there can be.

Each step from a finished thread to whoever awaits it is a round of the event loop, in which everybody else's work comes
first. asyncio's own futures take three rounds, and a shield takes one more; these take two.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

T = TypeVar("T")


def tell_when_done(job: "Future[Any]", tell: Callable[[], None]) -> None:
    """Call `tell` on the event loop, from which this is called, once the work has ended or was cancelled."""
    loop = asyncio.get_running_loop()
    waiting = [tell]

    def ended(_job: "Future[Any]") -> None:
        # The work keeps what it calls, and must not keep whoever keeps the work: a result would stay in memory.
        told = waiting.pop()
        # Nobody waits any more on a loop that is closed.
        if not loop.is_closed():
            loop.call_soon_threadsafe(told)

    job.add_done_callback(ended)


async def in_thread(executor: Executor, work: Callable[[], T]) -> T:
    """Run `work` in a thread to its end, also when the caller is cancelled meanwhile; the cancellation is raised then.

    Nothing is awaited before the work is on its way.
    """
    loop = asyncio.get_running_loop()
    told: asyncio.Future[None] = loop.create_future()

    def tell() -> None:
        if not told.done():
            told.set_result(None)

    job = executor.submit(work)
    tell_when_done(job, tell)
    cancellation: asyncio.CancelledError | None = None
    while not job.done():
        try:
            await told
        except asyncio.CancelledError as error:
            cancellation = error
            told = loop.create_future()
    try:
        if cancellation is not None:
            raise cancellation
        return job.result()
    finally:
        # Otherwise an error would keep this frame, which keeps the error.
        del job, cancellation
