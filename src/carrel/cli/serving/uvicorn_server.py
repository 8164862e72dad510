"""uvicorn in our own process. On a signal it tells the application to stop before it waits for clients.

On SIGHUP it reads secrets and certificate anew. A terminal that is closed sends the same signal; then the server stops.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Send

from carrel import __version__
from carrel.errors import CarrelError, DiskFull, Unavailable
from carrel.http.answers import problem
from carrel.http.server.protocol import Protocol, sweep
from carrel.http.server.receiving import receiving
from carrel.http.server.tls import Certificate, CertificateUnusable
from carrel.kit import logs
from carrel.kit.processes import private_memory, service_manager
from carrel.vault.data_folder import FolderTaken

_KEEP_ALIVE_SECONDS = 75
_DRAIN_SECONDS = 10
_SWITCH_SECONDS = 0.0001
"""How long a thread keeps the interpreter while others wait for it. Python's own 5 ms would make a short transaction,
which needs the interpreter thirty times, wait for a seventh of a second beside one thread that computes. The event loop
needs it anew for each socket that has something: with 0.5 ms, an import of others delayed it twice as long."""
Apply = Callable[[], None]
"""Puts in force what was read, on the event loop. It cannot fail."""


class ReloadRefused(Exception):
    """What was read anew cannot be used, so everything stays as it is. The text names settings, never their values."""


_CERTIFICATE_UNUSABLE = "--tls-cert, --tls-key: cannot be read, or do not belong together"


_OPEN_AT_START = "let the account run the file of Python without reading it, or set kernel.yama.ptrace_scope to 1"


class StartRefused(Exception):
    """The application did not start, or did not stop. The text is one line for the operator.

    `passes`: it may start a little later, without anybody's help.
    """

    def __init__(self, reason: str, *, passes: bool = False) -> None:
        self.passes = passes
        super().__init__(reason)


class _Server(uvicorn.Server):
    """Sets `stopping` on a signal. The process then ends with exit code 0, not by the signal."""

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event, reread: Callable[[], Apply]) -> None:
        super().__init__(config)
        self._stopping = stopping
        self._reread = reread
        self._reload_wanted = False
        self._at_terminal = _has_terminal()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        handlers = {signal.SIGTERM: self._heed, signal.SIGINT: self._heed, signal.SIGHUP: self._hang_up}
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heed(self, number: int, frame: FrameType | None) -> None:
        # A second signal changes nothing: runs are being paused, and the wait for clients ends by itself.
        self.should_exit = True

    def _hang_up(self, number: int, frame: FrameType | None) -> None:
        if self._at_terminal and not _has_terminal():
            self._heed(number, frame)
        self._reload_wanted = True

    async def on_tick(self, counter: int) -> bool:
        # The server calls this ten times a second.
        if self._reload_wanted and not self.should_exit:
            self._reload_wanted = False
            try:
                apply = await asyncio.to_thread(self._reread)
            except ReloadRefused as refusal:
                logs.error("reload-refused", reason=str(refusal))
            else:
                apply()
                logs.info("reloaded")
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # If the start fails, the program itself says why.
        logger = logging.getLogger("uvicorn.error")
        logger.setLevel(logging.CRITICAL)
        await super().startup(sockets)
        logger.setLevel(logging.WARNING)
        if self.started and sockets:
            host, port, *_ = sockets[0].getsockname()
            logs.info("listening", host=host, port=port, version=__version__)
            service_manager.tell("READY=1")
            if private_memory.is_open_at_start():
                logs.warning("memory-open-at-start", reason=_OPEN_AT_START)
        # Objects that exist now stay until the end, so the garbage collector need not look at them.
        gc.freeze()
        gc.enable()
        self._sweeping = asyncio.create_task(sweep(self.server_state.connections))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logs.info("stopping")
        self._sweeping.cancel()
        service_manager.tell("STOPPING=1")
        # Before anything else: event streams must end and runs must pause, or the wait for clients would wait for them.
        self._stopping.set()
        await super().shutdown(sockets)


class _WatchedApp:
    """Passes everything to `app`, whose data are in `folder`, and remembers why its lifespan failed."""

    def __init__(self, app: ASGIApp, folder: Path) -> None:
        self._app = app
        self._folder = folder
        self.refusal: StartRefused | None = None

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            if scope["type"] == "lifespan":
                self.refusal = _refusal(error, self._folder)
            raise


def _refusal(error: Exception, folder: Path) -> StartRefused:
    # The framework starts the lifespan inside a group of tasks, which wraps what is raised.
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, OSError) or type(error) is Unavailable:
        return StartRefused(f"the data folder {folder} cannot be used")
    if isinstance(error, DiskFull):
        return StartRefused(f"no space is left in {folder}", passes=error.passes)
    if isinstance(error, FolderTaken):
        return StartRefused(f"another process works in {folder}", passes=error.passes)
    if isinstance(error, CarrelError):
        return StartRefused(error.detail, passes=error.passes)
    problem.report(error, "")
    return StartRefused("the service could not start, or did not stop properly; the log says where")


def _has_terminal() -> bool:
    """Whether a terminal controls this process, as of now."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def run(
    app: ASGIApp,
    listener: socket.socket,
    stopping: asyncio.Event,
    reread: Callable[[], Apply],
    *,
    folder: Path,
    certificate: str | None,
    key: str | None,
) -> None:
    """Serve on `listener` until SIGTERM or SIGINT. The data are in `folder`.

    On SIGHUP, `reread` runs in a thread and raises `ReloadRefused`, or returns what puts new settings in force. The
    certificate is renewed together with them, or not at all.

    Raises:
        StartRefused: the certificate cannot be used, or the application did not start, or did not stop.
    """
    watched = _WatchedApp(app, folder)
    config = uvicorn.Config(
        watched,
        loop="uvloop",
        http=receiving(Protocol),  # type: ignore[arg-type]  # uvicorn calls it and asks no more of it
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )
    config.load()
    if certificate is not None and key is not None:
        try:
            shown = Certificate(certificate, key)
        except CertificateUnusable:
            raise StartRefused(_CERTIFICATE_UNUSABLE) from None
        config.ssl = shown.listening()
        reread = _with_certificate(shown, reread)
    sys.setswitchinterval(_SWITCH_SECONDS)
    with suppress(SystemExit):
        _Server(config, stopping, reread).run(sockets=[listener])
    if watched.refusal is not None:
        raise watched.refusal


def _with_certificate(shown: Certificate, reread: Callable[[], Apply]) -> Callable[[], Apply]:
    def reread_both() -> Apply:
        apply = reread()
        try:
            context = shown.read()
        except CertificateUnusable:
            raise ReloadRefused(_CERTIFICATE_UNUSABLE) from None

        def apply_both() -> None:
            apply()
            shown.use(context)

        return apply_both

    return reread_both
