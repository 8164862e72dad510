"""A second event loop, in a thread of its own: for work with long steps, which must not keep the first loop waiting."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Its thread begins with the first work. Owned by the event loop that calls it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ending = asyncio.Event()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the work there and return its result. A cancelled caller cancels the work, and does not wait for its end.

        What the work tells the caller's loop by `call_soon_threadsafe` comes there before the result.
        """
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop or self._begin()))

    async def close(self) -> None:
        """Cancel what is under way, and end the thread. Nothing may be run afterwards."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._ending.set)
            await asyncio.to_thread(self._thread.join)

    def _begin(self) -> asyncio.AbstractEventLoop:
        # Of the same kind as the caller's.
        loop = self._loop = type(asyncio.get_running_loop())()

        def serve() -> None:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(self._until_closed())

        self._thread = threading.Thread(target=serve, name=self._name, daemon=True)
        self._thread.start()
        return loop

    async def _until_closed(self) -> None:
        await self._ending.wait()
