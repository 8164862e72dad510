"""Turns: what one key names is done one after the other, in the order of asking; different keys never wait."""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager, nullcontext
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class _Turn:
    """The lock of one key, kept while anybody holds it or waits for it."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.wanted = 0


class Turns(Generic[K]):
    """One turn at a time for each key."""

    def __init__(self) -> None:
        self._turns: dict[K, _Turn] = {}

    def __len__(self) -> int:
        return len(self._turns)

    @asynccontextmanager
    async def of(
        self, key: K, patience_seconds: float | None = None, otherwise: Callable[[], Exception] = TimeoutError
    ) -> AsyncIterator[None]:
        """The block is this key's turn.

        Without `patience_seconds` the turn is waited for; when it has not come within them, `otherwise` is raised.
        """
        turn = self._turns.setdefault(key, _Turn())
        turn.wanted += 1
        try:
            try:
                # With nobody before it, as nearly always, the lock costs less than the time-out would.
                async with asyncio.timeout(patience_seconds) if turn.wanted > 1 else nullcontext():
                    await turn.lock.acquire()
            except TimeoutError:
                raise otherwise() from None
            try:
                yield
            finally:
                turn.lock.release()
        finally:
            turn.wanted -= 1
            if not turn.wanted:
                del self._turns[key]
