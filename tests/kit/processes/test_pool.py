"""Turns: nobody waits for more than one turn of anybody else, whatever others send."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from carrel.kit.processes.jobs import WorkerDied, WorkerTimedOut
from carrel.kit.processes.pool import BUDGET_SECONDS, HALF_LIFE_SECONDS, WorkerPool
from carrel.kit.processes.worker import Worker
from tests.support import worker_jobs as jobs
from tests.support.clock import FakeClock


class Lame(Worker):
    """Runs a function at once."""

    async def run(self, fn: Callable[..., Any], *args: object, timeout_seconds: float | None = None) -> Any:
        return fn(*args)


class Pool(WorkerPool):
    made = 0

    def new_worker(self) -> Worker:
        self.made += 1
        return Lame(self._jobs)


class Bench:
    """People who want turns of a pool, and take them for as long as the test says."""

    def __init__(self, size: int) -> None:
        self.clock = FakeClock()
        self.pool = Pool(jobs.JOBS, size, self.clock)
        self.running: list[str] = []
        self.begun: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def want(self, *users: str) -> None:
        for user in users:
            self._tasks.append(asyncio.create_task(self.one(user)))
            await asyncio.sleep(0)
        await self.settle()

    async def one(self, user: str) -> None:
        async with self.pool.turn(user):
            self.running.append(user)
            self.begun.append(user)
            self.ends[user] = asyncio.Event()
            try:
                await self.ends[user].wait()
            finally:
                self.running.remove(user)

    async def end(self, user: str, after_seconds: float = 0.0) -> None:
        self.clock.advance(after_seconds)
        self.ends[user].set()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def test_one_turn_of_each_user_runs_and_users_take_turns() -> None:
    bench = Bench(2)
    await bench.want("ada", "ada", "ada", "bob", "cyd", "bob")
    assert bench.running == ["ada", "bob"]
    for user in ("ada", "bob", "cyd", "ada", "bob", "ada"):
        await bench.end(user)
    assert bench.begun == ["ada", "bob", "cyd", "ada", "bob", "ada"]
    assert bench.pool.made == 2


async def test_workers_start_only_as_they_are_needed() -> None:
    bench = Bench(4)
    for _ in range(3):
        await bench.want("ada")
        await bench.end("ada")
    assert bench.pool.made == 1


async def test_who_used_up_the_budget_waits_behind_others_and_leaves_one_worker_to_them() -> None:
    bench = Bench(2)
    for user in ("eve", "mal"):
        await bench.want(user)
        await bench.end(user, BUDGET_SECONDS * 2)
    await bench.want("eve", "eve", "mal", "mal")
    assert bench.running == ["eve"]
    await bench.want("ada")
    assert bench.running == ["eve", "ada"]
    await bench.want("bob")
    await bench.end("eve")
    assert bench.running == ["ada", "bob"]
    await bench.end("ada")
    assert bench.running == ["bob", "mal"]
    await bench.stop()


async def test_what_was_used_is_forgotten_in_time() -> None:
    bench = Bench(2)
    await bench.want("eve", "mal")
    await bench.end("eve", BUDGET_SECONDS * 2)
    await bench.end("mal")
    await bench.want("eve", "mal")
    assert bench.running == ["eve"]
    bench.clock.advance(2 * HALF_LIFE_SECONDS)
    await bench.want("eve")
    assert bench.running == ["eve", "mal"]
    await bench.stop()


async def test_a_single_worker_serves_those_over_the_budget_too() -> None:
    bench = Bench(1)
    await bench.want("eve")
    await bench.end("eve", BUDGET_SECONDS * 2)
    await bench.want("eve", "ada")
    assert bench.running == ["eve"]
    await bench.want("eve", "bob")
    for user in ("eve", "ada", "bob"):
        assert bench.running == [user]
        await bench.end(user)
    assert bench.running == ["eve"]
    await bench.stop()


@pytest.mark.parametrize("moment", range(4))
async def test_who_leaves_while_waiting_takes_no_turn_away(moment: int) -> None:
    bench = Bench(1)
    await bench.want("ada")
    waits = asyncio.create_task(bench.one("bob"))
    await bench.settle()
    bench.ends["ada"].set()
    for _ in range(moment):
        await asyncio.sleep(0)
    waits.cancel()
    with suppress(asyncio.CancelledError):
        await waits
    await bench.want("cyd")
    assert bench.running == ["cyd"]
    await bench.stop()


async def test_a_closed_pool_answers_nobody() -> None:
    bench = Bench(1)
    await bench.want("ada")
    waits = asyncio.create_task(bench.pool.run("bob", jobs.add, 1))
    await bench.settle()
    await bench.pool.close()
    with pytest.raises(WorkerDied):
        await waits
    with pytest.raises(WorkerDied):
        await bench.pool.run("ada", jobs.add, 1)
    assert await bench.pool.run_or_here("ada", jobs.add, 1, timeout_seconds=60) == 2
    await bench.stop()


async def test_what_takes_a_worker_too_long_is_not_tried_in_this_process() -> None:
    pool = WorkerPool(jobs.JOBS, 1, FakeClock())
    with pytest.raises(WorkerTimedOut):
        await pool.run_or_here("ada", jobs.sleep, 3600.0, timeout_seconds=0.05)
    await pool.close()


async def test_nothing_is_kept_of_users_who_are_long_gone() -> None:
    bench = Bench(2)
    for number in range(2000):
        await bench.pool.run(str(number), jobs.add, 1)
        bench.clock.advance(1)
    assert bench.pool.remembered < 1000
