"""A process that dies at one of a run's commits, just before it or just after it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from carrel.runs.engine.driver import RunDriver

_WRITE = RunDriver._write


class Crash:
    """Replaces `RunDriver._write`: the process dies at commit number `at`, if at all. `done` names what it wrote."""

    def __init__(self, at: int = 0, when: str = "before") -> None:
        self.done: list[str] = []
        self.dead = asyncio.Event()
        self._at = at
        self._when = when

    def stand_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """From now on commits are this one's."""

        async def write(drive: RunDriver, fn: Callable[..., Any], *args: Any, **more: Any) -> Any:
            return await self.write(drive, fn, *args, **more)

        monkeypatch.setattr(RunDriver, "_write", write)

    async def write(self, drive: RunDriver, fn: Callable[..., Any], *args: Any, **more: Any) -> Any:
        self.done.append(fn.__name__)
        if self.dead.is_set() or (len(self.done) == self._at and self._when == "before"):
            await self._die()
        value = await _WRITE(drive, fn, *args, **more)
        if self.dead.is_set() or 0 < self._at <= len(self.done):
            await self._die()
        return value

    async def _die(self) -> None:
        self.dead.set()
        await asyncio.Event().wait()


def alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits are commits again."""
    monkeypatch.setattr(RunDriver, "_write", _WRITE)
