"""A run that combines and writes into the library ends the same, wherever the process died on its way."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.runs.drive import Drive
from tests.support.engine import Bench, bench
from tests.support.models import TestModels
from tests.support.run_results import result_of

SETUP: dict[str, Any] = {
    "documents": 1,
    "combination": {"candidates": [{"model": "test:four", "label": "merged"}]},
    "output": {"destination": "library", "answers": "all"},
    "limits": {"concurrency": 3},
}
_WRITE = Drive._write


class Death:
    """Stands in for `Drive._write`: at commit number `at` the process dies, just before it or just after it."""

    def __init__(self, at: int, when: str) -> None:
        self.commits = 0
        self.dead = asyncio.Event()
        self._at = at
        self._when = when

    async def write(self, drive: Drive, fn: Callable[..., Any], *args: Any) -> Any:
        self.commits += 1
        if self.dead.is_set() or (self.commits == self._at and self._when == "before"):
            await self._die()
        value = await _WRITE(drive, fn, *args)
        if self.dead.is_set() or self.commits >= self._at:
            await self._die()
        return value

    async def _die(self) -> None:
        self.dead.set()
        await asyncio.Event().wait()


async def everything(desk: Bench) -> list[tuple[Any, ...]]:
    written = "SELECT name, tags, body FROM contents WHERE type = 'output_document' ORDER BY seq"
    return [*await result_of(desk), *await desk.rows(written), *await desk.rows("SELECT generated FROM run_outputs")]


async def test_dying_at_any_commit_combines_and_writes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(tmp_path / "undisturbed", TestModels()) as desk:
        await desk.finished(**SETUP)
        expected = await everything(desk)
        assert len(await desk.rows("SELECT * FROM run_sources")) == 2
        assert len(await desk.rows("SELECT * FROM run_outputs")) == 3
    deaths = 0
    for at in range(1, 100):
        async with bench(tmp_path / f"{at}", TestModels()) as desk:
            death = Death(at, "before" if at % 2 else "after")
            monkeypatch.setattr(Drive, "_write", lambda drive, fn, *args, d=death: d.write(drive, fn, *args))
            run_id = await desk.start(**SETUP)
            while desk.engine.active_runs and not death.dead.is_set():
                await asyncio.sleep(0.001)
            await desk.die()
            monkeypatch.setattr(Drive, "_write", _WRITE)
            await desk.restart()
            assert (await desk.ended(run_id)).state == "completed"
            assert await everything(desk) == expected, at
        if not death.dead.is_set():
            break
        deaths += 1
    assert deaths >= 12
