"""A run that may stop early and is disturbed on its way stops at the same place, with the same result."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from carrel.runs.engine import commands
from tests.support.crashes import Crash, alive
from tests.support.engine import Bench, bench
from tests.support.leaning_judges import CLEAR, Preferring
from tests.support.models import TestModels
from tests.support.run_results import result_of

SETUP: dict[str, Any] = {
    "documents": 13,
    "scoring": None,
    "comparison": {"stop_when_decided": True},
    "limits": {"concurrency": 8},
}
"""Looks at 10 and 13: 26 answers, and 20 or 26 comparisons."""


EVEN = 62


async def test_dying_around_a_look_decides_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for per_cent, comparisons in ((CLEAR, 20), (EVEN, 26)):
        models = TestModels(Preferring(per_cent))
        async with bench(tmp_path / f"{per_cent}", models) as desk:
            undisturbed = Crash()
            undisturbed.stand_in(monkeypatch)
            await desk.finished(**SETUP)
            expected = await result_of(desk)
            assert len(await desk.rows("SELECT * FROM comparisons")) == comparisons
        look = undisturbed.done.index("look") + 1
        for at, when in ((look - 4, "after"), (look, "before"), (look, "after"), (look + 1, "before")):
            async with bench(tmp_path / f"{per_cent}-{at}-{when}", models) as desk:
                crash = Crash(at, when)
                crash.stand_in(monkeypatch)
                run_id = await desk.start(**SETUP)
                await asyncio.wait_for(crash.dead.wait(), 60)
                await desk.die()
                alive(monkeypatch)
                await desk.restart()
                assert (await desk.ended(run_id)).state == "completed"
                assert await result_of(desk) == expected, (per_cent, at, when)
                assert await looks(desk) == [("decided" if per_cent == CLEAR else "undecided",)]


async def looks(desk: Bench) -> list[tuple[str]]:
    return await desk.rows("SELECT code FROM run_log WHERE event = 'look-taken' ORDER BY seq")


async def test_a_pause_while_a_look_is_taken_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(tmp_path, TestModels(Preferring(CLEAR))) as desk:
        run_id = await paused_at_the_look(desk, monkeypatch)
        run = await desk.run(run_id)
        assert (run.state, run.progress.succeeded, run.progress.pending) == ("paused", 46, 6)
        assert await looks(desk) == []
        await desk.write(commands.resume, run_id)
        run = await desk.ended(run_id)
        assert (run.state, run.progress.total, run.progress.percent) == ("completed", 46, 100)
        assert await looks(desk) == [("decided",)]


async def test_a_run_that_is_cancelled_at_a_look_is_ranked_as_strictly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(tmp_path, TestModels(Preferring(CLEAR))) as desk:
        run_id = await paused_at_the_look(desk, monkeypatch)
        cancelled = await desk.write(commands.cancel, run_id)
        assert (cancelled.state, cancelled.progress.pending, cancelled.progress.total) == ("cancelled", 0, 46)
        await desk.idle()
        assert await looks(desk) == []
        assert await desk.rows("SELECT looks, stopped FROM run_rounds") == [(0, 0)]


async def test_skipped_comparisons_are_missing_and_the_look_is_taken_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = TestModels(Preferring(CLEAR))
    async with bench(tmp_path, models) as desk:
        run_id = await desk.start(**(SETUP | {"limits": {"concurrency": 1}}))
        while not (left := await desk.rows("SELECT key FROM tasks WHERE kind = 'compare' AND state = 'pending'")):
            await desk.moved(run_id)
        await desk.write(commands.pause, run_id)
        [key] = left[-1]
        await desk.until(run_id, "paused")
        await desk.write(commands.skip, run_id, key)
        await desk.write(commands.resume, run_id)
        run = await desk.ended(run_id)
        assert (run.state, run.progress.skipped, run.progress.total) == ("completed_with_errors", 1, 46)
        assert await looks(desk) == [("decided",)]


async def paused_at_the_look(desk: Bench, monkeypatch: pytest.MonkeyPatch) -> Any:
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
    run_id = await desk.start(**SETUP)
    await asyncio.wait_for(at_the_look.wait(), 60)
    await desk.write(commands.pause, run_id)
    go_on.set()
    alive(monkeypatch)
    await desk.until(run_id, "paused")
    return run_id
