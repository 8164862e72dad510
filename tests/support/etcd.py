"""A real etcd with one server, on loopback."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

from tests.support.service import START_SECONDS, free_port

PROGRAM = "etcd"


class EtcdServer:
    """One server. Stop it and start it again as often as wanted; what it keeps stays."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, self._peers = free_port(), free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        peers = f"http://127.0.0.1:{self._peers}"
        command = [PROGRAM, "--name", "e", "--data-dir", str(self.folder / "data"), "--log-level", "error"]
        command += ["--listen-client-urls", self.url, "--advertise-client-urls", self.url]
        command += ["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--logger", "zap"]
        # Many tests share two cores: a leader that gets no turn for a while is not a lost one.
        command += ["--initial-cluster", f"e={peers}", "--heartbeat-interval", "100", "--election-timeout", "1000"]
        with (self.folder / "etcd.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with suppress(OSError), urlopen(f"{self.url}/health", timeout=5) as answer:
                if b"true" in answer.read():
                    return
            time.sleep(0.05)
        raise AssertionError((self.folder / "etcd.log").read_text())

    def stop(self) -> None:
        """At once, as when its machine is lost."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def etcd_server() -> Iterator[EtcdServer]:
    folder = Path(tempfile.mkdtemp(prefix="carrel-etcd-"))
    server = EtcdServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
