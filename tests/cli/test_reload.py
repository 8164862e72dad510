"""SIGHUP: secrets and certificates are read anew while requests go on; nothing fails, and no key is lost."""

import os
import pty
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from cryptography import x509

from tests.support import soak
from tests.support.certificates import self_signed
from tests.support.host import key_of
from tests.support.service import Service, free_port
from tests.support.soak import Figure
from tests.support.steady_load import at_work

RELOADS = 6
USERS = ("ada", "bob", "cyd")
FIRST, SECOND, THIRD = (f"plugin-secret-{name}-0123456789abcdefghij" for name in ("first", "second", "third"))


class Configured(Service):
    """A service whose secrets stand in its `.env` alone."""

    def write(self, plugin: str, admin: str = "admin-secret-of-the-first-0123456789", **more: str) -> None:
        values = {"PLUGIN_SECRET": plugin, "ADMIN_SECRET": admin, "SERVICE_KEY": self.service_key, **more}
        self.folder.mkdir(exist_ok=True)
        path = self.folder / ".env.new"
        path.write_text("".join(f"CARREL_{name}={value}\n" for name, value in values.items()))
        path.rename(self.folder / ".env")

    def reload(self, event: str = '"event":"reloaded"') -> None:
        """Send SIGHUP and return when the log says what came of it."""
        before = self.log().count(event)
        os.kill(self.pid, signal.SIGHUP)
        eventually(lambda: self.log().count(event) > before)


def eventually(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Configured]:
    emptied = dict.fromkeys(("CARREL_PLUGIN_SECRET", "CARREL_ADMIN_SECRET", "CARREL_SERVICE_KEY"), "")
    service = Configured(tmp_path / "service", settings=emptied)
    service.write(FIRST)
    service.start()
    yield service
    assert service.stop() == 0


def auth(client: httpx.Client, path: str, secret: str, uuid: str, **body: str) -> httpx.Response:
    return client.post(f"/api/auth/{path}", json={"uuid": uuid, **body}, headers={"X-SVC-Plugin-Secret": secret})


def ask(client: httpx.Client, token: str) -> httpx.Response:
    return client.get("/api/users/me", headers={"X-SVC-Session-Token": token})


def sign_in(client: httpx.Client, secret: str, uuid: str) -> str:
    client.post("/api/users", json={"uuid": uuid}, headers={"X-SVC-Plugin-Secret": secret})
    return str(auth(client, "login", secret, uuid, db_key_hex=key_of(uuid)).json()["session_token"])


def keys_in_memory(client: httpx.Client, secret: str) -> int:
    shown = client.get("/api/health/safe-to-restart", headers={"X-SVC-Plugin-Secret": secret})
    return int(shown.json()["cached_keys"])


def test_a_new_secret_is_accepted_at_once_and_the_old_one_until_it_is_removed(service: Configured) -> None:
    with httpx.Client(base_url=service.url, timeout=60) as client:
        old = sign_in(client, FIRST, "ada")
        service.write(f"{SECOND},{FIRST}", admin="admin-secret-of-the-second-0123456789")
        assert auth(client, "refresh", SECOND, "ada").status_code == 401
        service.reload()
        new = str(auth(client, "refresh", SECOND, "ada").json()["session_token"])
        assert auth(client, "refresh", FIRST, "ada").status_code == 200
        assert [ask(client, token).status_code for token in (old, new)] == [200, 200]
        metrics = {"X-SVC-Admin-Secret": "admin-secret-of-the-second-0123456789"}
        assert client.get("/api/metrics", headers=metrics).status_code == 200
        service.write(SECOND)
        service.reload()
        assert auth(client, "refresh", FIRST, "ada").json()["code"] == "plugin-secret-invalid"
        assert ask(client, old).json()["code"] == "session-token-invalid"
        assert ask(client, new).status_code == 200
        assert client.get("/api/metrics", headers=metrics).status_code == 401
        assert keys_in_memory(client, SECOND) == 1


def test_what_cannot_be_used_changes_nothing_and_what_needs_a_restart_is_named(service: Configured) -> None:
    with httpx.Client(base_url=service.url, timeout=60) as client:
        token = sign_in(client, FIRST, "ada")
        service.write("short")
        service.reload('"event":"reload-refused"')
        assert "CARREL_PLUGIN_SECRET: must have at least 32 characters" in service.log()
        service.write(f"{SECOND},{FIRST}", CORS_ORIGINS="https://example.org")
        service.reload()
        assert "CARREL_CORS_ORIGINS: only a restart changes this" in service.log()
        assert ask(client, token).status_code == 200
        assert not any(secret in service.log() for secret in (FIRST, SECOND))


# Under load -----------------------------------------------------------------------------------------------------------


@dataclass
class Load:
    """Requests of every kind that needs a secret, from several threads, each with its own expectation."""

    service: Configured
    tokens: dict[str, str]
    secrets: list[str]
    """Those in force; the rotation replaces them only by others that are in force as well."""
    requests: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def work(self, uuid: str) -> None:
        """Ask, refresh with each secret in force, and now and then on a new connection, until it is over."""
        client = httpx.Client(base_url=self.service.url, timeout=60)
        while not self.over.is_set():
            self._expect_200(uuid, ask(client, self.tokens[uuid]))
            for secret in list(self.secrets):
                answer = auth(client, "refresh", secret, uuid)
                self._expect_200(uuid, answer)
                if answer.status_code == 200:
                    self.tokens[uuid] = answer.json()["session_token"]
            if self.requests[uuid] % 10 < 2:
                client.close()
                client = httpx.Client(base_url=self.service.url, timeout=60)
        client.close()

    def wait_for_everybody(self, requests: int) -> None:
        """Return when each user has sent so many more."""
        goal = {uuid: self.requests[uuid] + requests for uuid in USERS}
        eventually(lambda: all(self.requests[uuid] >= goal[uuid] for uuid in USERS))

    def _expect_200(self, uuid: str, answer: httpx.Response) -> None:
        self.requests[uuid] += 1
        if answer.status_code != 200:
            self.failures.append(f"{uuid}: {answer.status_code} {answer.text}")


@contextmanager
def under_load(service: Configured) -> Iterator[Load]:
    with httpx.Client(base_url=service.url, timeout=60) as client:
        load = Load(service, {uuid: sign_in(client, FIRST, uuid) for uuid in USERS}, [FIRST])
    with at_work(load.work, USERS, load.over):
        yield load


def rotate(service: Configured, reloads: int) -> Load:
    """Rotate the plugin secret as the operator's guide says, again and again, and go back to the first."""
    names = [FIRST, SECOND, THIRD]
    with under_load(service) as load:
        for turn in range(reloads // 2):
            old, new = names[turn % 3], names[(turn + 1) % 3]
            service.write(f"{new},{old}")
            service.reload()
            load.secrets[:] = [new]
            # By then everybody has a token of the new secret, and sends no other.
            load.wait_for_everybody(10)
            service.write(new)
            service.reload()
    with httpx.Client(base_url=service.url, timeout=60) as client:
        assert keys_in_memory(client, load.secrets[0]) == len(USERS)
    return load


def test_reloads_under_load_fail_no_request_and_lose_no_key(service: Configured) -> None:
    load = rotate(service, RELOADS)
    assert load.failures == []
    assert load.requests.total() >= 90


@pytest.mark.soak(campaign="reload")
def test_many_reloads_under_load_fail_no_request_and_lose_no_key(service: Configured, figure: Figure) -> None:
    reloads = 2 * soak.size(150)
    load = rotate(service, reloads)
    assert load.failures == []
    figure("SIGHUP under load", reloads=reloads, requests=load.requests.total(), failed=0, keys_lost=0)


# Certificates ---------------------------------------------------------------------------------------------------------


@dataclass
class Line:
    """One TLS connection that stays open."""

    socket: ssl.SSLSocket

    @classmethod
    def open(cls, port: int) -> "Line":
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return cls(context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=60)))

    @property
    def serial(self) -> int:
        """The number of the certificate that the server showed."""
        shown = self.socket.getpeercert(binary_form=True)
        assert shown is not None
        return x509.load_der_x509_certificate(shown).serial_number

    def ask(self) -> int:
        """One request; the status of its answer."""
        self.socket.sendall(b"GET /api/health HTTP/1.1\r\nhost: a\r\n\r\n")
        answer = b""
        # The head and the body come in records of their own.
        while not answer.endswith(b"}"):
            piece = self.socket.recv(65536)
            assert piece
            answer += piece
        return int(answer.split()[1])


def test_a_renewed_certificate_is_shown_to_new_connections_and_old_ones_go_on(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path, 1)
    port = free_port()
    service = Configured(tmp_path / "service")
    service.write(FIRST)
    command = [*service.program, "serve", "--port", str(port), "--tls-cert", str(certificate), "--tls-key", str(key)]
    environ = {"PATH": os.environ["PATH"]}
    with service.log_file.open("ab") as log:
        service.process = subprocess.Popen(command, env=environ, cwd=service.folder, stdout=log, stderr=log)
    eventually(lambda: '"event":"listening"' in service.log())
    lines = [Line.open(port)]
    # A key of another kind is the hard case: a context can hold one certificate of each.
    for serial, with_rsa in ((2, True), (3, False), (4, False)):
        self_signed(tmp_path, serial, with_rsa=with_rsa)
        service.reload()
        lines.append(Line.open(port))
        assert [line.ask() for line in lines] == [200] * len(lines)
    assert [line.serial for line in lines] == [1, 2, 3, 4]
    certificate.write_text("half a certificate")
    service.reload('"event":"reload-refused"')
    lines.append(Line.open(port))
    assert lines[-1].serial == 4
    assert [line.ask() for line in lines] == [200] * len(lines)
    for line in lines:
        line.socket.close()
    assert service.stop() == 0


# Terminals ------------------------------------------------------------------------------------------------------------


def test_a_terminal_that_is_closed_stops_the_service(tmp_path: Path) -> None:
    service = Configured(tmp_path / "service")
    service.write(FIRST)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(service.folder)
        with service.log_file.open("ab") as log:
            os.dup2(log.fileno(), 2)
        os.execv(service.program[0], [*service.program, "serve", "--port", str(service.port)])
    eventually(lambda: '"event":"listening"' in service.log())
    os.kill(pid, signal.SIGHUP)
    eventually(lambda: '"event":"reloaded"' in service.log())
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert '"event":"stopping"' in service.log()
