"""A private service that runs as long as a command: on a free port, with fresh secrets, in a temporary folder."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from carrel_sdk import CarrelUnreachable, Host

START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.05
_PORTS_TRIED: Final = 3
_DELETIONS_TRIED: Final = 20


class ServiceFailed(Exception):
    """The service did not start, or did not stop properly. The text is one line and holds no secret."""


class OwnService:
    """`carrel serve` in a process of its own, which writes only to `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plugin_secret = secrets.token_urlsafe(36)
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def start(self) -> Host:
        """Start the service, wait until it answers, and return the host's client for it.

        Raises:
            ServiceFailed: it does not answer.
            KeyboardInterrupt: it was told to end while it started.
        """
        for _ in range(_PORTS_TRIED):
            host = self._start(_free_port())
            if host is not None:
                return host
            # Another program may have taken the port meanwhile: try another one. Other faults do not go away.
            if "port" not in self._last_words():
                break
        raise ServiceFailed(f"the service did not start: {self._last_words()}")

    def stop(self) -> None:
        """Send SIGTERM, and wait until the service has paused its runs, closed its files and ended.

        Raises:
            ServiceFailed: the service did not end, or its exit code was not 0.
        """
        if self._process is None:
            return
        process, self._process = self._process, None
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise ServiceFailed(f"the service did not stop within {STOP_SECONDS:.0f} seconds") from None
        if code != 0:
            raise ServiceFailed(f"the service ended with {code}: {self._last_words()}")

    def kill(self) -> None:
        """Kill the service, if it still runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self, port: int) -> Host | None:
        self.url = f"http://127.0.0.1:{port}"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
        environment = inherited | {
            "CARREL_PLUGIN_SECRET": self.plugin_secret,
            "CARREL_ADMIN_SECRET": secrets.token_urlsafe(36),
            "CARREL_SERVICE_KEY": secrets.token_hex(32),
        }
        program = [sys.executable, "-c", "from carrel.cli.program import run; run()"]
        command = [*program, "serve", "--port", str(port), "--data-dir", str(self.folder / "data")]
        with (self.folder / "service.log").open("wb") as log:
            # In its own folder: the service would read a `.env` in the current one.
            self._process = subprocess.Popen(  # noqa: S603  # this program itself
                command, env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        host = Host(self.url, self.plugin_secret)
        deadline = time.monotonic() + START_SECONDS
        while self._process.poll() is None:
            try:
                host.health()
            except CarrelUnreachable:
                if time.monotonic() > deadline:
                    break
                time.sleep(_POLL_SECONDS)
            else:
                return host
        code = self._process.poll()
        self.kill()
        host.close()
        if code == 0:
            # It was told to end before it answered: Ctrl-C in a terminal reaches it and this program alike.
            raise KeyboardInterrupt
        return None

    def _last_words(self) -> str:
        lines = (self.folder / "service.log").read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "it said nothing")[:300]


@contextmanager
def own_service() -> Iterator[OwnService]:
    """A service that is not started yet. The block ends it and deletes its folder in any case."""
    folder = Path(mkdtemp(prefix="carrel-"))
    service = OwnService(folder)
    try:
        yield service
    finally:
        service.kill()
        _delete(folder)


def _delete(folder: Path) -> None:
    """Delete a folder in which a process may still write that was killed a moment ago: the service's own is a child."""
    for _ in range(_DELETIONS_TRIED):
        with suppress(OSError):
            shutil.rmtree(folder)
            return
        time.sleep(_POLL_SECONDS)
    shutil.rmtree(folder)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
