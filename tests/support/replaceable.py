"""A service that is replaced by its successors, under a service manager that plays systemd: it is told of each."""

import ctypes
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.service import Service

_PR_SET_CHILD_SUBREAPER = 36
_WAIT_SECONDS = 60.0
_libc = ctypes.CDLL(None, use_errno=True)


class Adopted:
    """A process whose parent has ended, so that it is ours: as much of `subprocess.Popen` as tests use."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        deadline = time.monotonic() + (timeout or _WAIT_SECONDS)
        while (code := self.poll()) is None:
            assert time.monotonic() < deadline, f"process {self.pid} did not end"
            time.sleep(0.005)
        return code

    def send_signal(self, sig: int) -> None:
        os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def command(self) -> str:
        """How it was started; nothing once it has ended."""
        return Path(f"/proc/{self.pid}/cmdline").read_bytes().decode()


def children() -> list[Adopted]:
    """Those of this process, also by adoption, whichever of its threads started them."""
    pids = [pid for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()]
    return [Adopted(int(pid)) for pid in pids]


def ask_for_successor(service: Service) -> None:
    """SIGUSR2, as an operator sends it."""
    os.kill(service.pid, signal.SIGUSR2)


def successor_of(service: Service) -> Adopted:
    """The process that serves the data folder, after the one that we started has ended."""
    (successor,) = (child for child in children() if _serves(child, service.data_dir))
    return successor


def _serves(child: Adopted, folder: Path) -> bool:
    return str(folder) in child.command()


@contextmanager
def adopting(folder: Path) -> Iterator[None]:
    """A successor outlives its parent, and comes to us as it comes to systemd.

    None that works below `folder` is left at the end.
    """
    assert _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield
    finally:
        for child in children():
            if _serves(child, folder):
                child.kill()
                child.wait()
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


class Replaceable(Service):
    """A service that may be replaced. Make it with `replaceable`."""

    manager: socket.socket

    def replace(self) -> None:
        """Return when the successor serves and the process before it has ended."""
        ask_for_successor(self)
        self.follow()

    def follow(self) -> None:
        """Go on with the process of which the service manager is told, when the one before it has ended."""
        assert self.process is not None
        pid = self.told("MAINPID=")
        assert self.process.wait(_WAIT_SECONDS) == 0, self.log()
        self.process = Adopted(int(pid))

    def told(self, what: str) -> str:
        """The rest of the next line that begins with `what` and that the service manager is told."""
        while True:
            lines = self.manager.recv(4096).decode().splitlines()
            for line in lines:
                if line.startswith(what):
                    return line.removeprefix(what)

    def forget_what_was_told(self) -> None:
        """Forget what the service manager was told, so that its queue has room."""
        self.manager.setblocking(False)
        with suppress(BlockingIOError):
            while self.manager.recv(4096):
                pass
        self.manager.settimeout(_WAIT_SECONDS)

    def await_log(self, what: str, times: int = 1) -> None:
        """Return when this stands in the log so often."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while self.log().count(what) < times:
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.01)


@contextmanager
def replaceable(
    folder: Path, program: list[str] | None = None, certificate: Path | None = None, **settings: str
) -> Iterator[Replaceable]:
    """A service that was started, with hot restarts allowed. At the end it is stopped, whichever process it is."""
    folder.mkdir(parents=True, exist_ok=True)
    address = folder / "notify"
    with adopting(folder), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(address))
        manager.settimeout(_WAIT_SECONDS)
        named = {f"CARREL_{name.upper()}": value for name, value in settings.items()}
        service = Replaceable(
            folder,
            settings={"CARREL_HOT_RESTART": "on", "CARREL_LOG_LEVEL": "info", "NOTIFY_SOCKET": str(address), **named},
        )
        service.manager = manager
        service.certificate = certificate
        if program is not None:
            service.program = program
        service.start()
        try:
            yield service
        finally:
            if service.process is not None and service.process.poll() is None:
                service.process.kill()
                service.process.wait(_WAIT_SECONDS)
