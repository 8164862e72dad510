"""uvicorn in our own process. On a signal it tells the application to stop before it waits for clients.

On SIGHUP it reads secrets and certificate anew. A terminal that is closed sends the same signal; then the server stops.
On SIGUSR2 it starts a successor and hands everything over to it, if the operator allows that.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NamedTuple

import uvicorn
from litestar.types import ASGIApp, Receive, Send

from carrel import __version__
from carrel.cli.serving.letting_go import let_go
from carrel.cli.serving.protocol import Protocol, sweep
from carrel.cli.serving.receiving import receiving
from carrel.cli.serving.replacement import Replacement
from carrel.cli.serving.successor import HotRestartRefused, Successor
from carrel.cli.serving.tls import Certificate, CertificateUnusable
from carrel.errors import CarrelError, Unavailable
from carrel.kit import logs
from carrel.kit.http import problem
from carrel.kit.processes import scheduling, service_manager

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


class StartRefused(Exception):
    """The application did not start, or did not stop. The text is one line for the operator."""


class Left(NamedTuple):
    """What is left when everything is closed for a successor."""

    successor: Successor
    connections: list[socket.socket]


class _Server(uvicorn.Server):
    """Sets `stopping` on a signal. The process then ends with exit code 0, not by the signal."""

    def __init__(
        self,
        config: uvicorn.Config,
        stopping: asyncio.Event,
        reread: Callable[[], Apply],
        replacement: Replacement,
        kept: Iterable[socket.socket],
    ) -> None:
        super().__init__(config)
        self.left: Left | None = None
        self._stopping = stopping
        self._reread = reread
        self._replacement = replacement
        self._kept = kept
        self._reload_wanted = self._replacement_wanted = self._end_wanted = False
        self._replacing: asyncio.Task[None] | None = None
        self._successor: Successor | None = None
        self._at_terminal = _has_terminal()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        handlers = {signal.SIGTERM: self._heed, signal.SIGINT: self._heed, signal.SIGHUP: self._hang_up}
        handlers[signal.SIGUSR2] = self._step_aside
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heed(self, number: int, frame: FrameType | None) -> None:
        # A second signal changes nothing: runs are being paused, and the wait for clients ends by itself.
        self.should_exit = self._end_wanted = True

    def _hang_up(self, number: int, frame: FrameType | None) -> None:
        if self._at_terminal and not _has_terminal():
            self._heed(number, frame)
        self._reload_wanted = True

    def _step_aside(self, number: int, frame: FrameType | None) -> None:
        self._replacement_wanted = True

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
        if self._replacement_wanted and not self.should_exit:
            self._replacement_wanted = False
            if self._replacing is None:
                self._replacing = asyncio.create_task(self._replace())
        return await super().on_tick(counter)

    async def _replace(self) -> None:
        try:
            successor = await self._replacement.prepared()
        except HotRestartRefused as refusal:
            logs.error("hot-restart-refused", reason=str(refusal))
        else:
            self._successor = successor
            self.should_exit = True
        finally:
            self._replacing = None

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
        for connection in self._kept:
            # Its client may have left.
            with suppress(OSError):
                await asyncio.get_running_loop().connect_accepted_socket(self._protocol_of_kept, connection)
        # Objects that exist now stay until the end, so the garbage collector need not look at them.
        gc.freeze()
        gc.enable()
        self._sweeping = asyncio.create_task(sweep(self.server_state.connections))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logs.info("stopping")
        self._sweeping.cancel()
        if self._replacing is not None:
            self._replacing.cancel()
            await asyncio.wait([self._replacing])
        if self._successor is not None:
            await self._make_way(self._successor, sockets or [])
            return
        service_manager.tell("STOPPING=1")
        # Before anything else: event streams must end and runs must pause, or the wait for clients would wait for them.
        self._stopping.set()
        await super().shutdown(sockets)

    async def _make_way(self, successor: Successor, sockets: Iterable[socket.socket]) -> None:
        for server in self.servers:
            server.close()
        for listener in sockets:
            listener.close()
        self._replacement.end_streams()
        connections = await let_go(self.server_state.connections)  # type: ignore[arg-type]  # all of our own protocol
        self._stopping.set()
        await self.lifespan.shutdown()
        # If the successor fails, everything is made anew, and this goes.
        gc.unfreeze()
        if self._end_wanted:
            # The signal was for whoever serves.
            successor.kill()
        else:
            self.left = Left(successor, connections)

    def _protocol_of_kept(self) -> asyncio.BaseProtocol:
        return self.config.http_protocol_class(  # type: ignore[call-arg]  # as `receiving` makes it
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state, is_kept=True
        )


class _Watched:
    """Passes everything to `app` and remembers why its lifespan failed. Calls `on_started` before the first request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.on_started: Callable[[], None] = lambda: None
        self.refusal: str | None = None

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return

        async def tell(message: Any) -> None:
            if message["type"] == "lifespan.startup.complete":
                self.on_started()
            await send(message)

        try:
            await self._app(scope, receive, tell)
        except Exception as error:
            self.refusal = _reason(error)
            raise


def _reason(error: Exception) -> str:
    # The framework starts the lifespan inside a group of tasks, which wraps what is raised.
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, OSError) or type(error) is Unavailable:
        return "the data folder cannot be used"
    if isinstance(error, CarrelError):
        return error.detail
    problem.report(error, "")
    return "the service could not start, or did not stop properly; the log says where"


def _has_terminal() -> bool:
    """Whether a terminal controls this process, as of now."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


class Prepared:
    """A server that has read everything that it needs, and serves when it is run."""

    def __init__(
        self,
        app: ASGIApp,
        stopping: asyncio.Event,
        reread: Callable[[], Apply],
        replacement: Replacement,
        *,
        certificate: str | None,
        key: str | None,
    ) -> None:
        """On SIGHUP, `reread` runs in a thread and raises `ReloadRefused`, or returns what puts new settings in force.

        The certificate is renewed together with them, or not at all.

        Raises:
            StartRefused: the certificate cannot be used.
        """
        self._watched = _Watched(app)
        self._stopping = stopping
        self._reread = reread
        self._replacement = replacement
        self._config = uvicorn.Config(
            self._watched,
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
        self._config.load()
        if certificate is not None and key is not None:
            try:
                shown = Certificate(certificate, key)
            except CertificateUnusable:
                raise StartRefused(_CERTIFICATE_UNUSABLE) from None
            self._config.ssl = shown.listening()
            self._reread = _with_certificate(shown, reread)

    def run(
        self, listener: socket.socket, kept: Iterable[socket.socket] = (), on_started: Callable[[], None] = lambda: None
    ) -> Left | None:
        """Serve on `listener`, and on connections that another process `kept`, until SIGTERM or SIGINT: `None`.

        On SIGUSR2, if a successor becomes ready, everything is closed; the return value is what the successor gets.
        `on_started` is called when everything is open, before the first request.

        Raises:
            StartRefused: the application would not start.
        """
        self._watched.on_started = on_started
        server = _Server(self._config, self._stopping, self._reread, self._replacement, kept)
        sys.setswitchinterval(_SWITCH_SECONDS)
        scheduling.go_first()
        with suppress(SystemExit):
            server.run(sockets=[listener])
        if self._watched.refusal is not None and server.left is None:
            raise StartRefused(self._watched.refusal)
        return server.left


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
