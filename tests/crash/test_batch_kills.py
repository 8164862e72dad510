"""The process dies at every commit of a run in batches, before it or right after it.

Whatever the instant: the next process finds the batches that were sent, sends none of them twice, and pays once.
"""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from carrel.kit.sqlite.database import transaction
from carrel.runs.engine import commands
from carrel.runs.model.setup import RunId
from carrel.vault import write_queue
from carrel.vault.workspace import WorkspaceClosed
from tests.crash.test_every_commit import Crash, at_work
from tests.support.batched import CALLS, ECONOMY, Servers, batch_servers, batched
from tests.support.engine import EngineHarness
from tests.support.run_results import books_of, result_of


@pytest.fixture
async def servers() -> AsyncIterator[Servers]:
    async with batch_servers() as found:
        yield found


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Callable[[Crash | None], None]:
    """From now on, commits die as `Crash` says; `None`: none does."""

    def arrange(crash: Crash | None) -> None:
        monkeypatch.setattr(write_queue, "transaction", crash.transaction if crash is not None else transaction)

    return arrange


async def _until_dead(harness: EngineHarness, run_id: RunId, crash: Crash) -> None:
    with suppress(WorkspaceClosed):
        await harness.write(commands.start, run_id)
    await at_work(harness, crash)


async def _completed(harness: EngineHarness, run_id: RunId) -> None:
    await harness.restart()
    if (await harness.run(run_id)).state == "pending":
        await harness.write(commands.start, run_id)
    ended = await harness.ended(run_id)
    assert ended.state == "completed", await harness.rows(
        "SELECT key, state, error FROM tasks WHERE state <> 'succeeded'"
    )


@pytest.mark.parametrize("when", ["before", "after"])
async def test_dying_at_any_commit_sends_no_batch_twice_and_costs_the_same(
    tmp_path: Path, servers: Servers, dying: Callable[[Crash | None], None], when: str
) -> None:
    for server in servers:
        server.shelf.looks = 1
    async with batched(tmp_path / "first", servers) as harness:
        run_id = await harness.make(**ECONOMY)
        await harness.end()
        ready = shutil.copytree(harness.folder, tmp_path / "ready")
        await _completed(harness, run_id)
        result, books, batches = await result_of(harness), await books_of(harness), servers.batches
    assert (books.rows, books.answered, batches) == (CALLS, CALLS, 6)
    crashes = in_doubt = 0
    for at in range(1, 200):
        servers.forget()
        crash = Crash(at, "before" if when == "before" else "after")
        folder = shutil.copytree(ready, tmp_path / f"{at}")
        async with batched(folder, servers) as harness:
            dying(crash)
            await _until_dead(harness, run_id, crash)
            await harness.die()
            dying(None)
            await _completed(harness, run_id)
            assert await result_of(harness) == result, at
            found = await books_of(harness)
            assert (found.rows, found.answered, found.unknown_outcome, found.tokens) == (CALLS, CALLS, 0, books.tokens)
            assert (servers.twice, servers.batches) == ([], batches), at
            in_doubt += any("?limit=" in one.url for server in servers for one in server.asked)
        shutil.rmtree(folder)
        if not crash.dead:
            break
        crashes += 1
    assert crashes >= 25
    assert in_doubt >= 6, "each batch was lost sight of once"
