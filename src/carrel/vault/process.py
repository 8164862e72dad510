"""Prepares the process before it holds a key: no core dumps, no access by other processes, freed memory overwritten."""

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
    """Make this process fit to hold keys. Call it once, before opening anything else; the self-test checks the result.

    - The process never dumps core, and no other process of the same account may read its memory. (`/proc/<pid>`
      belongs to root from now on; the process still reads its own.)
    - The allocator overwrites freed memory, because SQLite returns its scratch memory as it is, and a key's digits were
      there while SQLite set the key. This costs 1–7 % of CPU, as measured.
    - All threads share one heap. With a heap for each thread, glibc asks the kernel for every four kilobytes, and
      opening a database in a thread took 1.5 times as long.
    - Only its own account may read the files and folders that it writes, whatever the umask.
    - It may have as many descriptors and as much locked memory as the system allows: an open workspace takes four
      descriptors.
    """
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    overwrite_freed_memory()
    _tune_allocator(_M_ARENA_MAX, 1)
    _raise_soft_limit(resource.RLIMIT_NOFILE, _DESCRIPTORS)
    _raise_soft_limit(resource.RLIMIT_MEMLOCK, resource.RLIM_INFINITY)


def overwrite_freed_memory() -> None:
    """Let the allocator overwrite freed memory, where it can (glibc)."""
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
