"""The worker process: lazy, alone, without secrets, and never in the way of the next call."""

import asyncio
import operator
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import uvloop

from carrel.errors import FieldError, NotFound
from carrel.kit.processes.jobs import CallLimits, WorkerDied, WorkerFailed, WorkerLied, WorkerTimedOut
from carrel.kit.processes.worker import Worker
from tests.support import worker_jobs as jobs
from tests.support.processes import at_work, ended

SCRIPT = """
import asyncio, os, signal, sys
sys.path.insert(0, {root!r})
from tests.support import worker_jobs as jobs
from carrel.kit.processes.worker import Worker

print("started", flush=True)

async def main():
    worker = Worker(jobs.JOBS)
    print(await worker.run(jobs.pid), flush=True)
    {end}

asyncio.run(main())
"""
LONG_SECONDS = 600.0


def script(folder: Path, end: str) -> Path:
    made = folder / "carrel"
    made.write_text(SCRIPT.format(root=str(Path(__file__).parents[3]), end=end))
    return made


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    worker = Worker(jobs.JOBS)
    yield worker
    await worker.close()


async def in_flight(worker: Worker) -> asyncio.Task[None]:
    """A call that has reached the child: it takes processor time."""
    child = psutil.Process(await worker.run(jobs.pid))
    before = child.cpu_times().user
    task = asyncio.create_task(worker.run(jobs.spin))
    async with asyncio.timeout(60):
        while child.cpu_times().user <= before:
            await asyncio.sleep(0.001)
    return task


async def test_nothing_starts_before_the_first_call(worker: Worker) -> None:
    assert worker.pid is None
    assert await worker.run(jobs.add, 1, 2) == 3
    assert worker.pid not in (None, os.getpid())


async def test_one_process_serves_all_calls_in_turn(worker: Worker) -> None:
    pids = await asyncio.gather(*(worker.run(jobs.pid) for _ in range(20)))
    assert worker.pid is not None
    assert set(pids) == {at_work(worker.pid)}


async def test_an_error_on_the_list_is_raised_here_and_the_process_stays(worker: Worker) -> None:
    with pytest.raises(NotFound):
        await worker.run(jobs.fail, "NotFound")
    before = worker.pid
    assert before is not None
    assert await worker.run(jobs.pid) == at_work(before)


async def test_what_is_not_on_the_list_is_a_failure_and_the_process_stays(worker: Worker) -> None:
    before = await worker.run(jobs.pid)
    with pytest.raises(WorkerFailed, match="KeyError"):
        await worker.run(jobs.fail, "KeyError")
    with pytest.raises(WorkerFailed, match="ValidationError"):
        await worker.run(jobs.add, "one")
    assert await worker.run(jobs.pid) == before


async def test_a_result_of_another_type_than_promised_costs_the_process(worker: Worker) -> None:
    before = await worker.run(jobs.pid)
    with pytest.raises(WorkerLied):
        await worker.run(jobs.promise)
    assert ended(before, within_seconds=60)
    assert await worker.run(jobs.add, 1) == 2


async def test_only_functions_of_the_list_are_called(worker: Worker) -> None:
    for other in (operator.add, eval, os.system):
        with pytest.raises(KeyError):
            await worker.run(other, "1")
    assert worker.pid is None


async def test_frames_have_a_greatest_size_in_both_directions() -> None:
    worker = Worker(jobs.JOBS, CallLimits(call=1000, answer=1000))
    with pytest.raises(WorkerFailed):
        await worker.run(jobs.size, "x" * 1000)
    assert worker.pid is None
    assert len(await worker.run(jobs.zeros, 900)) == 900
    with pytest.raises(WorkerLied):
        await worker.run(jobs.zeros, 1000)
    assert await worker.run(jobs.size, "x" * 900) == 900
    await worker.close()


async def test_structs_tuples_and_maps_travel(worker: Worker) -> None:
    sent = (FieldError("a", "b"), {"a": 1.5}, b"c", None)
    assert await worker.run(jobs.same, sent) == sent


async def test_megabytes_travel_both_ways(worker: Worker) -> None:
    assert await worker.run(jobs.size, "x" * (8 << 20)) == 8 << 20
    assert len(await worker.run(jobs.zeros, 8 << 20)) == 8 << 20


async def test_a_call_whose_process_is_killed_says_so_and_the_next_gets_a_new_one(worker: Worker) -> None:
    call = await in_flight(worker)
    assert worker.pid is not None
    killed = at_work(worker.pid)
    os.kill(killed, signal.SIGKILL)
    with pytest.raises(WorkerDied):
        await call
    assert await worker.run(jobs.pid) not in (killed, os.getpid())
    assert ended(killed, within_seconds=60)
    with pytest.raises(WorkerDied):
        await worker.run(jobs.die)


async def test_a_process_that_died_between_calls_is_replaced_unnoticed(worker: Worker) -> None:
    dead = await worker.run(jobs.pid)
    os.kill(dead, signal.SIGKILL)
    assert ended(dead, within_seconds=60)
    assert await worker.run(jobs.pid) != dead


async def test_a_call_over_its_time_is_ended_with_its_process(worker: Worker) -> None:
    slow = await worker.run(jobs.pid)
    with pytest.raises(WorkerTimedOut):
        await worker.run(jobs.sleep, LONG_SECONDS, timeout_seconds=0.05)
    assert ended(slow, within_seconds=60)
    assert await worker.run(jobs.add, 1, 1, timeout_seconds=60) == 2


async def test_a_call_over_its_processor_time_ends_its_process_and_waiting_costs_none() -> None:
    worker = Worker(jobs.JOBS, CallLimits(cpu_seconds=0.05))
    await worker.run(jobs.sleep, 0.1)
    with pytest.raises(WorkerDied):
        await worker.run(jobs.spin, timeout_seconds=60)
    assert await worker.run(jobs.add, 1) == 2
    await worker.close()


async def test_a_cancelled_call_wedges_nothing(worker: Worker) -> None:
    for _ in range(2):
        call = await in_flight(worker)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert await worker.run(jobs.add, 1, 1) == 2


async def test_closing_ends_the_call_under_way_and_those_that_wait(worker: Worker) -> None:
    calls = [await in_flight(worker), asyncio.create_task(worker.run(jobs.pid))]
    assert worker.pid is not None
    pid = at_work(worker.pid)
    await worker.close()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [WorkerDied, WorkerDied]
    assert ended(pid, within_seconds=60)
    with pytest.raises(WorkerDied):
        await worker.run(jobs.pid)
    await worker.close()


async def test_the_child_sees_no_secret_of_the_parent(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CARREL_PLUGIN_SECRET", "CARREL_SERVICE_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "canary-5c1e")
    environment = await worker.run(jobs.environment)
    assert "canary" not in str(environment)
    assert "CARREL" not in str(environment)


async def test_the_child_ignores_a_terminals_interrupt(worker: Worker) -> None:
    pid = await worker.run(jobs.pid)
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(pid, number)
    assert await worker.run(jobs.pid) == pid
    assert os.getsid(pid) != os.getsid(0)


async def test_the_child_imports_what_its_list_names_and_no_framework(worker: Worker) -> None:
    modules = await worker.run(jobs.modules)
    assert not [name for name in modules if name.partition(".")[0] in ("asyncio", "starlette", "numpy", "pytest")]


def test_the_parents_program_is_not_run_again(tmp_path: Path) -> None:
    program = script(tmp_path, "await worker.close()")
    done = subprocess.run([sys.executable, "-W", "error", program], capture_output=True, text=True, check=True)
    assert done.stdout.count("started") == 1
    assert '"event":"worker-started"' in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_child_ends_when_the_parent_is_killed(tmp_path: Path) -> None:
    program = script(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    orphan = int(done.stdout.split()[1])
    assert ended(orphan, within_seconds=60)


def test_it_works_on_uvloop_too() -> None:
    async def main() -> None:
        worker = Worker(jobs.JOBS)
        call = await in_flight(worker)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        with pytest.raises(WorkerTimedOut):
            await worker.run(jobs.sleep, LONG_SECONDS, timeout_seconds=0.05)
        assert await worker.run(jobs.size, "x" * (4 << 20)) == 4 << 20
        await worker.close()

    uvloop.run(main())
