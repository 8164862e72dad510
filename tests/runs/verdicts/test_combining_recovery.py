"""A run that combines and writes into the library ends the same, wherever the process died on its way."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.crashes import Crash, alive
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import TestModels
from tests.support.run_results import result_of

SETUP: dict[str, Any] = {
    "documents": 1,
    "combination": {"candidates": [{"model": "test:four", "label": "merged"}]},
    "output": {"destination": "library", "answers": "all"},
    "limits": {"concurrency": 3},
}


async def everything(harness: EngineHarness) -> list[tuple[Any, ...]]:
    written = "SELECT name, tags, body FROM contents WHERE type = 'output_document' ORDER BY seq"
    return [
        *await result_of(harness),
        *await harness.rows(written),
        *await harness.rows("SELECT generated FROM run_outputs"),
    ]


async def test_dying_at_any_commit_combines_and_writes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with engine_harness(tmp_path / "undisturbed", TestModels()) as harness:
        await harness.finished(**SETUP)
        expected = await everything(harness)
        assert len(await harness.rows("SELECT * FROM run_sources")) == 2
        assert len(await harness.rows("SELECT * FROM run_outputs")) == 3
    crashes = 0
    # Every other one: what is on the disk before a commit is what was there right after the one before it.
    for at in range(1, 100, 2):
        async with engine_harness(tmp_path / f"{at}", TestModels()) as harness:
            crash = Crash(at, "before" if at % 4 == 1 else "after")
            crash.stand_in(monkeypatch)
            run_id = await harness.start(**SETUP)
            while harness.engine.active_runs and not crash.dead.is_set():
                await asyncio.sleep(0.001)
            await harness.die()
            alive(monkeypatch)
            await harness.restart()
            assert (await harness.ended(run_id)).state == "completed"
            assert await everything(harness) == expected, at
        if not crash.dead.is_set():
            break
        crashes += 1
    assert crashes >= 6
