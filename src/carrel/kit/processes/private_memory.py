"""Keeps the memory of a process from other processes of its account, from before it holds anything.

The kernel lets a process open the memory of another one of its account (`/proc/<pid>/mem`) until that one forbids it,
and each program that is started has to forbid it anew. What was opened before can be read ever after. So a program
forbids it first, and then goes on in a child made by `fork`: that one has a memory of its own, for which it was
forbidden from its first instant. This module is imported before all that takes long, and imports little.
"""

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_PR_GET_DUMPABLE = 3
_PR_SET_DUMPABLE = 4
_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
_libc = ctypes.CDLL(None, use_errno=True)


def keep() -> None:
    """Let nobody read this process's memory from now on: no core files, and no other process of the same account."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def is_kept() -> bool:
    """Whether no other process of the same account may open this one's memory."""
    return bool(_libc.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)


def end_with_parent() -> None:
    """Be killed when the process that made this one ends. A change of the account takes this back."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def continue_in_child(passed_on: Mapping[signal.Signals, signal.Signals]) -> None:
    """Return in a child process whose memory nobody could ever open.

    The process that called this holds nothing. It passes signals on to the child, as `passed_on` says, and ends as the
    child ends, also when it is the first process of a container. If it is killed, the child is killed.

    A program whose file may be run but not read has been protected by the kernel from its first instruction on. Then
    there is no child.
    """
    if is_kept():
        return
    keep()
    # If whoever started us ignores it, the kernel would not say how the child ended.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, *passed_on})
    parent, child = os.getpid(), os.fork()
    if child:
        _stand_before(child, passed_on)
    end_with_parent()
    if os.getppid() != parent:
        os._exit(1)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stand_before(child: int, passed_on: Mapping[signal.Signals, signal.Signals]) -> NoReturn:
    os.closerange(0, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    while True:
        number = signal.sigwait({signal.SIGCHLD, *passed_on})
        if number != signal.SIGCHLD:
            os.kill(child, passed_on[signal.Signals(number)])
            continue
        # Others that have lost their parent come to the first process of a container.
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                _end_as(os.waitstatus_to_exitcode(ended[1]))


def _end_as(code: int) -> NoReturn:
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    # The first process of a container does not end by a signal of its own.
    os._exit(128 - code if code < 0 else code)


def is_open_at_start() -> bool:
    """Whether other processes of the account may open the memory of a program that this one starts, until it is kept.

    They may not if the kernel lets processes trace their own children alone (Yama), or if the account may run Python's
    file but not read it.
    """
    try:
        is_restricted = _YAMA.read_text().strip() != "0"
    except OSError:
        is_restricted = False
    return not is_restricted and os.access(sys.executable, os.R_OK)
