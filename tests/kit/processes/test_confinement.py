"""What a hijacked worker cannot do, tried from inside a real one."""

import errno
import os
import platform
import re
import socket
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from carrel.kit.processes import confinement
from carrel.kit.processes.jobs import Jobs
from carrel.kit.processes.worker import Worker
from tests.support import worker_jobs as jobs
from tests.support.processes import at_work

DENIED = {f"PermissionError {errno.EPERM}", f"PermissionError {errno.EACCES}"}
DENIED_LIMIT = "ValueError "  # what Python makes of it
NO_ROOM = f"OSError {errno.EMFILE}"
"""A socket of its own is the only descriptor that a worker may have."""


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    worker = Worker(jobs.JOBS)
    await worker.run(jobs.pid)
    yield worker
    await worker.close()


async def test_this_kernel_takes_every_right_from_a_worker(worker: Worker) -> None:
    held = worker.confined
    assert held is not None
    assert held.no_new_privileges
    assert held.account == (os.geteuid() == 0)
    # Where the tests run, a kernel without these is a fault of ours or a reason to know of.
    assert held.seccomp == (platform.machine() in ("x86_64", "aarch64"))
    assert held.landlock >= 1


async def test_no_file_no_network_and_no_program(worker: Worker, tmp_path: Path) -> None:
    readable = tmp_path / "readable"
    readable.write_text("words")
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        attempts = {
            "read": str(readable),
            "write": "/tmp/carrel-worker-was-here",
            "list": "/",
            "delete": str(readable),
            "socket": "",
            "unix": "",
            "connect": port,
            "execute": "/bin/true",
            "spawn": "/bin/true",
            "fork": "",
            "kill": str(os.getpid()),
            "limit": "",
        }
        for what, place in attempts.items():
            told = await worker.run(jobs.attempt, what, place)
            assert told in DENIED | {DENIED_LIMIT, NO_ROOM, f"BlockingIOError {errno.EAGAIN}"}, (what, told)
    assert readable.read_text() == "words"
    assert (await worker.run(jobs.attempt, "import", "sqlite3")).startswith("ModuleNotFoundError")


async def test_memory_is_bounded_and_the_process_stays(worker: Worker) -> None:
    assert await worker.run(jobs.attempt, "memory", str((1 << 30) + (1 << 26))) == "MemoryError "
    assert await worker.run(jobs.add, 1) == 2


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of calls are those of x86")
async def test_the_kernel_refuses_calls_past_pythons_own(worker: Worker) -> None:
    execute, private, anonymous = 4, 2, 0x20
    refused = {
        "ptrace": (101, [16, os.getpid()]),
        "process_vm_readv": (310, [os.getpid()]),
        "io_uring_setup": (425, [1]),
        "open_by_handle_at": (304, [-100]),
        "bpf": (321, [0]),
        "unshare": (272, [0x10000000]),
        "recvmsg": (47, [0]),
        "dup": (32, [0]),
        "mmap of a program": (9, [0, 4096, 1 | execute, private | anonymous, -1, 0]),
        "a call of the other convention": (0x40000000 + 39, []),
    }
    for name, (number, arguments) in refused.items():
        assert await worker.run(jobs.raw_attempt, number, arguments) == errno.EPERM, name
    assert await worker.run(jobs.raw_attempt, 9, [0, 4096, 1, private | anonymous, -1, 0]) == 0


async def test_nobody_reads_its_memory_and_requests_go_first(worker: Worker) -> None:
    assert worker.pid is not None
    pid = at_work(worker.pid)
    assert os.stat(f"/proc/{pid}/mem").st_uid == 0  # the kernel's sign for a process that cannot be dumped
    limits = Path(f"/proc/{pid}/limits").read_text()
    assert re.search(r"Max core file size +0 +0 ", limits)
    assert re.search(r"Max open files +1 +1 ", limits)
    assert os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, 0)
    if os.geteuid() == 0:
        assert set(psutil.Process(pid).uids()) == {65534}
        assert "Groups:\t \n" in Path(f"/proc/{pid}/status").read_text()


_OFF = {
    "landlock": "confinement._landlock_ruleset = lambda: None",
    "seccomp": "confinement.PROCESSORS.clear()",
    "account": "confinement._drop_account = lambda: False",
    "limits": "confinement._LIMITS.clear()",
}
_ALONE = {
    "landlock": ("read", "write", "list", "delete", "connect", "execute", "kill"),
    "seccomp": ("read", "write", "list", "delete", "socket", "unix", "execute", "fork", "kill", "limit"),
    "limits": ("read", "write", "list", "socket", "unix"),
}


@pytest.mark.parametrize("measure", list(_ALONE))
async def test_each_measure_holds_alone(measure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a list that switches the others off, as a kernel without them would."""
    module = f"only_{measure}"
    off = [line for name, line in _OFF.items() if name != measure]
    lines = [
        "from carrel.kit.processes import confinement",
        "from carrel.kit.processes.jobs import Jobs",
        "from tests.support.worker_jobs import attempt",
        *off,
        "JOBS = Jobs('tests', __name__, (attempt,))",
    ]
    (tmp_path / f"{module}.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    worker = Worker(Jobs("tests", module, (jobs.attempt,)))
    with socket.create_server(("127.0.0.1", 0)) as server:
        places = {
            "connect": str(server.getsockname()[1]),
            "execute": "/bin/true",
            "list": "/",
            "kill": str(os.getpid()),
        }
        for what in _ALONE[measure]:
            told = await worker.run(jobs.attempt, what, places.get(what, __file__))
            assert told in DENIED | {DENIED_LIMIT, NO_ROOM}, (what, told)
    held = worker.confined
    assert held is not None
    assert [bool(held.landlock), held.seccomp, held.account] == [measure == "landlock", measure == "seccomp", False]
    await worker.close()


def test_the_filter_of_every_processor_jumps_where_it_should() -> None:
    for processor in confinement.PROCESSORS.values():
        asked = dict.fromkeys(processor.allowed, confinement.ALLOW)
        asked |= {5000: confinement.ERROR, 0x40000001: confinement.ERROR}
        for number, verdict in asked.items():
            assert _run(processor, number, 0) == verdict, number
        for number in processor.mapping:
            assert _run(processor, number, 3) == confinement.ALLOW
            assert _run(processor, number, 7) == confinement.ERROR
        assert _run(processor, processor.allowed[0], 0, audit=1) == confinement.KILL


def _run(processor: confinement.Processor, number: int, third: int, audit: int | None = None) -> int:
    """What the filter says, by a machine of five instructions."""
    data = {0: number, 4: processor.audit if audit is None else audit, 32: third}
    program = [struct.unpack("HBBI", one) for one in confinement.program(processor)]
    at = held = 0
    while True:
        code, when_true, when_false, value = program[at]
        at += 1
        match code:
            case 0x20:
                held = data[value]
            case 0x06:
                return int(value)
            case 0x15:
                at += when_true if held == value else when_false
            case 0x35:
                at += when_true if held >= value else when_false
            case 0x45:
                at += when_true if held & value else when_false
