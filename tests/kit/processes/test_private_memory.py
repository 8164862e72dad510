"""A program goes on in a child whose memory nobody could ever open, and nobody else notices."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes import at_work, ended
from tests.support.same_account import WITHOUT_PRIVILEGES, unreadable_python

PROGRAM = """
import os, signal, sys, time
from carrel.kit.processes import private_memory

private_memory.continue_in_child({{signal.SIGTERM: signal.SIGTERM, signal.SIGHUP: signal.SIGUSR1}})
signal.signal(signal.SIGUSR1, lambda *_: print("hung up", flush=True))
print(os.getpid(), private_memory.is_kept(), flush=True)
{rest}
"""
WAITING = """
while True:
    signal.pause()
"""


@contextmanager
def running(rest: str, *before: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The process that was started, and the id of the one that works."""
    command = [*before, sys.executable, "-c", PROGRAM.format(rest=rest)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        working, is_kept = process.stdout.readline().split()
        assert is_kept == "True"
        try:
            yield process, int(working)
        finally:
            process.kill()


def test_it_ends_as_its_child_ends() -> None:
    for end, code in (("sys.exit(7)", 7), ("", 0), ("os.abort()", -signal.SIGABRT), (WAITING, -signal.SIGKILL)):
        with running(end) as (process, working):
            assert working != process.pid
            if end == WAITING:
                assert at_work(process.pid) == working
                os.kill(working, signal.SIGKILL)
            assert process.wait(60) == code


def test_signals_reach_the_child_as_they_are_passed_on() -> None:
    with running(WAITING) as (process, _):
        process.send_signal(signal.SIGHUP)
        assert process.stdout is not None
        assert process.stdout.readline() == "hung up\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM


def test_the_child_is_killed_with_the_process_before_it() -> None:
    with running(WAITING) as (process, working):
        process.kill()
        assert ended(working, within_seconds=60)


def test_the_process_before_it_holds_nothing() -> None:
    with running(WAITING) as (process, _):
        # The child may speak before the other has let go of what it had.
        deadline = time.monotonic() + 60
        while os.listdir(f"/proc/{process.pid}/fd"):
            assert time.monotonic() < deadline


def test_whoever_starts_it_may_ignore_how_children_end() -> None:
    with running("sys.exit(7)", "env", "--ignore-signal=CHLD") as (process, _):
        assert process.wait(60) == 7


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes the first process of a container")
def test_as_the_first_process_of_a_container_it_passes_signals_on_and_takes_orphans() -> None:
    orphan = "os.fork() or os.fork() or os._exit(0)\n"
    alone = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    with running(f"{orphan}os.wait()\n{WAITING}", *alone) as (process, _):
        first = next(iter(_children(process.pid)))
        working = next(iter(_children(first)))
        while _children(first) != [working]:
            pass
        os.kill(first, signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM


def _children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_there_is_no_child_where_the_account_may_run_python_but_not_read_it(tmp_path: Path) -> None:
    python = unreadable_python(tmp_path)
    rest = "print(private_memory.is_open_at_start(), sys.executable, flush=True)"
    command = [*WITHOUT_PRIVILEGES, str(python), "-c", PROGRAM.format(rest=rest)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        out, _ = process.communicate()
    assert out.split() == [str(process.pid), "True", "False", str(python)]
