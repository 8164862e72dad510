"""When the kernel lets a thread run. Python's `os` knows priorities, but neither the length of a turn nor heirs."""

import ctypes
import os
import platform
from typing import Final

_libc = ctypes.CDLL(None, use_errno=True)

_SET_ATTRIBUTES: Final = {"x86_64": 314, "aarch64": 274}
"""The number of `sched_setattr(2)`."""
_RESET_ON_FORK: Final = 1
SHORTEST_SECONDS: Final = 0.0001
"""The kernel rounds shorter turns up to this, 0.1 ms."""
FIRST_NICE: Final = -10
"""The priority of whoever goes first; the usual one is 0, and each step is a quarter more of a core that two want."""


class _Attributes(ctypes.Structure):
    """`struct sched_attr` in its first version; see sched_setattr(2)."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def go_first() -> bool:
    """The current thread runs as soon as it has something to do, also when others compute on every core.

    Since Linux 6.12, whoever asks for shorter turns than the thread that runs takes its place at once; without it, a
    thread that wakes up waits for the end of a turn, 3 to 4 ms. But a thread that has just used more than its part of a
    core has to wait nevertheless, even beside an idle core, so this one gets priority besides, unless it was started
    with less than usual: with `CAP_SYS_NICE` or a sufficient `RLIMIT_NICE`. Threads and processes that it starts
    inherit neither.

    Returns:
        Whether the kernel has accepted short turns, with or without priority; an older one does, without effect.
    """
    number = _SET_ATTRIBUTES.get(platform.machine())
    if number is None or os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK != os.SCHED_OTHER:
        return False
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    return any(_set(number, wanted) for wanted in ((min(nice, FIRST_NICE), nice) if nice <= 0 else (nice,)))


def _set(number: int, nice: int) -> bool:
    wanted = _Attributes(
        size=ctypes.sizeof(_Attributes),
        policy=os.SCHED_OTHER,
        flags=_RESET_ON_FORK,
        nice=nice,
        runtime=round(SHORTEST_SECONDS * 1e9),
    )
    accepted: int = _libc.syscall(number, 0, ctypes.byref(wanted), 0)
    return accepted == 0
