"""Takes every right away from a worker that it does not need: after this it computes and talks over one socket.

Each measure is taken where the system has it, and `Confinement` says which ones hold. They do not depend on each other:
any one of them keeps a hijacked worker from opening a file of the service or a connection.
"""

import ctypes
import os
import platform
import resource
import struct
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from carrel.kit.processes import private_memory

_libc = ctypes.CDLL(None, use_errno=True)

_PR_SET_NO_NEW_PRIVS: Final = 38

_NOBODY: Final = 65534
"""The account that owns nothing, on every Linux."""

_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
"""The same on every processor, as all system calls since 2019."""
_LANDLOCK_VERSION_FLAG: Final = 1
_LANDLOCK_RIGHTS: Final = ((1, 13), (2, 14), (3, 15), (5, 16))
"""Since which version the kernel knows so many rights on files. One that it does not know makes it refuse all."""
_LANDLOCK_NET: Final = 4
_LANDLOCK_SCOPED: Final = 6
"""Since then also connections by TCP; since then also signals and abstract sockets."""

ALLOW, ERROR, KILL = 0x7FFF0000, 0x00050001, 0x80000000
"""The error is EPERM: a library that asks for something gets an answer, and the call of the job fails."""
_SECCOMP_SET_FILTER, _SECCOMP_ALL_THREADS = 1, 1
_LOAD, _EQUALS, _AT_LEAST, _HAS_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_AT_NUMBER, _AT_PROCESSOR, _AT_THIRD_ARGUMENT = 0, 4, 32
_PROT_EXEC: Final = 4
_FOREIGN_NUMBERS: Final = 0x40000000
"""From here on, an x86 processor counts the calls of another convention (x32)."""


_LIMITS: Final = {
    resource.RLIMIT_NOFILE: 1,  # descriptor 0 is taken, so no file and no socket can be opened beside it
    resource.RLIMIT_NPROC: 0,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_MEMLOCK: 0,
    resource.RLIMIT_MSGQUEUE: 0,
}


class Processor(NamedTuple):
    """What a filter has to know: numbers of system calls. `mapping` are `mmap` and `mprotect`."""

    audit: int
    seccomp: int
    mapping: tuple[int, int]
    allowed: tuple[int, ...]


PROCESSORS: Final = {
    "x86_64": Processor(
        0xC000003E,
        317,
        (9, 10),
        # sendto, recvfrom, munmap, brk, mremap, madvise, futex, rt_sigaction, rt_sigprocmask, rt_sigreturn,
        # sigaltstack, restart_syscall, exit, exit_group, getrandom, getpid, gettid, sched_yield, clock_gettime,
        # clock_getres, gettimeofday, getrusage, clock_nanosleep, rseq, setitimer, pselect6, select
        (
            *(44, 45, 11, 12, 25, 28, 202, 13, 14, 15, 131, 219, 60, 231),
            *(318, 39, 186, 24, 228, 229, 96, 98, 230, 334, 38, 270, 23),
        ),
    ),
    "aarch64": Processor(
        0xC00000B7,
        277,
        (222, 226),
        (
            *(206, 207, 215, 214, 216, 233, 98, 134, 135, 139, 132, 128, 93, 94),
            *(278, 172, 178, 124, 113, 114, 169, 165, 115, 293, 103, 72),
        ),
    ),
}


class Confinement(msgspec.Struct, frozen=True, tag="confined"):
    """Which measures hold in a worker; `landlock` is the version of the kernel's Landlock, 0 for none."""

    account: bool
    no_new_privileges: bool
    landlock: int
    seccomp: bool

    def names(self) -> list[str]:
        """The measures that hold, as the log shows them."""
        held = {
            "account": self.account,
            "no-new-privileges": self.no_new_privileges,
            f"landlock-{self.landlock}": self.landlock > 0,
            "seccomp": self.seccomp,
        }
        return [name for name, holds in held.items() if holds]


def confine(memory_bytes: int) -> Confinement:
    """Give up every right for good. Nothing can be imported or opened afterwards; descriptor 0 stays as it is.

    The address space may grow by `memory_bytes`: what an idle interpreter has differs with the machine and its locales.
    """
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    os.closerange(1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    landlock = _landlock_ruleset()
    room = pages * resource.getpagesize() + memory_bytes
    for kind, most in (_LIMITS | {resource.RLIMIT_AS: room}).items():
        resource.setrlimit(kind, (most, most))
    account = _drop_account()
    private_memory.keep()  # a change of the account may have reset this, and the next
    private_memory.end_with_parent()
    unprivileged = _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    return Confinement(account, unprivileged, _restrict(landlock), _filter_calls())


def _drop_account() -> bool:
    """Become an account that owns nothing. Only root can."""
    if os.geteuid() != 0:
        return False
    try:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    except OSError:  # a container may take this right away from its root
        return False
    return True


class _Ruleset(NamedTuple):
    descriptor: int
    version: int


def _landlock_ruleset() -> _Ruleset | None:
    """A ruleset that handles every right that the kernel knows, and so allows none; `None` without Landlock."""
    version = _call(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION_FLAG)
    if version < 1:
        return None
    rights = max(count for since, count in _LANDLOCK_RIGHTS if version >= since)
    fields = [(1 << rights) - 1]
    fields += [0b11] * (version >= _LANDLOCK_NET) + [0b11] * (version >= _LANDLOCK_SCOPED)
    body = struct.pack(f"{len(fields)}Q", *fields)
    descriptor = _call(_LANDLOCK_CREATE, body, len(body), 0)
    return None if descriptor < 0 else _Ruleset(descriptor, version)


def _restrict(ruleset: _Ruleset | None) -> int:
    if ruleset is None:
        return 0
    done = _call(_LANDLOCK_RESTRICT, ruleset.descriptor, 0) == 0
    os.close(ruleset.descriptor)
    return ruleset.version if done else 0


def _filter_calls() -> bool:
    """Let the kernel refuse every system call that computing and one open socket do not need."""
    processor = PROCESSORS.get(platform.machine())
    if processor is None:
        return False
    code = b"".join(program(processor))
    body = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(body))
    return _call(processor.seccomp, _SECCOMP_SET_FILTER, _SECCOMP_ALL_THREADS, header) == 0


def program(processor: Processor) -> list[bytes]:
    """The filter, in the language of BPF: eight bytes each, jumps counted from the next instruction."""
    calls = processor.allowed
    count = len(calls)
    at_error, at_allow, at_map = count, count + 1, count + 2
    return [
        _instruction(_LOAD, _AT_PROCESSOR),
        _instruction(_EQUALS, processor.audit, 1, 0),
        _instruction(_RETURN, KILL),
        _instruction(_LOAD, _AT_NUMBER),
        _instruction(_AT_LEAST, _FOREIGN_NUMBERS, at_error + 2, 0),
        *(_instruction(_EQUALS, call, at_map + 1 - place, 0) for place, call in enumerate(processor.mapping)),
        *(_instruction(_EQUALS, call, at_allow - place - 1, 0) for place, call in enumerate(calls)),
        _instruction(_RETURN, ERROR),
        _instruction(_RETURN, ALLOW),
        # Memory may be had, but none that holds a program.
        _instruction(_LOAD, _AT_THIRD_ARGUMENT),
        _instruction(_HAS_BIT, _PROT_EXEC, 0, 1),
        _instruction(_RETURN, ERROR),
        _instruction(_RETURN, ALLOW),
    ]


def _instruction(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, when_true, when_false, value)


def _call(number: int, *arguments: int | bytes | None) -> int:
    """A system call that the C library has no function for; -1 if it failed."""
    wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    found: int = _libc.syscall(ctypes.c_long(number), *wide)
    return found
