"""Whether the service is up, and whether it may be restarted. Open to everybody, cheap, and without users' data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import msgspec
from litestar import Request, Router, get
from litestar.datastructures import State

from carrel import __version__
from carrel.kit.clock import Clock

VITALS: Final = "carrel.vitals"

_Request = Request[None, None, State]


@dataclass(frozen=True)
class Vitals:
    """What the health routes read. Every request reads both counts, so they must be cheap."""

    clock: Clock
    started: float
    """On the monotonic clock."""
    active_runs: Callable[[], int]
    cached_keys: Callable[[], int]


class Health(msgspec.Struct, frozen=True):
    """The service answers."""

    status: Literal["ok"]
    version: str
    uptime_seconds: int


class SafeToRestart(msgspec.Struct, frozen=True):
    """`safe` is true while no run is active; users whose keys are cached will have to log in again."""

    safe: bool
    active_runs: int
    cached_keys: int


@get("/health")
async def read_health(request: _Request) -> Health:
    """Whether the service is up."""
    vitals: Vitals = request.app.state[VITALS]
    return Health("ok", __version__, int(vitals.clock.monotonic() - vitals.started))


@get("/health/safe-to-restart")
async def read_safe_to_restart(request: _Request) -> SafeToRestart:
    """Whether a restart would interrupt a run."""
    vitals: Vitals = request.app.state[VITALS]
    active = vitals.active_runs()
    return SafeToRestart(active == 0, active, vitals.cached_keys())


router = Router("/", route_handlers=[read_health, read_safe_to_restart], tags=["health"])
