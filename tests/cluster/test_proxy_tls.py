"""TLS of the proxy towards clients and towards nodes, with real handshakes."""

import os
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest

from carrel.cluster import haproxy
from tests.cli.test_tls import ANYTHING, INTERMEDIATE, V1_1, V1_2, V1_3, client
from tests.support.certificates import self_signed
from tests.support.service import free_port

pytestmark = pytest.mark.program("haproxy")

MINUTE = 60.0


@contextmanager
def proxy(folder: Path, nodes: dict[str, str], **options: str) -> Iterator[int]:
    """A proxy of its own; its port."""
    port, map_file = free_port(), folder / "slots.map"
    map_file.write_text(haproxy.map_text({}))
    named = {"listen": f"127.0.0.1:{port}", "map_file": str(map_file), "socket": f"/tmp/carrel-{port}.sock"}
    (folder / "haproxy.cfg").write_text(haproxy.configuration(nodes, **named, **options))
    command = ["haproxy", "-db", "-f", str(folder / "haproxy.cfg")]
    process = subprocess.Popen(command, env={"PATH": f"{os.environ['PATH']}:/usr/sbin"}, stderr=subprocess.DEVNULL)
    try:
        connected(port).close()
        yield port
    finally:
        process.kill()
        process.wait()
        Path(named["socket"]).unlink(missing_ok=True)


def connected(port: int) -> socket.socket:
    deadline = time.monotonic() + MINUTE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=MINUTE)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_the_proxy_offers_clients_authenticated_encryption_only(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    both = tmp_path / "site.pem"
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    with proxy(tmp_path, {"a": "127.0.0.1:1"}, certificate=str(both)) as port:
        for version, suites in ((V1_2, None), (V1_2, INTERMEDIATE), (V1_3, None)):
            with client(version, suites).wrap_socket(connected(port)) as connection:
                assert connection.version() == {V1_2: "TLSv1.2", V1_3: "TLSv1.3"}[version]
        for version, suites in ((V1_1, ANYTHING), (V1_2, "ECDHE+SHA1:@SECLEVEL=0"), (V1_2, "kRSA:@SECLEVEL=0")):
            with connected(port) as connection, pytest.raises(ssl.SSLError):
                client(version, suites).wrap_socket(connection)


@pytest.mark.parametrize(("host", "is_trusted"), [("localhost", True), ("elsewhere", False)])
def test_a_node_that_is_reached_by_name_has_to_prove_the_name(tmp_path: Path, host: str, is_trusted: bool) -> None:
    certificate, key = self_signed(tmp_path, host=host)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = HTTPServer(("127.0.0.1", 0), Empty)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with proxy(tmp_path, {"a": f"localhost:{server.server_port}"}, node_ca=str(certificate)) as port:
            answer = httpx.get(f"http://127.0.0.1:{port}/api/health", timeout=MINUTE)
            assert answer.status_code == (200 if is_trusted else 503)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Empty(BaseHTTPRequestHandler):
    """Answers everything with nothing."""

    def do_GET(self) -> None:  # the name is the method's
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Not on stderr."""
