"""Runs work to its end, also when the caller is cancelled."""

import asyncio
from collections.abc import Awaitable, Coroutine, Iterable
from typing import Any, TypeVar
from weakref import WeakSet

T = TypeVar("T")

_shielded: WeakSet[asyncio.Task[Any]] = WeakSet()


def shielded_task(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Make a task that nobody cancels. Inside it, `run_to_completion` awaits its work directly."""
    task = asyncio.create_task(work)
    _shielded.add(task)
    return task


async def run_to_completion(work: Awaitable[T]) -> T:
    """Await `work` to its end, also when the caller is cancelled meanwhile; the cancellation is raised then.

    A thread cannot be stopped, and what comes after it must not be left out. While a caller holds a lock, it holds it
    until the work is done.
    """
    if asyncio.current_task() in _shielded:
        return await work
    future = shielded_task(work) if asyncio.iscoroutine(work) else asyncio.ensure_future(work)
    cancellation: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation is None or future.cancelled():
        return future.result()
    # Retrieve the error, or asyncio would report it as one that nobody handled.
    future.exception()
    raise cancellation


async def cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel `tasks` and wait until each has ended, however it does."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
