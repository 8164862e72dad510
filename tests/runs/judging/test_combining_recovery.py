"""A run that combines and writes into the library ends the same, wherever the process died on its way."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.crashes import Crash, alive
from tests.support.engine import Bench, bench
from tests.support.models import TestModels
from tests.support.run_results import result_of

SETUP: dict[str, Any] = {
    "documents": 1,
    "combination": {"candidates": [{"model": "test:four", "label": "merged"}]},
    "output": {"destination": "library", "answers": "all"},
    "limits": {"concurrency": 3},
}


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
    crashes = 0
    for at in range(1, 100):
        async with bench(tmp_path / f"{at}", TestModels()) as desk:
            crash = Crash(at, "before" if at % 2 else "after")
            crash.stand_in(monkeypatch)
            run_id = await desk.start(**SETUP)
            while desk.engine.active_runs and not crash.dead.is_set():
                await asyncio.sleep(0.001)
            await desk.die()
            alive(monkeypatch)
            await desk.restart()
            assert (await desk.ended(run_id)).state == "completed"
            assert await everything(desk) == expected, at
        if not crash.dead.is_set():
            break
        crashes += 1
    assert crashes >= 12
