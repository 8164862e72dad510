"""Several nodes as processes, behind HAProxy, in front of etcd: made with the operator's own commands."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from carrel.accounts.slots import slot_of
from tests.support.certificates import self_signed
from tests.support.etcd import EtcdServer
from tests.support.service import Service, free_port
from tests.support.steady_load import Front


class Proxied:
    """Named nodes and their proxy. They give each other slots, with the keys of their users."""

    def __init__(
        self, folder: Path, server: EtcdServer, names: tuple[str, ...], settings: dict[str, str] | None = None
    ) -> None:
        self.folder, self.names = folder, names
        self.socket, self.map_file = Path(f"/tmp/carrel-{free_port()}.sock"), folder / "slots.map"
        self.port = free_port()
        certificate, key = self_signed(folder)
        shared = {
            "CARREL_ETCD": server.url,
            "CARREL_CLUSTER": f"c{self.port}",
            "CARREL_LEASE_SECONDS": "10",
            "CARREL_NODE_CA": str(certificate),
            "CARREL_NODE_CERT": str(certificate),
            "CARREL_NODE_KEY": str(key),
            "CARREL_MOVE_KEYS": "on",
            **(settings or {}),
        }
        own = {name: {"CARREL_NODE_NAME": name, "CARREL_NODE_PEER": f"127.0.0.1:{free_port()}"} for name in names}
        first = Service(folder / names[0], settings=shared | own[names[0]])
        self.nodes = {names[0]: first}
        for name in names[1:]:
            self.nodes[name] = Service(
                folder / name,
                plugin_secret=first.plugin_secret,
                admin_secret=first.admin_secret,
                service_key=first.service_key,
                settings=shared | own[name],
            )
        self.plugin = {"X-SVC-Plugin-Secret": first.plugin_secret}
        self.admin = {"X-SVC-Admin-Secret": first.admin_secret}
        self.proxy: subprocess.Popen[bytes] | None = None
        self.ending: list[subprocess.Popen[bytes]] = []
        """Proxies that another took the listeners of, and that end their connections."""
        self.agent: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def front(self) -> Front:
        """Where clients and the host reach the service."""
        return Front(self.url, self.nodes[self.names[0]].plugin_secret)

    def start(self) -> None:
        members = [f"{name}=127.0.0.1:{node.port}" for name, node in self.nodes.items()]
        self.carrel("cluster", "init", *members)
        self.carrel("cluster", "map", "--once", "--map-file", str(self.map_file))
        listen = ("--listen", f"127.0.0.1:{self.port}", "--map-file", str(self.map_file), "--socket", str(self.socket))
        configuration = self.folder / "haproxy.cfg"
        configuration.write_text(self.carrel("cluster", "haproxy", *listen))
        for node in self.nodes.values():
            node.start()
        path = {"PATH": f"{os.environ['PATH']}:/usr/sbin"}
        checked = subprocess.run(["haproxy", "-c", "-f", configuration], capture_output=True, text=True, env=path)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        self.start_proxy()

    def reload_proxy(self) -> None:
        """Start HAProxy anew, as `systemctl reload` does: it takes the listeners, and the old one ends its work."""
        assert self.proxy is not None
        self.ending.append(self.proxy)
        self.start_proxy("-x", str(self.socket), "-sf", str(self.proxy.pid))

    def start_proxy(self, *words: str) -> None:
        """Start HAProxy with the map that is in the file, and return when it answers."""
        path = {"PATH": f"{os.environ['PATH']}:/usr/sbin"}
        command = ["haproxy", "-db", "-f", str(self.folder / "haproxy.cfg"), *words]
        with (self.folder / "haproxy.log").open("ab") as log:
            self.proxy = subprocess.Popen(command, stdout=log, stderr=log, env=path)
        with httpx.Client(transport=httpx.HTTPTransport(retries=10)) as client:
            assert client.get(f"{self.url}/api/health", timeout=60).status_code == 200

    def stop(self) -> None:
        for process in (self.proxy, *self.ending, self.agent, *(node.process for node in self.nodes.values())):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        self.socket.unlink(missing_ok=True)

    def keep_map(self) -> None:
        """Start what follows the map for the proxy."""
        words = ("cluster", "map", "--haproxy", str(self.socket), "--map-file", str(self.map_file))
        self.agent = self.started(*words)

    def started(self, *words: str) -> "subprocess.Popen[bytes]":
        """One of the operator's commands, which goes on."""
        with (self.folder / f"{words[1]}.log").open("ab") as log:
            return subprocess.Popen(
                self.command(*words), stdout=log, stderr=log, env=self.environment(), cwd=self.folder
            )

    def command(self, *words: str) -> list[str]:
        return [str(Path(sys.executable).with_name("carrel")), *words]

    def environment(self) -> dict[str, str]:
        return self.nodes[self.names[0]].environment()

    def carrel(self, *words: str) -> str:
        """What one of the operator's commands prints."""
        done = subprocess.run(
            self.command(*words), capture_output=True, text=True, env=self.environment(), cwd=self.folder
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def logs(self) -> list[str]:
        return [node.log() for node in self.nodes.values()]

    def node_of(self, uuid: str) -> str:
        return self.names[slot_of(uuid) * len(self.names) // 1024]

    def asked(self, command: str) -> str:
        """What HAProxy answers at its socket."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            connection.sendall(f"{command}\n".encode())
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode()

    def map_in_force(self) -> dict[int, str]:
        rows = [line.split() for line in self.asked(f"show map {self.map_file}").splitlines()]
        return {int(row[1]): row[2] for row in rows if len(row) == 3}

    def set_map(self, nodes: dict[int, str]) -> None:
        slots = list(nodes.items())
        for start in range(0, len(slots), 100):
            self.asked(";".join(f"set map {self.map_file} {slot} {name}" for slot, name in slots[start : start + 100]))

    async def signed_in(self, client: httpx.AsyncClient, uuid: str) -> dict[str, str]:
        await client.post("/api/users", json={"uuid": uuid, "membership": "paid"}, headers=self.plugin)
        key = {"uuid": uuid, "db_key_hex": "ab" * 32}
        answer = await client.post("/api/auth/login", json=key, headers=self.plugin)
        assert answer.status_code == 200, answer.text
        return {"X-SVC-Session-Token": answer.json()["session_token"]}


@contextmanager
def proxied(
    folder: Path,
    server: EtcdServer,
    names: tuple[str, ...],
    settings: dict[str, str] | None = None,
    *,
    start: bool = True,
) -> Iterator[Proxied]:
    cluster = Proxied(folder, server, names, settings)
    try:
        if start:
            cluster.start()
        yield cluster
    finally:
        cluster.stop()
