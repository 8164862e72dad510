"""What the process does to itself before it holds a key: no core dumps, no onlookers, freed memory overwritten."""

import ctypes
import os
import resource

_PR_GET_DUMPABLE = 3
_PR_SET_DUMPABLE = 4
_M_PERTURB = -6
_M_ARENA_MAX = -8
_FREED_BYTE = 0xA5
_DESCRIPTORS = 1_048_576
_libc = ctypes.CDLL(None, use_errno=True)


def harden() -> None:
    """Make this process one that may hold keys. Called once, before anything else is opened; the self-test checks it.

    - No core dump ever, and no other process of the same account may read this one's memory. (`/proc/<pid>` belongs to
      root from now on; the process still reads its own.)
    - Freed memory is overwritten: SQLite's scratch memory, in which a key's digits stood while it was set, goes back to
      the allocator as it is. Costs 1–7 % of CPU where it was measured.
    - One heap for all threads: of each thread's own, glibc asks the kernel for every four kilobytes, which made the
      opening of a database in a thread take 1.5 times as long.
    - What it writes is for its own account alone, also the folders between, whatever it was started with.
    - As many descriptors and as much locked memory as the system allows: an open workspace takes four descriptors.
    """
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    overwrite_freed_memory()
    _tune_allocator(_M_ARENA_MAX, 1)
    _raise_soft_limit(resource.RLIMIT_NOFILE, _DESCRIPTORS)
    _raise_soft_limit(resource.RLIMIT_MEMLOCK, resource.RLIM_INFINITY)


def overwrite_freed_memory() -> None:
    """Let the allocator fill what is freed, where it can (glibc)."""
    _tune_allocator(_M_PERTURB, _FREED_BYTE)


def _tune_allocator(option: int, value: int) -> None:
    mallopt = getattr(_libc, "mallopt", None)
    if mallopt is not None:
        mallopt(option, value)


def can_dump_core() -> bool:
    """Whether a crash could write this process's memory to a file."""
    return resource.getrlimit(resource.RLIMIT_CORE)[0] != 0


def can_be_read() -> bool:
    """Whether another process of the same account could read this one's memory."""
    return bool(_libc.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)


def _raise_soft_limit(kind: int, wanted: int) -> None:
    soft, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY and (wanted == resource.RLIM_INFINITY or wanted > hard):
        wanted = hard
    if soft != resource.RLIM_INFINITY and (wanted == resource.RLIM_INFINITY or wanted > soft):
        resource.setrlimit(kind, (wanted, hard))
