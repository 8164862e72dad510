"""A lock for each key: callers with the same key run one after the other, and different keys never wait."""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager, nullcontext
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class _Lock:
    """The lock of one key, kept while anybody holds it or waits for it."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.wanted = 0


class KeyedLock(Generic[K]):
    """One holder at a time for each key, in the order of asking."""

    def __init__(self) -> None:
        self._locks: dict[K, _Lock] = {}

    def __len__(self) -> int:
        return len(self._locks)

    def __contains__(self, key: K) -> bool:
        return key in self._locks

    def wanted(self, key: K) -> int:
        """How many hold the lock of this key or wait for it."""
        return self._locks[key].wanted if key in self._locks else 0

    @property
    def held(self) -> list[K]:
        """The keys whose locks somebody holds or waits for."""
        return list(self._locks)

    @asynccontextmanager
    async def of(
        self, key: K, timeout_seconds: float | None = None, otherwise: Callable[[], Exception] = TimeoutError
    ) -> AsyncIterator[None]:
        """The block holds the lock of this key.

        Without `timeout_seconds` it waits for as long as it takes; else it raises `otherwise` after that time.
        """
        found = self._locks.setdefault(key, _Lock())
        found.wanted += 1
        try:
            try:
                # The lock is nearly always free, and then taking it costs less than the time-out.
                async with asyncio.timeout(timeout_seconds) if found.wanted > 1 else nullcontext():
                    await found.lock.acquire()
            except TimeoutError:
                raise otherwise() from None
            try:
                yield
            finally:
                found.lock.release()
        finally:
            found.wanted -= 1
            if not found.wanted:
                del self._locks[key]
