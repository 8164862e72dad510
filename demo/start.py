"""`make start`: the service and this website in the foreground, until Ctrl-C or SIGTERM."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from carrel_sdk import CarrelError, Host
from dotenv import dotenv_values

from demo.app import create_site
from demo.site import SiteConfig

PROJECT: Final = Path(__file__).parents[1]
SERVICE_PORT: Final = 8400
SITE_PORT: Final = 8410
START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 30.0
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StartFailed(Exception):
    """The text is one line for the terminal."""


@dataclass(frozen=True, slots=True)
class Concurrency:
    """Where everything lies that stays from one start to the next."""

    folder: Path
    built_app: Path

    @property
    def env_file(self) -> Path:
        """The service's configuration, with its secrets."""
        return self.folder / "service.env"


def run(places: Concurrency) -> None:
    """Start the service, serve the website, and stop both.

    Raises:
        StartFailed
    """
    for number in _SIGNALS:
        # Until the website runs and heeds them itself; unheeded, SIGTERM would leave the service behind.
        signal.signal(number, lambda *_: sys.exit(0))
    places.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret = _plugin_secret(places)
    site_socket = listening_socket(SITE_PORT)
    site_port = site_socket.getsockname()[1]
    # A browser takes these for two origins, and people type either.
    origins = (f"http://127.0.0.1:{site_port}", f"http://localhost:{site_port}")
    with _service(places, origins, secret) as (service, service_url):
        app = create_site(
            SiteConfig(
                origins=origins,
                service_url=service_url,
                plugin_secret=secret,
                folder=places.folder / "website",
                app_folder=places.built_app,
            )
        )
        server = _Website(
            uvicorn.Config(app, log_level="critical", access_log=False, proxy_headers=False, server_header=False)
        )
        say(f"service    {service_url}")
        say(f"mail       {places.folder / 'website' / 'outbox'}  (there is no mail server here)")
        if app.state.site.built_app.script() is None:
            say("app        not built: the desk's page does without it, and says how to build it")
        say(f"website    {origins[0]}  <- open this; Ctrl-C stops both")
        threading.Thread(target=_watch, args=(service, server), daemon=True).start()
        server.run(sockets=[site_socket])
        if server.service_died:
            raise StartFailed(f"the service ended by itself; {places.folder / 'service.log'} says why")
    say("stopped")


def listening_socket(preferred: int) -> socket.socket:
    """A socket of this machine alone: on the customary port, or on a free one if that is taken."""
    for port in (preferred, 0):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            # At once, so that whoever opens the address as soon as it is printed waits and is not turned away.
            listener.listen(128)
        except OSError:
            listener.close()
        else:
            return listener
    raise StartFailed("no port is free")


def say(line: str) -> None:
    """To the terminal, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class _Website(uvicorn.Server):
    """Stops on a signal and then returns, so that the service can be stopped after it."""

    service_died = False

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._heed) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heed(self, number: int, frame: FrameType | None) -> None:
        self.should_exit = True


@contextmanager
def _service(
    places: Concurrency, origins: tuple[str, ...], secret: str
) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    """`carrel serve` for as long as the block runs, and its address; the website's pages may call it."""
    # Somebody may take the port between the look and the start; then another one will do.
    for preferred in (SERVICE_PORT, 0, 0):
        port = _free_port(preferred)
        process = _serve(places, port, origins)
        try:
            if _answers(process, f"http://127.0.0.1:{port}", secret):
                yield process, f"http://127.0.0.1:{port}"
                return
        finally:
            _stop(process)
    raise StartFailed(f"the service did not start; {places.folder / 'service.log'} says why")


def _serve(places: Concurrency, port: int, origins: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
    command = [_program("carrel"), "serve", "--port", str(port), "--env-file", str(places.env_file)]
    with (places.folder / "service.log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603  # our own program
            [*command, "--data-dir", str(places.folder / "service")],
            env=inherited | {"CARREL_CORS_ORIGINS": ",".join(origins)},
            cwd=places.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _stop(process: "subprocess.Popen[bytes]") -> None:
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    # It is ending already: a second Ctrl-C must not leave the service behind, which has heard the first one, too.
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for number, handler in before.items():
        signal.signal(number, handler)


def _answers(service: "subprocess.Popen[bytes]", url: str, secret: str) -> bool:
    host = Host(url, secret)
    deadline = time.monotonic() + START_SECONDS
    try:
        while service.poll() is None and time.monotonic() < deadline:
            try:
                host.health()
            except CarrelError:
                time.sleep(0.05)
            else:
                # Not somebody else's service, which was there first.
                return service.poll() is None
    finally:
        host.close()
    return False


def _watch(service: "subprocess.Popen[bytes]", server: _Website) -> None:
    service.wait()
    if not server.should_exit:
        server.service_died = True
        server.should_exit = True


def _plugin_secret(places: Concurrency) -> str:
    """From the service's configuration, which is made at the first start."""
    if not places.env_file.is_file():
        command = [_program("carrel"), "init", "--file", str(places.env_file), "--data-dir", "service"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  # our own program
    secret = dotenv_values(places.env_file).get("CARREL_PLUGIN_SECRET")
    if not secret:
        raise StartFailed(f"{places.env_file} names no CARREL_PLUGIN_SECRET")
    return secret


def _free_port(preferred: int) -> int:
    with listening_socket(preferred) as listener:
        return int(listener.getsockname()[1])


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))
