"""The service as an application in this process. Its routes are compiled once and used by one test after the other."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from carrel.app import CompiledRoutes, create_app
from carrel.config import Settings
from carrel.kit.clock import Clock
from carrel.kit.http.envelope import Envelope

_free: defaultdict[tuple[object, ...], list[CompiledRoutes]] = defaultdict(list)
"""The routes behind which nothing runs, by the settings that they were compiled for."""


@contextmanager
def made(settings: Settings, clock: Clock, stopping: asyncio.Event | None = None) -> Iterator[Envelope]:
    """A new service behind routes that no other service has as long as this one runs."""
    free = _free[settings.max_json_bytes, settings.app_dir]
    routes = free.pop() if free else CompiledRoutes(settings)
    yield create_app(settings, clock=clock, stopping=stopping, routes=routes)
    # After a failure they are not used again: some request may still be going on behind them.
    free.append(routes)
