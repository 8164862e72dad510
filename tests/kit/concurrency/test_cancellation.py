"""Seeing work through although the caller is cancelled."""

import asyncio

import pytest

from carrel.kit.concurrency.cancellation import run_to_completion


async def test_an_answer_and_an_error_come_through() -> None:
    async def divide(by: int) -> float:
        await asyncio.sleep(0)
        return 1 / by

    assert await run_to_completion(divide(2)) == 0.5
    with pytest.raises(ZeroDivisionError):
        await run_to_completion(divide(0))


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancelled_caller_waits_for_the_end_and_is_cancelled_then(*, fails: bool) -> None:
    release = asyncio.Event()
    ended: list[bool] = []

    async def work() -> None:
        await release.wait()
        ended.append(True)
        if fails:
            raise ZeroDivisionError

    task = asyncio.create_task(run_to_completion(work()))
    for _ in range(3):
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]


async def test_work_that_is_itself_cancelled_is_not_waited_for_for_ever() -> None:
    work: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(run_to_completion(work))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_work_within_work_that_is_seen_through_needs_no_task_of_its_own() -> None:
    tasks: list[asyncio.Task[None] | None] = []

    async def inner() -> None:
        tasks.append(asyncio.current_task())
        await asyncio.sleep(0)

    async def outer() -> None:
        tasks.append(asyncio.current_task())
        await run_to_completion(inner())

    await run_to_completion(outer())
    assert tasks[0] is tasks[1]
    assert tasks[0] is not asyncio.current_task()


async def test_a_cancelled_caller_waits_for_work_within_work_too() -> None:
    release = asyncio.Event()
    ended: list[str] = []

    async def inner() -> None:
        await release.wait()
        ended.append("inner")

    async def outer() -> None:
        await run_to_completion(inner())
        ended.append("outer")

    task = asyncio.create_task(run_to_completion(outer()))
    for _ in range(3):
        await asyncio.sleep(0)
        task.cancel()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["inner", "outer"]
