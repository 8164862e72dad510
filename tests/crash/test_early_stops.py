"""The process dies at every commit of a run that stops early and drops a candidate on its way, before it or after it.

At each look the run decides for whom nobody is called any more, so a different decision after a crash would be another
run. Whatever the instant, the run ends as if nothing had happened.
"""

import shutil
from pathlib import Path

import pytest

from carrel.kit.sqlite.database import transaction
from carrel.vault import write_queue
from tests.crash.test_every_commit import Crash, prepare, resumed, run_to_completion
from tests.support.engine import engine_harness
from tests.support.leaning_judges import Ladder
from tests.support.models import TestModels
from tests.support.run_results import books_of, result_of


async def test_dying_at_any_commit_of_a_run_that_stops_early_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = TestModels(Ladder(75))
    async with engine_harness(tmp_path / "undisturbed", models) as harness:
        run_id = await prepare(
            harness,
            tmp_path / "ready",
            documents=25,
            models=("test:one", "test:two", "test:three"),
            scoring=None,
            comparison={"stop_when_decided": True},
            limits={"concurrency": 64},
        )
        await run_to_completion(harness, run_id, Crash())
        expected = await result_of(harness)
        # Three was beaten after fifteen documents; the other two were told apart after twenty of twenty-five.
        looks = await harness.rows("SELECT documents, leader, beaten FROM run_looks ORDER BY number")
        assert looks == [(10, 1, "[]"), (15, 1, "[3]"), (20, 1, "[2]")]
        answered = (await books_of(harness)).answered
        assert answered == 15 * (3 + 6) + 5 * (2 + 2)
    # Every other one: what is on the disk before a commit is what was there right after the one before it.
    for at in range(1, 300, 2):
        crash = Crash(at, "before" if at % 4 == 1 else "after")
        folder = shutil.copytree(tmp_path / "ready", tmp_path / f"{at}")
        async with engine_harness(folder, models) as harness:
            monkeypatch.setattr(write_queue, "transaction", crash.transaction)
            await run_to_completion(harness, run_id, crash)
            await harness.die()
            monkeypatch.setattr(write_queue, "transaction", transaction)
            await resumed(harness, run_id)
            assert await result_of(harness) == expected, at
            books = await books_of(harness)
            assert (books.answered, books.answered_twice) == (answered, []), at
        shutil.rmtree(folder)
        if not crash.dead:
            break
    assert at > 15
