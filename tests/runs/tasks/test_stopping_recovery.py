"""A run that may stop early and is disturbed on its way stops at the same place, with the same result."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from carrel.runs.engine import commands
from tests.support.crashes import Crash, alive
from tests.support.engine import EngineHarness, engine_harness
from tests.support.leaning_judges import CLEAR, Preferring
from tests.support.models import TestModels
from tests.support.run_results import result_of

SETUP: dict[str, Any] = {
    "documents": 13,
    "scoring": None,
    "comparison": {"stop_when_decided": True},
    "limits": {"concurrency": 8},
}
"""Looks at 10 and 13: 20 answers and 20 comparisons, or 26 of each."""


EVEN = 62


async def test_dying_around_a_look_decides_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for per_cent, comparisons in ((CLEAR, 20), (EVEN, 26)):
        models = TestModels(Preferring(per_cent))
        async with engine_harness(tmp_path / f"{per_cent}", models) as harness:
            undisturbed = Crash()
            undisturbed.stand_in(monkeypatch)
            await harness.finished(**SETUP)
            expected = await result_of(harness)
            assert len(await harness.rows("SELECT * FROM comparisons")) == comparisons
        look = undisturbed.done.index("look") + 1
        for at, when in ((look - 4, "after"), (look, "before"), (look, "after"), (look + 1, "before")):
            async with engine_harness(tmp_path / f"{per_cent}-{at}-{when}", models) as harness:
                crash = Crash(at, when)
                crash.stand_in(monkeypatch)
                run_id = await harness.start(**SETUP)
                await asyncio.wait_for(crash.dead.wait(), 60)
                await harness.die()
                alive(monkeypatch)
                await harness.restart()
                assert (await harness.ended(run_id)).state == "completed"
                assert await result_of(harness) == expected, (per_cent, at, when)
                assert await looks(harness) == [("decided" if per_cent == CLEAR else "undecided",)]


async def looks(harness: EngineHarness) -> list[tuple[str]]:
    return await harness.rows("SELECT code FROM run_log WHERE event = 'look-taken' ORDER BY seq")


async def test_a_pause_while_a_look_is_taken_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with engine_harness(tmp_path, TestModels(Preferring(CLEAR))) as harness:
        run_id = await paused_at_the_look(harness, monkeypatch)
        run = await harness.run(run_id)
        assert (run.state, run.progress.succeeded, run.progress.pending) == ("paused", 40, 12)
        assert await looks(harness) == []
        await harness.write(commands.resume, run_id)
        run = await harness.ended(run_id)
        assert (run.state, run.progress.total, run.progress.percent) == ("completed", 40, 100)
        assert await looks(harness) == [("decided",)]


async def test_a_run_that_is_cancelled_at_a_look_is_ranked_as_strictly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with engine_harness(tmp_path, TestModels(Preferring(CLEAR))) as harness:
        run_id = await paused_at_the_look(harness, monkeypatch)
        cancelled = await harness.write(commands.cancel, run_id)
        assert (cancelled.state, cancelled.progress.pending, cancelled.progress.total) == ("cancelled", 0, 40)
        await harness.idle()
        assert await looks(harness) == []
        assert await harness.rows("SELECT looks, stopped FROM run_rounds") == [(0, 0)]


async def test_skipped_comparisons_are_missing_and_the_look_is_taken_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = TestModels(Preferring(CLEAR))
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(**(SETUP | {"limits": {"concurrency": 1}}))
        while not (left := await harness.rows("SELECT key FROM tasks WHERE kind = 'compare' AND state = 'pending'")):
            await harness.moved(run_id)
        await harness.write(commands.pause, run_id)
        [key] = left[-1]
        await harness.until(run_id, "paused")
        await harness.write(commands.skip, run_id, key)
        await harness.write(commands.resume, run_id)
        run = await harness.ended(run_id)
        # With two candidates the one that is missing counts in full, so the first look does not decide.
        assert (run.state, run.progress.skipped, run.progress.total) == ("completed_with_errors", 1, 52)
        assert await looks(harness) == [("undecided",)]


async def paused_at_the_look(harness: EngineHarness, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The run, paused when the look was about to be written."""
    at_the_look = asyncio.Event()
    go_on = asyncio.Event()
    crash = Crash()
    commit = crash.write

    async def write(drive: Any, fn: Any, *args: Any, **more: Any) -> Any:
        if fn.__name__ == "look":
            at_the_look.set()
            await go_on.wait()
        return await commit(drive, fn, *args, **more)

    crash.write = write  # type: ignore[method-assign]
    crash.stand_in(monkeypatch)
    run_id = await harness.start(**SETUP)
    await asyncio.wait_for(at_the_look.wait(), 60)
    await harness.write(commands.pause, run_id)
    go_on.set()
    alive(monkeypatch)
    await harness.until(run_id, "paused")
    return run_id
