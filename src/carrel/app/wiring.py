"""The whole service on one page: which routes there are, and what they are given."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar
from litestar.types import ASGIApp

from carrel.app import health
from carrel.app.framework import framework
from carrel.app.health import Vitals
from carrel.config import Settings
from carrel.kit.clock import Clock, SystemClock
from carrel.kit.cors import Cors
from carrel.kit.envelope import Envelope

ROUTERS = (health.router,)


def create_app(settings: Settings, *, clock: Clock | None = None, tls: bool = False) -> ASGIApp:
    """The service as an ASGI application; its lifespan opens and closes everything that it holds.

    `tls` says that browsers reach it by HTTPS only.
    """
    clock = clock or SystemClock()

    @asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncIterator[None]:
        yield

    vitals = Vitals(clock, clock.monotonic(), active_runs=lambda: 0, cached_keys=lambda: 0)
    app = framework(settings, ROUTERS, {}, {health.VITALS: vitals}, lifespan)
    return Envelope(app, cors=Cors(settings.cors_origins), tls=tls, clock=clock, log=None)
