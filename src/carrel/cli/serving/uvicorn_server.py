"""uvicorn in our own process. On a signal it tells the application to stop before it waits for clients."""

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import uvicorn
from litestar.types import ASGIApp, Receive, Send

from carrel import __version__
from carrel.cli.serving.protocol import Protocol, sweep
from carrel.cli.serving.receiving import receiving
from carrel.errors import CarrelError, Unavailable
from carrel.kit import logs
from carrel.kit.http import problem

_KEEP_ALIVE_SECONDS = 75
_DRAIN_SECONDS = 10
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StartRefused(Exception):
    """The application did not start, or did not stop. The text is one line for the operator."""


class _Server(uvicorn.Server):
    """Sets `stopping` on a signal. The process then ends with exit code 0, not by the signal."""

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._heed) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heed(self, number: int, frame: FrameType | None) -> None:
        # A second signal changes nothing: runs are being paused, and the wait for clients ends by itself.
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # If the start fails, the program itself says why.
        logger = logging.getLogger("uvicorn.error")
        logger.setLevel(logging.CRITICAL)
        await super().startup(sockets)
        logger.setLevel(logging.WARNING)
        if self.started and sockets:
            host, port, *_ = sockets[0].getsockname()
            logs.info("listening", host=host, port=port, version=__version__)
        # Objects that exist now stay until the end, so the garbage collector need not look at them.
        gc.freeze()
        gc.enable()
        self._sweeping = asyncio.create_task(sweep(self.server_state.connections))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logs.info("stopping")
        # Before anything else: event streams must end and runs must pause, or the wait for clients would wait for them.
        self._stopping.set()
        self._sweeping.cancel()
        await super().shutdown(sockets)


class _Watched:
    """Passes everything to `app` and remembers why its lifespan failed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.refusal: str | None = None

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
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


def run(
    app: ASGIApp, listener: socket.socket, stopping: asyncio.Event, *, certificate: str | None, key: str | None
) -> None:
    """Serve `app` on `listener` until SIGTERM or SIGINT.

    Raises:
        StartRefused: the application would not start, or the certificate cannot be used.
    """
    watched = _Watched(app)
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
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    try:
        config.load()
    except OSError:
        raise StartRefused("--tls-cert, --tls-key: cannot be read, or do not belong together") from None
    server = _Server(config, stopping)
    with suppress(SystemExit):
        server.run(sockets=[listener])
    if watched.refusal is not None:
        raise StartRefused(watched.refusal)
