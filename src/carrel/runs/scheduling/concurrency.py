"""Limits how many tasks of a run work at once. A task that rests before its next attempt holds no place.

So a provider that asks for a pause of an hour does not keep the run from calling the others. A task that comes back
from a rest goes before tasks that have not begun. Owned by the event loop.
"""

import asyncio
from collections.abc import Callable

MOST_AT_REST = 64
"""Each task keeps its texts in memory. Tasks at rest beyond this number count as if they were at work."""


class Concurrency:
    """Calls `on_free` whenever a place became free."""

    def __init__(self, on_free: Callable[[], None]) -> None:
        self._on_free = on_free
        self._held: set[str] = set()
        self._resting: set[str] = set()
        self._back: dict[str, asyncio.Event] = {}
        """The tasks that wait for a place after a rest, in their order."""
        self._claiming = 0

    def room(self, limit: int) -> int:
        """How many more tasks may begin."""
        spare = limit - len(self._held) - len(self._back) - self._claiming
        return max(0, spare - max(0, len(self._resting) - MOST_AT_REST))

    def claiming(self, count: int, limit: int) -> None:
        """Reserve places for this many tasks that are about to begin."""
        self._claiming = count
        self._let_in(limit)

    def take(self, key: str) -> None:
        """Note that a task that was being claimed is at work."""
        self._claiming -= 1
        self._held.add(key)

    def rest(self, key: str, limit: int) -> None:
        """Release the place of a task that waits before its next attempt."""
        self._held.discard(key)
        self._resting.add(key)
        self._let_in(limit)
        self._on_free()

    async def back(self, key: str, limit: int) -> None:
        """Return when the task has a place again, after its rest."""
        self._resting.discard(key)
        there = self._back[key] = asyncio.Event()
        self._let_in(limit)
        await there.wait()

    def leave(self, key: str, limit: int) -> None:
        """Remove a task that has ended, whether it had a place, waited or rested."""
        self._held.discard(key)
        self._resting.discard(key)
        self._back.pop(key, None)
        self._let_in(limit)
        self._on_free()

    def _let_in(self, limit: int) -> None:
        while self._back and len(self._held) + self._claiming < limit:
            key = next(iter(self._back))
            self._held.add(key)
            self._back.pop(key).set()
