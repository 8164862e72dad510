"""A service of one's own for as long as a command runs: a free port, fresh secrets, a temporary folder."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from carrel_sdk import CarrelUnreachable, Host

START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.05
_PORTS_TRIED: Final = 3


class ServiceFailed(Exception):
    """It did not start, or did not stop as it should; the text is one line and holds no secret."""


class OwnService:
    """`carrel serve` in a process of its own. `folder` is all that it writes to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plugin_secret = secrets.token_urlsafe(36)
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def start(self) -> Host:
        """Start it and wait until it answers; the host's client for it.

        Raises:
            ServiceFailed: it does not.
        """
        for _ in range(_PORTS_TRIED):
            host = self._start(_free_port())
            if host is not None:
                return host
            # Somebody may have taken the port in the meantime; another one will do. Nothing else gets better by trying.
            if "port" not in self._last_words():
                break
        raise ServiceFailed(f"the service did not start: {self._last_words()}")

    def stop(self) -> None:
        """SIGTERM, and wait until it has paused its runs, closed its files and gone.

        Raises:
            ServiceFailed: it did not end, or not with exit code 0.
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
        """End it at once, if it still runs."""
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
        program = [sys.executable, "-c", "from carrel.cli.main import main; main()"]
        command = [*program, "serve", "--port", str(port), "--data-dir", str(self.folder / "data")]
        with (self.folder / "service.log").open("wb") as log:
            # In its own folder, for a `.env` of somebody else's is read from the present one.
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
        self.kill()
        host.close()
        return None

    def _last_words(self) -> str:
        lines = (self.folder / "service.log").read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "it said nothing")[:300]


@contextmanager
def own_service() -> Iterator[OwnService]:
    """A service that is not started yet; whatever happens, nothing of it stays."""
    with TemporaryDirectory(prefix="carrel-") as folder:
        service = OwnService(Path(folder))
        try:
            yield service
        finally:
            service.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
