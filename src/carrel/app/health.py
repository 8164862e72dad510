"""Whether the process lives, whether it can serve, and whether it may be restarted. Open to everybody, and cheap."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from carrel import __version__
from carrel.auth import guard
from carrel.errors import CarrelError, Unavailable
from carrel.http.request import Request
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Router, get
from carrel.kit.clock import Clock

VITALS: Final = "carrel.vitals"
READY_SECONDS: Final = 2.0
"""How long `service.db` may take to answer. It takes a millisecond, unless the disk hangs."""


class Probe:
    """Asks `reach`, which fails, or does not return, while the disk is not there: once at a time, whoever waits."""

    def __init__(self, reach: Callable[[], Awaitable[object]]) -> None:
        self._reach = reach
        self._asking: asyncio.Future[object] | None = None

    async def ask(self) -> None:
        """Return when the disk has answered.

        Raises:
            CarrelError: what `reach` raised.
        """
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(self._reach())
            # Those who wait may have given up.
            self._asking.add_done_callback(lambda asked: asked.cancelled() or asked.exception())
        await asyncio.shield(self._asking)


@dataclass(frozen=True)
class Vitals:
    """What the health routes read. They are open to everybody, so all of it must be cheap."""

    clock: Clock
    started: float
    """On the monotonic clock."""
    active_runs: Callable[[], int]
    cached_keys: Callable[[], int]
    stopping: asyncio.Event
    may_serve: Callable[[], bool]
    """Whether a node of a cluster has its lease."""
    disk: "Probe"


class NotReady(Unavailable):
    """The process lives and cannot serve now: it is stopping, or its data folder does not answer."""

    code = "not-ready"
    detail = "The service cannot serve requests now."

    def __init__(self) -> None:
        super().__init__(retry_after_seconds=5)


class Health(msgspec.Struct, frozen=True):
    """The service answers."""

    status: Literal["ok"]
    version: str
    uptime_seconds: int


class Ready(msgspec.Struct, frozen=True):
    """The service can serve."""

    status: Literal["ready"] = "ready"


class SafeToRestart(msgspec.Struct, frozen=True):
    """`safe` is true while no run is active; users whose keys are cached will have to log in again.

    Only the host and the operator, who show their secret, learn the two numbers.
    """

    safe: bool
    active_runs: int | UnsetType = UNSET
    cached_keys: int | UnsetType = UNSET


@get("/health")
async def read_health(request: Request) -> Health:
    """Whether the process lives and answers. If it does not, restart it."""
    vitals: Vitals = request.state[VITALS]
    return Health("ok", __version__, int(vitals.clock.monotonic() - vitals.started))


@get("/health/ready", opt=raises(NotReady))
async def read_ready(request: Request) -> Ready:
    """Whether requests can be served: the service is not stopping, and its data folder answers."""
    vitals: Vitals = request.state[VITALS]
    if vitals.stopping.is_set() or not vitals.may_serve():
        raise NotReady
    try:
        async with asyncio.timeout(READY_SECONDS):
            await vitals.disk.ask()
    except (TimeoutError, CarrelError):
        raise NotReady from None
    return Ready()


@get("/health/safe-to-restart", guards=[guard.operator_if_named])
async def read_safe_to_restart(request: Request) -> SafeToRestart:
    """Whether a restart would interrupt a run; with the plugin or admin secret also how many runs and keys."""
    vitals: Vitals = request.state[VITALS]
    active = vitals.active_runs()
    if guard.is_operator(request.scope):
        return SafeToRestart(active == 0, active, vitals.cached_keys())
    return SafeToRestart(active == 0)


router = Router("/", route_handlers=[read_health, read_ready, read_safe_to_restart], tags=["health"])
