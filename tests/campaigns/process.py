"""What a real service process spends on one request, as the kernel counts it: processor time by thread, and memory."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_SETTLE_SECONDS = 0.05
_WATCH_SECONDS = 0.05
_QUIET_READINGS = 4
"""A run that an earlier request started may wait for a moment and go on."""
_CLEAR_PEAK = "5"
"""What makes the kernel forget the peak of a process's memory, written to its `clear_refs`."""


class Spent(NamedTuple):
    """Milliseconds on the event loop's thread, in other threads, and in child processes; bytes beyond those before."""

    loop_ms: float
    threads_ms: float
    workers_ms: float
    memory_bytes: int
    seconds: float


class _Reading(NamedTuple):
    loop_ns: int
    all_ns: int
    workers: dict[int, int]
    """Nanoseconds of each child."""
    resident: int

    @property
    def total_ns(self) -> int:
        return self.all_ns + sum(self.workers.values())


def spent(pid: int, work: Callable[[], object], held_bytes: int | None = None) -> Spent:
    """Run `work`, which waits for the answer, and return what the process and its children spent meanwhile.

    Memory counts beyond `held_bytes`, or else beyond what they hold before.
    """
    before = quiet(pid)
    for each in (pid, *before.workers):
        forget_peak(each)
    began = time.perf_counter()
    with _watched(pid) as seen:
        work()
    seconds = time.perf_counter() - began
    # Threads may still be at it after the answer: what they do is part of the cost.
    after = _settled(pid)
    # A child that was ended meanwhile takes its figures with it, but for those that were seen.
    workers = {child: ns for reading in (*seen, after) for child, ns in reading.workers.items()}
    peaks = [*(reading.resident for reading in seen), sum(map(peak_bytes, [pid, *after.workers]))]
    return Spent(
        (after.loop_ns - before.loop_ns) / 1e6,
        (after.all_ns - after.loop_ns - before.all_ns + before.loop_ns) / 1e6,
        sum(ns - before.workers.get(child, 0) for child, ns in workers.items()) / 1e6,
        max(0, max(peaks) - (held_bytes or before.resident)),
        seconds,
    )


@contextmanager
def _watched(pid: int) -> Iterator[list[_Reading]]:
    """Readings now and then while the block lasts."""
    seen: list[_Reading] = []
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_WATCH_SECONDS):
            seen.append(_reading(pid))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield seen
    finally:
        ended.set()
        watching.join()


def all_resident_bytes(pid: int) -> int:
    """The memory that the process and its children hold once they are quiet."""
    return quiet(pid).resident


def resident_bytes(pid: int) -> int:
    """The memory that the process holds now."""
    return _status(pid, "VmRSS")


def quiet(pid: int) -> _Reading:
    """A reading once the process does nothing more of what came before."""
    same = 0
    found = _reading(pid)
    while same < _QUIET_READINGS:
        again = _settled(pid, found)
        # The very same: nothing happened meanwhile.
        same, found = (same + 1, _reading(pid)) if again is found else (0, again)
    return found


def _settled(pid: int, found: _Reading | None = None) -> _Reading:
    found = found or _reading(pid)
    while True:
        time.sleep(_SETTLE_SECONDS)
        again = _reading(pid)
        if again.total_ns - found.total_ns < _SETTLE_SECONDS * 1e9 * 0.1:
            return found
        found = again


def _reading(pid: int) -> _Reading:
    children = _children(pid)
    return _Reading(
        _thread_ns(pid, pid),
        _process_ns(pid),
        {child: _process_ns(child) for child in children},
        sum(map(resident_bytes, [pid, *children])),
    )


def _process_ns(pid: int) -> int:
    try:
        return sum(_thread_ns(pid, int(thread)) for thread in os.listdir(f"/proc/{pid}/task"))
    except FileNotFoundError:
        return 0


def _thread_ns(pid: int, thread: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[0])
    except FileNotFoundError:
        return 0


def _children(pid: int) -> list[int]:
    """The processes that it has started, and those that these have started: a worker goes on in a child of its own."""
    found: list[int] = []
    with suppress(FileNotFoundError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    return sorted([*found, *(below for child in found for below in _children(child))])


def forget_peak(pid: int) -> None:
    """Count the most memory anew from now on."""
    with suppress(FileNotFoundError):
        Path(f"/proc/{pid}/clear_refs").write_text(_CLEAR_PEAK)


def peak_bytes(pid: int) -> int:
    """The most memory that the process has held."""
    return _status(pid, "VmHWM")


def _status(pid: int, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except FileNotFoundError:
        return 0
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))
