"""Work on an event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from carrel.kit.concurrency.loop_thread import LoopThread


@pytest.fixture
async def beside() -> AsyncIterator[LoopThread]:
    made = LoopThread("beside")
    yield made
    await made.close()


async def test_work_runs_beside_the_loop_that_asks_for_it_always_in_the_same_thread(beside: LoopThread) -> None:
    async def work(number: int) -> tuple[int, int]:
        await asyncio.sleep(0)
        return number, threading.get_ident()

    found = await asyncio.gather(*(beside.run(work(number)) for number in range(10)))
    assert [number for number, _ in found] == list(range(10))
    threads = {thread for _, thread in found}
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_a_step_without_end_there_keeps_nobody_here_waiting(beside: LoopThread) -> None:
    go_on = threading.Event()

    async def work() -> bool:
        return go_on.wait(60)

    working = asyncio.create_task(beside.run(work()))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not working.done()
    go_on.set()
    assert await working


async def test_an_error_of_the_work_is_the_callers(beside: LoopThread) -> None:
    async def work() -> None:
        raise LookupError("told")

    with pytest.raises(LookupError, match="told"):
        await beside.run(work())


async def test_a_caller_that_is_cancelled_cancels_the_work(beside: LoopThread) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    working = asyncio.create_task(beside.run(work()))
    assert await asyncio.to_thread(begun.wait, 60)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert await asyncio.to_thread(ended.wait, 60)


async def test_what_the_work_tells_comes_before_its_result(beside: LoopThread) -> None:
    loop, told = asyncio.get_running_loop(), list[int]()

    async def work() -> None:
        for number in range(1_000):
            loop.call_soon_threadsafe(told.append, number)

    await beside.run(work())
    assert told == list(range(1_000))


async def test_closing_ends_the_thread_and_what_is_under_way() -> None:
    made, begun = LoopThread("beside"), threading.Event()

    async def work() -> None:
        begun.set()
        await asyncio.Event().wait()

    working = asyncio.create_task(made.run(work()))
    assert await asyncio.to_thread(begun.wait, 60)
    await made.close()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert "beside" not in {thread.name for thread in threading.enumerate()}


async def test_one_that_nobody_used_has_no_thread_to_end() -> None:
    await LoopThread("beside").close()
