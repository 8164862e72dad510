"""The real service in a process of its own, for tests of the SDK, of the terminal, of kills, and of what stays."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol
from urllib.error import URLError
from urllib.request import urlopen

from tests.support.processes import at_work
from tests.support.tls import trusting

CARREL = str(Path(sys.executable).with_name("carrel"))
START_SECONDS = 120.0
"""Far more than any start takes; one that fails ends the process, which is noticed at once."""
_POLL_SECONDS = 0.05
_PORTS = range(20_000, 32_000)
"""Below those that the system gives to whoever calls or listens: one of them may be gone when a service comes back."""


class Process(Protocol):
    """What tests do with a running service: as much of `subprocess.Popen`."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...


class Launch(Protocol):
    """Starts a command in a process of its own, whose two streams go to `log`."""

    def __call__(self, command: list[str], env: dict[str, str], cwd: Path, log: Path) -> Process: ...


class Launched:
    """A command in a process of its own. Signals go to the process that works, not to the one that stands before it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._working: int | None = None

    @property
    def pid(self) -> int:
        if self._working is None:
            working = at_work(self._process.pid)
            if working == self._process.pid:
                return working
            self._working = working
        return self._working

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self, timeout: float | None = None) -> int:
        return self._process.wait(timeout)

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def launch(command: list[str], env: dict[str, str], cwd: Path, log: Path) -> Process:
    """As an operator starts it."""
    with log.open("ab") as written:
        return Launched(
            subprocess.Popen(command, env=env, cwd=cwd, stdout=written, stderr=written, stdin=subprocess.DEVNULL)
        )


@dataclass
class Service:
    """`carrel serve` over one data folder. Start, stop and kill it as often as wanted; secrets and port stay."""

    folder: Path
    plugin_secret: str = field(default_factory=lambda: secrets.token_urlsafe(36), repr=False)
    admin_secret: str = field(default_factory=lambda: secrets.token_urlsafe(36), repr=False)
    service_key: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
    settings: dict[str, str] = field(default_factory=dict)
    """Further variables, such as `{"CARREL_FREE_PLAN": "full"}`."""
    program: list[str] = field(default_factory=lambda: [CARREL])
    """What is started; its arguments follow."""
    certificate: Path | None = None
    """A file with the certificate and its key, if it speaks HTTPS."""
    launch: Launch = launch
    fork: ClassVar[Launch | None] = None
    """What starts those that nobody wants started otherwise; without it, they are started as an operator does."""

    def __post_init__(self) -> None:
        self.port = free_port()
        self.process: Process | None = None

    @property
    def url(self) -> str:
        """What `base_url` is: without `/api`."""
        return f"http{'s' if self.certificate else ''}://127.0.0.1:{self.port}"

    @property
    def data_dir(self) -> Path:
        return self.folder / "data"

    @property
    def log_file(self) -> Path:
        """Everything that the service wrote to its two streams, over all starts."""
        return self.folder / "service.log"

    @property
    def pid(self) -> int:
        assert self.process is not None, "the service was not started"
        return self.process.pid

    def environment(self) -> dict[str, str]:
        """The whole environment of the process: nothing of the developer's own CARREL_* variables gets in."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
        return inherited | {
            "CARREL_PLUGIN_SECRET": self.plugin_secret,
            "CARREL_ADMIN_SECRET": self.admin_secret,
            "CARREL_SERVICE_KEY": self.service_key,
            **self.settings,
        }

    def start(self) -> None:
        """Start it and return when it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        forked = self.fork if self.launch is launch and self.program == [CARREL] else None
        command = [*(["carrel.cli.main"] if forked else self.program), "serve", "--host", "127.0.0.1"]
        command += ["--port", str(self.port), "--data-dir", str(self.data_dir)]
        if self.certificate is not None:
            command += ["--tls-cert", str(self.certificate), "--tls-key", str(self.certificate)]
        # The working directory is the test's own: a `.env` of the developer must not be read.
        self.process = (forked or self.launch)(command, self.environment(), self.folder, self.log_file)
        self._wait_until_it_answers()

    def stop(self, timeout_seconds: float = 120.0) -> int:
        """SIGTERM, as an operator does; the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout_seconds)

    def kill(self) -> None:
        """SIGKILL, as a power cut does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def restart(self) -> None:
        """Stop it if it runs and start it over the same folder; all keys are lost, as the specification says."""
        if self.process is not None and self.process.poll() is None:
            self.stop()
        self.start()

    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace") if self.log_file.exists() else ""

    def _wait_until_it_answers(self) -> None:
        assert self.process is not None
        deadline = time.monotonic() + START_SECONDS
        context = trusting() if self.certificate else None
        while time.monotonic() < deadline:
            ended = self.process.poll()
            if ended is not None:
                raise AssertionError(f"the service ended with {ended}:\n{self.log()}")
            try:
                with urlopen(f"{self.url}/api/health", timeout=10, context=context) as answer:
                    if answer.status == 200:
                        return
            except (URLError, ConnectionError, TimeoutError):
                time.sleep(_POLL_SECONDS)
        self.kill()
        raise AssertionError(f"the service did not answer within {START_SECONDS} s:\n{self.log()}")


def free_port() -> int:
    """A port of the loopback interface that is this process's until it ends, also while nobody listens on it.

    What keeps it is the port of the same number for datagrams, which no other process of tests gets then.
    """
    while True:
        port = secrets.choice(_PORTS)
        with socket.socket() as probe, socket.socket(type=socket.SOCK_DGRAM) as kept, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            kept.bind(("127.0.0.1", port))
            kept.detach()
            return port
