"""Short turns of the processor and priority, as the kernel tells them."""

import ctypes
import os
import platform
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from carrel.kit.processes import scheduling


def _turn() -> float:
    """How many nanoseconds a turn of the current thread lasts; 0 is the kernel's own choice."""
    told = (ctypes.c_uint64 * 8)()
    number = {"x86_64": 315, "aarch64": 275}[platform.machine()]
    assert ctypes.CDLL(None).syscall(number, 0, ctypes.byref(told), ctypes.sizeof(told), 0) == 0
    return float(told[3])


def _knows_turns() -> bool:
    return tuple(map(int, os.uname().release.split("-")[0].split(".")[:2])) >= (6, 12)


@pytest.mark.skipif(sys.platform != "linux" or not _knows_turns(), reason="needs Linux 6.12")
def test_a_thread_takes_short_turns_and_those_that_it_starts_do_not() -> None:
    found: dict[str, float] = {}

    def other() -> None:
        found["other"] = _turn()

    def first() -> None:
        found["before"] = _turn()
        assert scheduling.go_first()
        found["after"] = _turn()
        started = threading.Thread(target=other)
        started.start()
        started.join()

    thread = threading.Thread(target=first)
    thread.start()
    thread.join()
    assert found["after"] == scheduling.SHORTEST_SECONDS * 1e9
    assert found["other"] == found["before"] != found["after"]


def test_a_processor_whose_numbers_are_unknown_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "abacus")
    assert not scheduling.go_first()


_PROGRAM = """
import os, sys, threading
from contextlib import suppress
from carrel.kit.processes import scheduling

def nice():
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

def raised():
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), scheduling.FIRST_NICE)
    found.append(nice())

def inside(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

if sys.argv[1] == "without":
    os.setuid(65534)
found = []
inside(raised)
assert scheduling.go_first()
found.append(nice())
inside(lambda: found.append(nice()))
print(*found)
"""


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root may give up privileges")
@pytest.mark.parametrize("privileges", ["with", "without"])
def test_whoever_may_raise_its_priority_does_and_its_threads_do_not_inherit_it(privileges: str) -> None:
    command = [sys.executable, "-c", _PROGRAM, privileges]
    source = str(Path(scheduling.__file__).parents[3])
    told = subprocess.run(command, check=True, capture_output=True, env={"PYTHONPATH": source}, text=True)
    allowed, own, of_its_thread = map(int, told.stdout.split())
    assert (own, of_its_thread) == (allowed, 0)
    if privileges == "without":
        assert own == 0
