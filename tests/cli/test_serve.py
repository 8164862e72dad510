"""`carrel serve`: what it refuses, how fast it starts, and how it stops."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest

from carrel.app.browser import ENTRY
from tests.support.certificates import self_signed
from tests.support.service import Service, free_port

CARREL = str(Path(sys.executable).with_name("carrel"))
GOOD = {
    "CARREL_PLUGIN_SECRET": "plugin-0123456789-abcdefghijklmnop",
    "CARREL_SERVICE_KEY": bytes(range(32)).hex(),
}


def serve(folder: Path, *arguments: str, environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CARREL, "serve", *arguments],
        env={"PATH": os.environ["PATH"]} | (GOOD if environ is None else environ),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def refusal(folder: Path, *arguments: str, environ: dict[str, str] | None = None, code: int = 2) -> str:
    done = serve(folder, *arguments, environ=environ)
    assert done.returncode == code, done
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("carrel: ")
    return line.removeprefix("carrel: ")


def test_missing_and_weak_secrets_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, environ={}).startswith("CARREL_PLUGIN_SECRET: is not set")
    weak = GOOD | {"CARREL_PLUGIN_SECRET": "a" * 40}
    assert refusal(tmp_path, environ=weak).startswith("CARREL_PLUGIN_SECRET: is too easy to guess")


def test_a_configuration_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, "--env-file", "other.env") == "--env-file: other.env is not there"


def test_a_taken_port_is_refused_for_now(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert refusal(tmp_path, "--port", str(port), code=75) == f"port {port} on 127.0.0.1 is in use"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com"])
def test_beyond_this_machine_it_asks_for_https(tmp_path: Path, host: str) -> None:
    assert "needs HTTPS" in refusal(tmp_path, "--host", host)


def test_half_a_certificate_and_a_bad_one_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, "--tls-cert", "a.pem") == "--tls-cert and --tls-key belong together"
    for name in ("a.pem", "b.pem"):
        (tmp_path / name).write_text("nonsense")
    arguments = ["--port", str(free_port()), "--tls-cert", "a.pem", "--tls-key", "b.pem"]
    assert "cannot be read" in refusal(tmp_path, *arguments)


def test_a_data_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "data"
    arguments = ["--port", str(free_port()), "--data-dir", str(folder)]
    assert refusal(tmp_path, *arguments) == f"the data folder {folder} cannot be used"


def test_a_browser_app_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (app / ENTRY).write_text("")
    (app / "gone.js").symlink_to(tmp_path / "nowhere.js")
    told = refusal(tmp_path, "--port", str(free_port()), environ=GOOD | {"CARREL_APP_DIR": str(app)})
    assert told == "CARREL_APP_DIR: the built browser app cannot be read"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(tmp_path_factory.mktemp("service"))
    service.start()
    yield service
    service.stop()


def test_it_answers_soon_and_stops_with_zero(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    # The goal is one second on a quiet machine; here it is the processor's time that counts, for tests share theirs.
    taken = psutil.Process(service.pid).cpu_times()
    assert taken.user + taken.system < 5
    assert service.stop() == 0
    log = service.log_file.read_text()
    assert "Traceback" not in log
    first, *others = [json.loads(line) for line in log.splitlines()]
    assert (first["event"], first["host"], first["port"]) == ("listening", "127.0.0.1", service.port)
    assert {line["event"] for line in others} - {"memory-open-at-start"} == {"request", "stopping"}


def test_it_started_itself_anew_so_that_small_blocks_of_freed_memory_are_overwritten(tmp_path: Path) -> None:
    service = Service(tmp_path, settings={"GLIBC_TUNABLES": "glibc.malloc.arena_max=4"})
    service.start()
    environ = Path(f"/proc/{service.pid}/environ").read_bytes()
    assert service.stop() == 0
    # The library cuts the value where it has a colon.
    assert {b"GLIBC_TUNABLES=glibc.malloc.arena_max=4", b"glibc.malloc.tcache_count=0"} < {*environ.split(b"\0")}


def test_a_second_service_in_the_same_folder_is_refused_for_now(service: Service, tmp_path: Path) -> None:
    arguments = ["--port", str(free_port()), "--data-dir", str(service.data_dir)]
    assert refusal(tmp_path, *arguments, code=75) == f"another process works in {service.data_dir}"


def raw(service: Service, *parts: bytes, wait: float = 5.0) -> bytes:
    """Send bytes as they are; everything that comes back until the connection is closed or silent."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=wait) as connection:
        received = b""
        with suppress(ConnectionError):
            for part in parts:
                connection.sendall(part)
        while True:
            try:
                piece = connection.recv(65536)
            except (TimeoutError, ConnectionResetError):
                return received
            if not piece:
                return received
            received += piece


def test_what_is_no_http_gets_the_one_shape_of_error(service: Service) -> None:
    for nonsense in (b"nonsense\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nbad header\r\n\r\n"):
        head, _, body = raw(service, nonsense).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert b"application/problem+json" in head
        assert json.loads(body)["code"] == "malformed"


def test_a_head_without_end_is_cut_off(service: Service) -> None:
    answer = raw(service, b"GET /api/health HTTP/1.1\r\nhost: a\r\nx: ", *[b"a" * 8192] * 64)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")


def test_the_server_says_nothing_of_itself_and_logs_what_it_answered(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    with httpx.Client(base_url=service.url, timeout=60) as client:
        answers = [client.get("/api/health") for _ in range(3)]
    assert all(answer.status_code == 200 for answer in answers)
    assert "server" not in answers[0].headers
    assert service.process is not None
    service.process.send_signal(signal.SIGINT)
    assert service.process.wait(60) == 0
    lines = [json.loads(line) for line in service.log_file.read_text().splitlines()]
    line = [line for line in lines if line["event"] == "request"][-1]
    assert line["route"] == "/api/health"
    assert line["request_id"] == answers[-1].headers["x-request-id"]


def test_with_a_certificate_it_speaks_https_and_says_so(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    port = free_port()
    command = [CARREL, "serve", "--host", "0.0.0.0", "--port", str(port)]
    command += ["--tls-cert", str(certificate), "--tls-key", str(key)]
    process = subprocess.Popen(
        command, env={"PATH": os.environ["PATH"]} | GOOD, cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    try:
        with httpx.Client(verify=ssl.create_default_context(cafile=str(certificate)), timeout=60) as client:
            answer = answered(client, f"https://127.0.0.1:{port}/api/health")
    finally:
        process.terminate()
        assert process.wait(60) == 0
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


def answered(client: httpx.Client, url: str) -> httpx.Response:
    deadline = time.monotonic() + 60
    while True:
        try:
            return client.get(url)
        except httpx.ConnectError:
            assert time.monotonic() < deadline, "the service does not answer"
            time.sleep(0.05)
