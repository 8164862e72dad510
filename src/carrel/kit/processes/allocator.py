"""Has the C library overwrite what a process frees. Small blocks need a setting with which the process is started.

glibc overwrites freed blocks (`M_PERTURB`), but not those of up to 1,032 bytes that it keeps for their thread: only
without that cache are they overwritten, and only the environment turns it off. Other C libraries ignore all of this.
Python gives out objects of up to 512 bytes from memory of its own, which nothing overwrites: to have it ask the C
library for each of them costs 14 % of the CPU of a list and 17 % of a sign-in, as measured.
"""

import os
import sys

FREED_BYTE = 0xA5
_NAME = "GLIBC_TUNABLES"
_NO_CACHE = "glibc.malloc.tcache_count=0"
_OVERWRITE = f"glibc.malloc.perturb={FREED_BYTE}"
ENVIRONMENT = {_NAME: f"{_NO_CACHE}:{_OVERWRITE}"}
"""For a new process that shall overwrite all that it frees to the C library."""


def restart_without_cache() -> None:
    """Run this program anew, in the same process, unless its environment says already that threads keep no blocks.

    To be called before anything is imported that takes long, as this module imports nothing: a start of Python alone
    takes 13 ms.
    """
    if not is_without_cache():
        settings = filter(None, (os.environ.get(_NAME), _NO_CACHE))
        sys.stdout.flush()
        os.execve(sys.executable, sys.orig_argv, {**os.environ, _NAME: ":".join(settings)})  # noqa: S606  # itself


def is_without_cache() -> bool:
    """Whether this process was started so that threads keep no blocks."""
    return _NO_CACHE in os.environ.get(_NAME, "").split(":")
