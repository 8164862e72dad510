"""Short turns of the processor, as the kernel tells them."""

import ctypes
import os
import platform
import sys
import threading

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
        assert scheduling.take_short_turns()
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
    assert not scheduling.take_short_turns()
