"""A real etcd on loopback, with one server or with three."""

import json
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import Request, urlopen

from tests.support.certificates import self_signed
from tests.support.service import START_SECONDS, free_port

PROGRAM = "etcd"


class EtcdServer:
    """One server. Stop it and start it again as often as wanted; what it keeps stays."""

    def __init__(self, folder: Path, name: str = "e", certificate: tuple[Path, Path] | None = None) -> None:
        """With a self-signed certificate and its key, clients have to show the same one."""
        self.folder = folder
        self.name = name
        self.certificate = certificate
        self.port = free_port()
        self.peer = f"http://127.0.0.1:{free_port()}"
        self.members = [self]
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"{'http' if self.certificate is None else 'https'}://127.0.0.1:{self.port}"

    @property
    def tls(self) -> ssl.SSLContext | None:
        """What a client speaks TLS with."""
        if self.certificate is None:
            return None
        context = ssl.create_default_context(cafile=self.certificate[0])
        context.load_cert_chain(*self.certificate)
        return context

    def start(self) -> None:
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Start it. One of several answers only when most of them run."""
        command = [PROGRAM, "--name", self.name, "--data-dir", str(self.folder / "data"), "--log-level", "error"]
        command += ["--listen-client-urls", self.url, "--advertise-client-urls", self.url]
        command += ["--listen-peer-urls", self.peer, "--initial-advertise-peer-urls", self.peer, "--logger", "zap"]
        # Many tests share two cores: a leader that gets no turn for a while is not a lost one.
        command += ["--heartbeat-interval", "100", "--election-timeout", "1000"]
        command += ["--initial-cluster", ",".join(f"{one.name}={one.peer}" for one in self.members)]
        if self.certificate is not None:
            file, key = map(str, self.certificate)
            command += ["--cert-file", file, "--key-file", key, "--trusted-ca-file", file, "--client-cert-auth"]
        with (self.folder / "etcd.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def wait(self) -> None:
        """Return when it answers."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with suppress(OSError), urlopen(f"{self.url}/health", timeout=5, context=self.tls) as answer:
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


class ThreeServers:
    """One etcd of three servers: it goes on without one of them, and not without two."""

    def __init__(self, folder: Path) -> None:
        self.servers = [EtcdServer(folder / name, name) for name in ("x", "y", "z")]
        for server in self.servers:
            server.folder.mkdir()
            server.members = self.servers

    @property
    def urls(self) -> str:
        return ",".join(server.url for server in self.servers)

    def start(self) -> None:
        """Start those that do not run."""
        for server in self.servers:
            if server.process is None:
                server.launch()
        for server in self.servers:
            server.wait()

    def stop(self) -> None:
        for server in self.servers:
            server.stop()

    def leader(self) -> EtcdServer:
        """The server that leads now."""
        for server in self.servers:
            request = Request(f"{server.url}/v3/maintenance/status", data=b"{}", method="POST")
            with urlopen(request, timeout=30) as answer:
                status = json.load(answer)
            if status["leader"] == status["header"]["member_id"]:
                return server
        raise AssertionError("none of them leads")


@contextmanager
def etcd_server(*, with_tls: bool = False) -> Iterator[EtcdServer]:
    folder = Path(tempfile.mkdtemp(prefix="carrel-etcd-"))
    server = EtcdServer(folder, certificate=self_signed(folder, with_name=False) if with_tls else None)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
