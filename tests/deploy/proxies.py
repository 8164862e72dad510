"""The proxies of `deploy`, each as its file there says, in front of a service: without TLS, and at a port of a test."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from tests.support.service import free_port

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
CADDYFILE: Final = DEPLOY / "Caddyfile"
_NGINX_FOLDERS: Final = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def caddy(*arguments: str, folder: Path, **environment: str) -> "subprocess.Popen[str]":
    command = ["caddy", arguments[0], "--config", str(CADDYFILE), "--adapter", "caddyfile", *arguments[1:]]
    # It keeps its certificates and its configuration in the home of whoever starts it.
    own = {"PATH": os.environ["PATH"], "HOME": str(folder), **environment}
    return subprocess.Popen(command, cwd=folder, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _nginx(folder: Path, port: int, upstream: int) -> list[str]:
    text = (DEPLOY / "nginx.conf").read_text()
    text = re.sub(r"server \{\n    listen 80;.*?\n\}\n", "", text, flags=re.DOTALL)
    text = re.sub(r"    ssl_\w+ .*;\n", "", text).replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    text = text.replace("127.0.0.1:8400;", f"127.0.0.1:{upstream};")
    own = "".join(f"{name}_temp_path {folder}/{name}; " for name in _NGINX_FOLDERS)
    head = f"daemon off; master_process off; pid {folder}/pid; events {{}} error_log {folder}/log;\n"
    (folder / "nginx.conf").write_text(f"{head}http {{ {own}\n{text}}}\n")
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def _haproxy(folder: Path, port: int, upstream: int) -> list[str]:
    text = (DEPLOY / "haproxy.cfg").read_text()
    text = re.sub(r"    bind :443 .*\n|    http-request redirect .*\n", "", text)
    text = text.replace("bind :80", f"bind 127.0.0.1:{port}").replace("127.0.0.1:8400\n", f"127.0.0.1:{upstream}\n")
    (folder / "haproxy.cfg").write_text(text)
    return ["haproxy", "-db", "-f", str(folder / "haproxy.cfg")]


@contextmanager
def in_front(name: str, upstream: int, folder: Path) -> Iterator[str]:
    """The proxy of this name; its address. The service at `upstream` need not be there."""
    port = free_port()
    site = f"http://127.0.0.1:{port}"
    folder.mkdir(exist_ok=True)
    if name == "caddy":
        process = caddy("run", folder=folder, CARREL_SITE=site, CARREL_UPSTREAM=f"127.0.0.1:{upstream}")
    else:
        command = (_nginx if name == "nginx" else _haproxy)(folder, port, upstream)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with process:
        try:
            for _ in range(600):
                assert process.poll() is None, process.stdout and process.stdout.read()
                try:
                    with urlopen(f"{site}/api/health", timeout=60):
                        break
                except HTTPError:
                    break
                except (URLError, ConnectionError):
                    time.sleep(0.1)
            yield site
        finally:
            # Not asked to end, for then it would wait for streams that are still open.
            process.kill()
            process.communicate(timeout=60)
