"""Work in threads, and how soon whoever awaits it goes on."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from carrel.kit.concurrency.threads import in_thread, tell_when_done


class Held(Executor):
    """Ends its work when it is told to."""

    job: "Future[Any]"

    def submit(self, *_: object, **__: object) -> "Future[Any]":
        self.job = Future()
        self.job.set_running_or_notify_cancel()
        return self.job


async def test_an_answer_and_an_error_come_through() -> None:
    with ThreadPoolExecutor(1) as executor:
        assert await in_thread(executor, lambda: threading.current_thread() is not threading.main_thread())
        with pytest.raises(ZeroDivisionError):
            await in_thread(executor, lambda: 1 / 0)


@pytest.mark.parametrize("end", [lambda job: job.set_result(1), lambda job: job.set_exception(ZeroDivisionError())])
async def test_a_cancelled_caller_waits_for_the_end_and_is_cancelled_then(end: "Callable[[Future[Any]], None]") -> None:
    held = Held()
    task = asyncio.create_task(in_thread(held, lambda: None))
    for _ in range(3):
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    end(held.job)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_whoever_awaits_it_goes_on_in_the_second_round_of_the_event_loop() -> None:
    held = Held()
    task = asyncio.create_task(in_thread(held, lambda: None))
    await asyncio.sleep(0)
    held.job.set_result(7)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert task.done()
    assert task.result() == 7


def test_work_that_ends_after_the_event_loop_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    job: Future[None] = Future()
    told: list[bool] = []

    async def begin() -> None:
        tell_when_done(job, lambda: told.append(True))

    asyncio.run(begin())
    job.set_result(None)
    assert (caplog.records, told) == ([], [])
