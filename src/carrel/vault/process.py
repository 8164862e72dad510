"""Prepares the process before it holds a key: no core dumps, no access by other processes, freed memory overwritten."""

import ctypes
import os
import resource

from carrel.kit.processes import allocator, private_memory

_M_PERTURB = -6
_M_ARENA_MAX = -8
_BLOCK_SIZES = (64, 200, 520, 1_000, 4_000)
"""Of blocks that are freed to see what becomes of them: below 1,033 bytes, threads may keep them for themselves."""
_LINKS = 32
"""So many bytes at the start of a free block, and the last 8, are the allocator's own."""
_OTHER_BYTE = 0x41
_DESCRIPTORS = 1_048_576
_libc = ctypes.CDLL(None, use_errno=True)
_libc.malloc.restype = _libc.memchr.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]
_libc.free.argtypes = [ctypes.c_void_p]
_libc.memchr.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]


def harden() -> None:
    """Make this process fit to hold keys. Call it once, before opening anything else; the self-test checks the result.

    - The process never dumps core, and no other process of the same account may read its memory. (`/proc/<pid>`
      belongs to root from now on; the process still reads its own.)
    - The allocator overwrites freed memory, because SQLite returns its scratch memory as it is, and a key's digits were
      there while SQLite set the key. This costs 1–7 % of CPU, as measured. With small blocks, too, which depends on the
      start of the process (`allocator`), it costs 1–4 % more.
    - All threads share one heap. With a heap for each thread, glibc asks the kernel for every four kilobytes, and
      opening a database in a thread took 1.5 times as long.
    - Only its own account may read the files and folders that it writes, whatever the umask.
    - It may have as many descriptors and as much locked memory as the system allows: an open workspace takes four
      descriptors.
    """
    os.umask(0o077)
    private_memory.keep()
    overwrite_freed_memory()
    _tune_allocator(_M_ARENA_MAX, 1)
    _raise_soft_limit(resource.RLIMIT_NOFILE, _DESCRIPTORS)
    _raise_soft_limit(resource.RLIMIT_MEMLOCK, resource.RLIM_INFINITY)


def overwrite_freed_memory() -> None:
    """Let the allocator overwrite freed memory, where it can (glibc)."""
    _tune_allocator(_M_PERTURB, allocator.FREED_BYTE)


def keeps_freed_memory() -> bool:
    """Whether blocks that this process frees keep what was in them, where the allocator can overwrite it (glibc).

    It allocates blocks, frees them and looks. Small blocks count if the process was started so that they are
    overwritten, too.
    """
    if getattr(_libc, "mallopt", None) is None:
        return False
    least = 0 if allocator.is_without_cache() else max(_BLOCK_SIZES)
    return any(_keeps(size) for size in _BLOCK_SIZES if size >= least)


def _keeps(size: int) -> bool:
    blocks = [_libc.malloc(size) for _ in range(8)]
    for block in blocks:
        ctypes.memset(block, _OTHER_BYTE, size)
    # Every other one, so that a block that is free keeps its limits.
    for block in blocks[::2]:
        _libc.free(block)
    kept = any(_libc.memchr(block + _LINKS, _OTHER_BYTE, size - _LINKS - 8) for block in blocks[::2])
    for block in blocks[1::2]:
        _libc.free(block)
    return kept


def _tune_allocator(option: int, value: int) -> None:
    mallopt = getattr(_libc, "mallopt", None)
    if mallopt is not None:
        mallopt(option, value)


def can_dump_core() -> bool:
    """Whether a crash could write this process's memory to a file."""
    return resource.getrlimit(resource.RLIMIT_CORE)[0] != 0


def can_be_read() -> bool:
    """Whether another process of the same account could read this one's memory."""
    return not private_memory.is_kept()


def _raise_soft_limit(kind: int, wanted: int) -> None:
    soft, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY and (wanted == resource.RLIM_INFINITY or wanted > hard):
        wanted = hard
    if soft != resource.RLIM_INFINITY and (wanted == resource.RLIM_INFINITY or wanted > soft):
        resource.setrlimit(kind, (wanted, hard))
