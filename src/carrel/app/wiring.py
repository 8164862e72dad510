"""The whole service on one page: all routes, and what they are given."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar

from carrel.app import docs, health, metrics
from carrel.app.browser import browser_routers
from carrel.app.framework import framework
from carrel.app.health import Vitals
from carrel.app.metrics import Meters
from carrel.app.services import Services
from carrel.app.timezone import provide_timezone
from carrel.auth import guard
from carrel.auth import routes as auth
from carrel.backup import routes as backup
from carrel.config import Settings
from carrel.contents import routes as contents
from carrel.credits import routes as credits_
from carrel.documents import routes as documents
from carrel.evaluation import routes as evaluation
from carrel.generation import routes as generation
from carrel.github import routes as github
from carrel.kit.clock import Clock, SystemClock
from carrel.kit.http.access_log import AccessLog
from carrel.kit.http.cors import Cors
from carrel.kit.http.envelope import Envelope
from carrel.kit.http.request_metrics import RequestMetrics
from carrel.metering import routes as metering
from carrel.models import routes as models
from carrel.presets import routes as presets
from carrel.provider_keys import routes as provider_keys
from carrel.providers.recent_lists import RecentLists
from carrel.rate_limits import routes as rate_limits
from carrel.reports import routes as reports
from carrel.runs.progress.events import Streams
from carrel.runs.routes import control, leaderboard, logs, results, runs, shared_logs, votes
from carrel.runs.routes import github as run_github
from carrel.settings import routes as settings_
from carrel.system_keys import routes as system_keys
from carrel.transfer import routes as transfer
from carrel.users import routes as users

ROUTERS = (
    docs.router,
    health.router,
    metrics.router,
    auth.router,
    users.router,
    transfer.router,
    contents.router,
    documents.router,
    presets.router,
    runs.router,
    runs.execution,
    control.router,
    results.router,
    logs.router,
    reports.router,
    votes.router,
    shared_logs.router,
    settings_.router,
    models.router,
    credits_.router,
    metering.router,
    provider_keys.router,
    rate_limits.router,
    github.router,
    run_github.router,
    generation.router,
    evaluation.router,
    leaderboard.router,
    system_keys.router,
    backup.router,
)


def create_app(
    settings: Settings, *, clock: Clock | None = None, tls: bool = False, stopping: asyncio.Event | None = None
) -> Envelope:
    """The service as an ASGI application. Its lifespan opens and closes everything that it holds.

    `tls` says that browsers reach it by HTTPS only. `stopping` is set when the process is told to end: then event
    streams end and runs pause, before the server waits for its clients and the lifespan ends.
    """
    clock = clock or SystemClock()
    stopping = stopping or asyncio.Event()
    services = Services(settings, clock)
    streams = Streams(services.pool, services.engine.hub, clock, stopping)
    recent = RecentLists(clock)

    @asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncIterator[None]:
        pausing = asyncio.create_task(_pause(services, stopping))
        try:
            await services.start()
            yield
        finally:
            if not stopping.is_set():
                pausing.cancel()
            await asyncio.wait([pausing])
            await services.stop()

    vitals = Vitals(
        clock,
        clock.monotonic(),
        active_runs=lambda: services.engine.active_runs,
        cached_keys=lambda: len(services.keyring),
    )
    requests = RequestMetrics()
    meters = Meters(requests, lambda: len(services.pool), settings.data_dir)
    app = framework(
        settings,
        ROUTERS,
        {
            "workspace": guard.provide_workspace,
            "user": guard.provide_user,
            "session": guard.provide_session,
            "settings": lambda: settings,
            "accounts": lambda: services.accounts,
            "service": lambda: services.service,
            "sessions": lambda: services.sessions,
            "users": lambda: services.users,
            "registry": lambda: services.registry,
            "recent": lambda: recent,
            "timezone": provide_timezone,
            "system_keys": lambda: services.system_keys,
            "worker": lambda: services.report_worker,
            "limiter": lambda: services.limiter,
            "caller": lambda: services.caller,
            "github": lambda: services.github,
            "intake": lambda: services.intake,
            "engine": lambda: services.engine,
            "exports": lambda: services.exports,
            "streams": lambda: streams,
            "live_backup": lambda: services.live_backup,
        },
        {health.VITALS: vitals, metrics.METERS: meters, guard.STATE: services.gatekeeper},
        lifespan,
        beside=browser_routers(settings.app_dir),
    )
    log = AccessLog(clock) if settings.log_level in {"debug", "info"} else None
    return Envelope(app, cors=Cors(settings.cors_origins), tls=tls, clock=clock, log=log, requests=requests)


async def _pause(services: Services, stopping: asyncio.Event) -> None:
    """Pause runs and end single calls as soon as the process is told to stop, not only after its last client."""
    await stopping.wait()
    await asyncio.gather(services.engine.stop(), services.caller.stop())
