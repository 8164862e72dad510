"""`carrel start`: the service and this website in the foreground, until Ctrl-C or SIGTERM."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from carrel_sdk import CarrelError, Host
from dotenv import dotenv_values

from carrel_website.app import create_site
from carrel_website.site import SiteConfig

SERVICE_PORT: Final = 8400
SITE_PORT: Final = 8410
START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 30.0
_ORIGINS: Final = "CARREL_CORS_ORIGINS"
_OWN: Final = frozenset(
    f"CARREL_{name}" for name in ("PLUGIN_SECRET", "ADMIN_SECRET", "SERVICE_KEY", "SECRETS_DIR", "DATA_DIR", "PORT")
)
"""What this program gives to the service itself. Every other setting of the environment is passed on, such as
`CARREL_PROVIDER_HOSTS` for a model server on this machine."""
_PR_SET_PDEATHSIG: Final = 1
_libc: Final = ctypes.CDLL(None) if sys.platform == "linux" else None
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StartFailed(Exception):
    """The text is one line for the terminal."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders that stay from one start to the next."""

    folder: Path
    built_app: Path

    @property
    def env_file(self) -> Path:
        """The service's configuration, with its secrets."""
        return self.folder / "service.env"


def run(paths: Paths, on_address: Callable[[str], object] | None = None) -> None:
    """Start the service, serve the website, and stop both. `on_address` is told where the website is.

    Raises:
        StartFailed
    """
    asked_to_stop = threading.Event()
    for number in _SIGNALS:
        # Only noted: an exit out of a handler may come while a process is made, which nobody would stop then.
        signal.signal(number, lambda *_: asked_to_stop.set())
    paths.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret = _plugin_secret(paths)
    site_socket = listening_socket(SITE_PORT)
    site_port = site_socket.getsockname()[1]
    # For a browser these are two origins, and people type either.
    origins = (f"http://127.0.0.1:{site_port}", f"http://localhost:{site_port}")
    with _service(paths, origins, secret, asked_to_stop) as (service, service_url):
        app = create_site(
            SiteConfig(
                origins=origins,
                service_url=service_url,
                plugin_secret=secret,
                folder=paths.folder / "website",
                app_folder=paths.built_app,
            )
        )
        server = _Website(
            uvicorn.Config(app, log_level="critical", access_log=False, proxy_headers=False, server_header=False),
            asked_to_stop,
        )
        say(f"service    {service_url}")
        if given := sorted(name for name in os.environ if name.startswith("CARREL_") and name not in _OWN):
            say(f"settings   {', '.join(given)}, from the environment")
        say(f"mail       {paths.folder / 'website' / 'outbox'}  (there is no mail server here)")
        if app.state.site.built_app.script() is None:
            say("app        not built; the page of the workspace says how to build it")
        say(f"website    {origins[0]}  <- open this; Ctrl-C stops both")
        if on_address is not None:
            # The socket listens already, so a browser that is fast waits.
            on_address(origins[0])
        threading.Thread(target=_watch, args=(service, server), daemon=True).start()
        server.run(sockets=[site_socket])
        if server.service_died:
            raise StartFailed(f"the service stopped unexpectedly; {paths.folder / 'service.log'} says why")
    say("stopped")


def listening_socket(preferred: int) -> socket.socket:
    """A socket that only this machine reaches: on the preferred port, or on a free one if that is taken."""
    for port in (preferred, 0):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            # Listen at once: a browser that opens the address as soon as it is printed waits and is not refused.
            listener.listen(128)
        except OSError:
            listener.close()
        else:
            return listener
    raise StartFailed("no port is free")


def end_with_parent() -> None:
    """Let the kernel send this process SIGTERM when the one that started it is killed. Only Linux can."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class _Website(uvicorn.Server):
    """Stops on a signal and then returns, so that the service can be stopped afterwards."""

    service_died = False

    def __init__(self, config: uvicorn.Config, asked_to_stop: threading.Event) -> None:
        super().__init__(config)
        self._asked_to_stop = asked_to_stop

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._heed) for number in _SIGNALS}
        self.should_exit = self.should_exit or self._asked_to_stop.is_set()
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heed(self, number: int, frame: FrameType | None) -> None:
        self.should_exit = True


@contextmanager
def _service(
    paths: Paths, origins: tuple[str, ...], secret: str, asked_to_stop: threading.Event
) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    """Runs `carrel serve` for as long as the block runs, and gives its address. The website's pages may call it."""
    # Another program may take the port between the check and the start; then another port will do.
    for preferred in (SERVICE_PORT, 0, 0):
        port = _free_port(preferred)
        process = _serve(paths, port, origins)
        try:
            if _answers(process, f"http://127.0.0.1:{port}", secret, asked_to_stop):
                yield process, f"http://127.0.0.1:{port}"
                return
        finally:
            _stop(process)
    raise StartFailed(f"the service did not start; {paths.folder / 'service.log'} says why")


def _serve(paths: Paths, port: int, origins: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    inherited = {name: value for name, value in os.environ.items() if name not in _OWN}
    command = [_program("carrel"), "serve", "--port", str(port), "--env-file", str(paths.env_file)]
    with (paths.folder / "service.log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603  # our own program
            [*command, "--data-dir", str(paths.folder / "service")],
            env=inherited | {_ORIGINS: ",".join([*origins, *filter(None, [os.environ.get(_ORIGINS)])])},
            cwd=paths.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # No other thread runs yet, so this function does no harm.
            preexec_fn=end_with_parent,  # noqa: PLW1509
        )


def _stop(process: "subprocess.Popen[bytes]") -> None:
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    # The website is stopping already. A second Ctrl-C must not leave the service running.
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for number, handler in before.items():
        signal.signal(number, handler)


def _answers(service: "subprocess.Popen[bytes]", url: str, secret: str, asked_to_stop: threading.Event) -> bool:
    """Whether the service answers in time.

    Raises:
        SystemExit: this program is asked to stop.
    """
    host = Host(url, secret)
    deadline = time.monotonic() + START_SECONDS
    try:
        while service.poll() is None and time.monotonic() < deadline:
            if asked_to_stop.is_set():
                sys.exit(0)
            try:
                host.health()
            except CarrelError:
                time.sleep(0.05)
            else:
                # The answer must come from our service, not from one that used the port before.
                return service.poll() is None
    finally:
        host.close()
    return False


def _watch(service: "subprocess.Popen[bytes]", server: _Website) -> None:
    service.wait()
    if not server.should_exit:
        server.service_died = True
        server.should_exit = True


def _plugin_secret(paths: Paths) -> str:
    """The secret in the service's configuration, which the first start makes."""
    if not paths.env_file.is_file():
        command = [_program("carrel"), "init", "--file", str(paths.env_file), "--data-dir", "service"]
        # In a session of its own, because a Ctrl-C of the terminal must not end it halfway.
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, start_new_session=True)  # noqa: S603  # our own
    secret = dotenv_values(paths.env_file).get("CARREL_PLUGIN_SECRET")
    if not secret:
        raise StartFailed(f"{paths.env_file} names no CARREL_PLUGIN_SECRET")
    return secret


def _free_port(preferred: int) -> int:
    with listening_socket(preferred) as listener:
        return int(listener.getsockname()[1])


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))
