"""Processes that tests look at, and those that stand before them (`carrel.kit.processes.private_memory`)."""

import os
import select
from contextlib import suppress

import psutil


def at_work(pid: int) -> int:
    """The child of the process that runs the same program, if there is one; else the process itself."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for child in process.children():
            with suppress(psutil.NoSuchProcess):
                if child.cmdline() == process.cmdline():
                    return child.pid
    return pid


def ended(pid: int, *, within_seconds: float) -> bool:
    """Whether the process, which need not be ours, ends in time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], within_seconds)[0])
    finally:
        os.close(handle)
