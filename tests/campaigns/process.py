"""What a real service process spends on one request, as the kernel counts it: processor time by thread, and memory."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_SETTLE_SECONDS = 0.05
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
    workers_ns: int
    resident: int


def spent(pid: int, work: Callable[[], object], held_bytes: int | None = None) -> Spent:
    """Run `work`, which waits for the answer, and return what the process and its children spent meanwhile.

    Memory counts beyond `held_bytes`, or else beyond what they hold before.
    """
    before = quiet(pid)
    processes = [pid, *_children(pid)]
    for each in processes:
        forget_peak(each)
    began = time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    # Threads may still be at it after the answer: what they do is part of the cost.
    after = _settled(pid)
    return Spent(
        (after.loop_ns - before.loop_ns) / 1e6,
        (after.all_ns - after.loop_ns - before.all_ns + before.loop_ns) / 1e6,
        (after.workers_ns - before.workers_ns) / 1e6,
        max(0, sum(peak_bytes(each) for each in [pid, *_children(pid)]) - (held_bytes or before.resident)),
        seconds,
    )


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
        idle = again.all_ns + again.workers_ns - found.all_ns - found.workers_ns
        if idle < _SETTLE_SECONDS * 1e9 * 0.1:
            return found
        found = again


def _reading(pid: int) -> _Reading:
    children = _children(pid)
    everything = [pid, *children]
    return _Reading(
        _thread_ns(pid, pid),
        _process_ns(pid),
        sum(map(_process_ns, children)) + sum(map(_ended_children_ns, everything)),
        sum(resident_bytes(each) for each in everything),
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


def _ended_children_ns(pid: int) -> int:
    """What children spent that have ended meanwhile; the kernel counts it in ticks."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return 0
    user, system = stat.rpartition(") ")[2].split()[13:15]
    return (int(user) + int(system)) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


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
