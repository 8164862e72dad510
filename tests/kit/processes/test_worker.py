"""The worker process: lazy, alone, without secrets, and never in the way of the next call."""

import asyncio
import math
import operator
import os
import pickle
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import psutil
import pytest
import uvloop

from carrel.errors import FieldError, NotFound
from carrel.kit.processes.worker import Worker, WorkerDied, WorkerFailed, WorkerTimedOut
from carrel.kit.sqlite.paging import Paging

T = TypeVar("T")

PR_GET_DUMPABLE = 3
SCRIPT = """
import asyncio, os, signal
from carrel.errors import FieldError, NotFound
from carrel.kit.sqlite.paging import Paging
from carrel.kit.processes.worker import Worker

print("started", flush=True)

async def main():
    worker = Worker()
    print(await worker.run(os.getpid), flush=True)
    {end}

asyncio.run(main())
"""


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    worker = Worker()
    yield worker
    await worker.close()


async def in_flight(worker: Worker, fn: Callable[..., T], *args: object) -> "asyncio.Task[T]":
    """A call that has reached the child."""
    task = asyncio.create_task(worker.run(fn, *args))
    while worker.pid is None:
        await asyncio.sleep(0)
    return task


def ended(pid: int, *, within_seconds: float) -> bool:
    """Whether the process, which need not be ours, ends in time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], within_seconds)[0])
    finally:
        os.close(handle)


async def test_what_has_to_be_had_is_done_here_when_the_worker_brings_nothing(worker: Worker) -> None:
    assert await worker.run_or_here(os.getpid) == worker.pid
    with pytest.raises(ZeroDivisionError):
        await worker.run_or_here(operator.truediv, 1, 0)
    await worker.close()
    assert await worker.run_or_here(os.getpid) == os.getpid()


async def test_nothing_starts_before_the_first_call(worker: Worker) -> None:
    assert worker.pid is None
    assert await worker.run(math.factorial, 20) == math.factorial(20)
    assert worker.pid not in (None, os.getpid())


async def test_one_process_serves_all_calls_in_turn(worker: Worker) -> None:
    pids = await asyncio.gather(*(worker.run(os.getpid) for _ in range(20)))
    assert set(pids) == {worker.pid}


async def test_what_the_function_raises_is_raised_here_and_the_process_stays(worker: Worker) -> None:
    with pytest.raises(ZeroDivisionError):
        await worker.run(operator.truediv, 1, 0)
    before = worker.pid
    assert await worker.run(os.getpid) == before


@pytest.mark.parametrize(
    ("fn", "source"), [(eval, "lambda: 1"), (exec, "class Odd(Exception): pass\nraise Odd")], ids=["result", "error"]
)
async def test_what_cannot_travel_is_a_failure_of_its_own(worker: Worker, fn: object, source: str) -> None:
    with pytest.raises(WorkerFailed):
        await worker.run(fn, source)  # type: ignore[arg-type]
    assert await worker.run(operator.add, 1, 1) == 2


@pytest.mark.parametrize(
    "source",
    [
        "type('X', (), {'__reduce__': lambda self: (__import__('os').system, ('touch PLACE',))})()",
        "type('X', (), {'__reduce__': lambda self: (eval, ('open(\"PLACE\", \"w\")',))})()",
        "__import__('carrel.kit.processes.worker', fromlist=['x'])._start",
        "__import__('carrel.config', fromlist=['x']).Secret",
        "__import__('pathlib').Path('/')",
    ],
    ids=["a command", "a program", "a function of ours", "a class that holds secrets", "another library's"],
)
async def test_an_answer_can_name_nothing_that_does_something(worker: Worker, source: str, tmp_path: Path) -> None:
    place = tmp_path / "taken"
    with pytest.raises(WorkerFailed):
        await worker.run(eval, source.replace("PLACE", str(place)))
    assert not place.exists()
    assert await worker.run(operator.add, 1, 1) == 2


async def test_an_answer_without_end_is_not_waited_for(worker: Worker) -> None:
    with pytest.raises(WorkerDied):
        await worker.run(exec, "import os; os.write(3, bytes([255]) * 8); os._exit(0)")


async def test_one_wish_of_each_user_waits_among_those_of_the_others(worker: Worker) -> None:
    done: list[str] = []

    async def wish(user: str) -> None:
        async with worker.turn_of(user):
            await worker.run(operator.add, 1, 1)
            done.append(user)

    await asyncio.gather(*map(wish, ["ada", "ada", "ada", "bob"]))
    assert done == ["ada", "bob", "ada", "ada"]


async def test_structs_tuples_and_errors_of_ours_travel(worker: Worker) -> None:
    sent = (Paging(3), FieldError("a", "b"), [{"a": 1.5}, {1, 2}, b"c", None])
    assert await worker.run(operator.itemgetter(slice(None)), sent) == sent
    with pytest.raises(NotFound):
        await worker.run(exec, "from carrel.errors import NotFound; raise NotFound")


async def test_an_argument_that_cannot_travel_is_refused_before_anything_is_sent(worker: Worker) -> None:
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        await worker.run(len, lambda: 1)
    assert worker.pid is None


async def test_megabytes_travel_both_ways(worker: Worker) -> None:
    assert await worker.run(len, "x" * (8 << 20)) == 8 << 20
    assert len(await worker.run(bytes, 8 << 20)) == 8 << 20


async def test_a_call_whose_process_is_killed_says_so_and_the_next_gets_a_new_one(worker: Worker) -> None:
    call = await in_flight(worker, signal.pause)
    killed = worker.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    with pytest.raises(WorkerDied):
        await call
    assert await worker.run(os.getpid) not in (killed, os.getpid())
    assert not psutil.pid_exists(killed)


async def test_a_process_that_died_between_calls_is_replaced_unnoticed(worker: Worker) -> None:
    dead = await worker.run(os.getpid)
    os.kill(dead, signal.SIGKILL)
    os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)
    assert await worker.run(os.getpid) != dead


async def test_a_call_over_its_time_is_ended_with_its_process(worker: Worker) -> None:
    slow = await worker.run(os.getpid)
    with pytest.raises(WorkerTimedOut):
        await worker.run(signal.pause, timeout_seconds=0.05)
    assert not psutil.pid_exists(slow)
    assert await worker.run(operator.add, 1, 1, timeout_seconds=60) == 2


async def test_waiting_for_others_does_not_count_as_ones_own_time(worker: Worker) -> None:
    ahead = await in_flight(worker, signal.pause)
    behind = asyncio.create_task(worker.run(os.getpid, timeout_seconds=60))
    await asyncio.sleep(0)
    ahead.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ahead
    assert await behind == worker.pid


async def test_a_cancelled_call_wedges_nothing(worker: Worker) -> None:
    for _ in range(3):
        call = await in_flight(worker, signal.pause)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert await worker.run(operator.add, 1, 1) == 2


async def test_closing_ends_the_call_under_way_and_those_that_wait(worker: Worker) -> None:
    calls = [await in_flight(worker, signal.pause), asyncio.create_task(worker.run(os.getpid))]
    pid = worker.pid
    assert pid is not None
    await worker.close()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [WorkerDied, WorkerDied]
    assert not psutil.pid_exists(pid)
    with pytest.raises(WorkerDied):
        await worker.run(os.getpid)
    await worker.close()


async def test_the_child_sees_no_secret_and_no_file_of_the_parent(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("CARREL_PLUGIN_SECRET", "CARREL_SERVICE_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "canary-5c1e")
    database = os.open(tmp_path / "workspace.db", os.O_RDWR | os.O_CREAT)
    os.set_inheritable(database, True)
    try:
        await worker.run(os.getpid)
    finally:
        os.close(database)
    # Told by the child itself, for nobody else of its account may look.
    environment = await worker.run(eval, "dict(__import__('os').environ)")
    assert "canary" not in str(environment)
    assert "CARREL" not in str(environment)
    files = []
    for number in range(20):
        with suppress(FileNotFoundError):
            files.append((await worker.run(os.readlink, f"/proc/self/fd/{number}")).partition(":")[0])
    assert sorted(files) == ["/dev/null", "/dev/null", "/dev/null", "socket"]


async def test_nobody_may_read_the_memory_of_the_child(worker: Worker) -> None:
    assert await worker.run(eval, f"__import__('ctypes').CDLL(None).prctl({PR_GET_DUMPABLE}, 0, 0, 0, 0)") == 0


async def test_the_child_writes_no_core_and_lets_requests_go_first(worker: Worker) -> None:
    assert await worker.run(eval, "__import__('resource').getrlimit(__import__('resource').RLIMIT_CORE)") == (0, 0)
    assert await worker.run(os.getpriority, os.PRIO_PROCESS, 0) > os.getpriority(os.PRIO_PROCESS, 0)


async def test_the_child_ignores_a_terminals_interrupt(worker: Worker) -> None:
    pid = await worker.run(os.getpid)
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(pid, number)
    assert await worker.run(os.getpid) == pid
    assert os.getsid(pid) != os.getsid(0)


async def test_the_child_imports_what_a_call_names_and_nothing_else(worker: Worker) -> None:
    modules = await worker.run(eval, "sorted(__import__('sys').modules)")
    assert not [name for name in modules if name.partition(".")[0] in ("carrel", "asyncio", "litestar", "pytest")]


def test_the_parents_program_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "carrel"
    script.write_text(SCRIPT.format(end="await worker.close()"))
    done = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, check=True)
    assert done.stdout.count("started") == 1
    assert done.stderr == ""


def test_the_child_ends_when_the_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "carrel"
    script.write_text(SCRIPT.format(end="os.kill(os.getpid(), signal.SIGKILL)"))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    orphan = int(done.stdout.split()[1])
    assert ended(orphan, within_seconds=60)


def test_it_works_on_uvloop_too() -> None:
    async def main() -> None:
        worker = Worker()
        call = await in_flight(worker, signal.pause)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        with pytest.raises(WorkerTimedOut):
            await worker.run(signal.pause, timeout_seconds=0.05)
        assert await worker.run(len, "x" * (4 << 20)) == 4 << 20
        await worker.close()

    uvloop.run(main())
