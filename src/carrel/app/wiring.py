"""The whole service on one page: all routes, and what they are given."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar

from carrel.accounts import issuance
from carrel.app import docs, health, metrics
from carrel.app.browser import browser_routers
from carrel.app.framework import framework
from carrel.app.health import Probe, Vitals
from carrel.app.metrics import Meters
from carrel.app.services import Services
from carrel.app.timezone import provide_timezone
from carrel.auth import guard
from carrel.auth import routes as auth
from carrel.auth.credentials import Credentials
from carrel.auth.programs import routes as programs
from carrel.backup import routes as backup
from carrel.config import Settings
from carrel.contents import routes as contents
from carrel.credits import routes as credits_
from carrel.datasets import routes as datasets
from carrel.documents import routes as documents
from carrel.evaluation import routes as evaluation
from carrel.generation import routes as generation
from carrel.github import routes as github
from carrel.judges import routes as judges
from carrel.kit.clock import Clock, SystemClock
from carrel.kit.http.body import LIMITS
from carrel.kit.http.cors import Cors
from carrel.kit.http.envelope import Envelope
from carrel.kit.http.watching.access_log import AccessLog
from carrel.kit.http.watching.request_metrics import RequestMetrics
from carrel.metering import routes as metering
from carrel.models import price_routes as model_prices
from carrel.models import routes as models
from carrel.presets import draft_routes as preset_drafts
from carrel.presets import routes as presets
from carrel.provider_keys import routes as provider_keys
from carrel.provider_keys.probe import KeyTests
from carrel.providers.recent_lists import RecentLists
from carrel.rate_limits import routes as rate_limits
from carrel.receipts import routes as receipts
from carrel.reports import routes as reports
from carrel.runs.progress.events import Streams
from carrel.runs.routes import control, criteria, leaderboard, logs, notes, results, runs, shared_logs, trends, votes
from carrel.runs.routes import github as run_github
from carrel.settings import routes as settings_
from carrel.system_keys import routes as system_keys
from carrel.transfer import routes as transfer
from carrel.transfer.upload import Imports
from carrel.users import routes as users

ROUTERS = (
    docs.router,
    health.router,
    metrics.router,
    auth.router,
    auth.sessions_router,
    programs.router,
    programs.keys_router,
    users.router,
    transfer.router,
    contents.router,
    documents.router,
    datasets.router,
    presets.router,
    preset_drafts.router,
    runs.router,
    runs.execution,
    control.router,
    results.router,
    logs.router,
    reports.router,
    receipts.router,
    receipts.keys_router,
    votes.router,
    notes.router,
    criteria.router,
    shared_logs.router,
    settings_.router,
    models.router,
    model_prices.router,
    credits_.router,
    credits_.write_offs_router,
    metering.router,
    provider_keys.router,
    rate_limits.router,
    github.router,
    run_github.router,
    generation.router,
    evaluation.router,
    leaderboard.router,
    trends.router,
    judges.router,
    system_keys.router,
    backup.router,
)


class CompiledRoutes:
    """Every route of the service, and a place for the service itself.

    Compiling takes a quarter of a second and depends on two settings only, `max_json_bytes` and `app_dir`. A process
    that starts one service after the other, as tests do, compiles once and passes the routes to each `create_app`.
    """

    _settings: Settings
    _services: Services
    _streams: Streams
    _imports: Imports
    _recent: RecentLists
    _key_tests: KeyTests
    _stopping: asyncio.Event

    def __init__(self, settings: Settings) -> None:
        self.app = framework(
            settings,
            ROUTERS,
            {
                "workspace": guard.provide_workspace,
                "user": guard.provide_user,
                "session": guard.provide_session,
                "signed_in": guard.provide_signed_in,
                "settings": lambda: self._settings,
                "accounts": lambda: self._services.accounts,
                "service": lambda: self._services.service,
                "sessions": lambda: self._services.sessions,
                "sign_out": lambda: self._services.sign_out,
                "program_keys": lambda: self._services.program_keys,
                "program_sign_in": lambda: self._services.program_sign_in,
                "users": lambda: self._services.users,
                "registry": lambda: self._services.registry,
                "imports": lambda: self._imports,
                "recent": lambda: self._recent,
                "key_tests": lambda: self._key_tests,
                "timezone": provide_timezone,
                "system_keys": lambda: self._services.system_keys,
                "workers": lambda: self._services.report_workers,
                "compiler": lambda: self._services.compiler,
                "limiter": lambda: self._services.limiter,
                "caller": lambda: self._services.caller,
                "github": lambda: self._services.github,
                "intake": lambda: self._services.intake,
                "tables": lambda: self._services.tables,
                "room": lambda: self._services.room,
                "engine": lambda: self._services.engine,
                "exports": lambda: self._services.exports,
                "streams": lambda: self._streams,
                "judge_checks": lambda: self._services.judge_checks,
                "signer": lambda: self._services.signer,
                "live_backup": lambda: self._services.live_backup,
            },
            {},
            self._lifespan,
            beside=browser_routers(settings.app_dir),
        )

    def serve(
        self, settings: Settings, services: Services, clock: Clock, requests: RequestMetrics, stopping: asyncio.Event
    ) -> None:
        """Answer the requests that come from now on out of `services`, and start and stop these with the lifespan."""
        self._settings = settings
        self._services = services
        self._streams = Streams(services.pool, services.engine.hub, clock, stopping)
        self._imports = Imports()
        self._recent = RecentLists(clock)
        self._key_tests = KeyTests(clock)
        self._stopping = stopping
        vitals = Vitals(
            clock,
            clock.monotonic(),
            active_runs=lambda: services.engine.active_runs,
            cached_keys=lambda: len(services.keyring),
            stopping=stopping,
            may_serve=services.may_serve,
            disk=Probe(lambda: services.service.run(issuance.latest)),
        )
        self.app.state.clear()
        self.app.state.update(
            {
                LIMITS: settings,
                health.VITALS: vitals,
                metrics.METERS: Meters(requests, lambda: len(services.pool), settings.data_dir),
                guard.STATE: services.gatekeeper,
            }
        )

    @asynccontextmanager
    async def _lifespan(self, _: Litestar) -> AsyncIterator[None]:
        services, stopping = self._services, self._stopping
        pausing = asyncio.create_task(_pause(services, stopping))
        try:
            await services.start()
            yield
        finally:
            if not stopping.is_set():
                pausing.cancel()
            await asyncio.wait([pausing])
            await services.stop()


def create_app(
    settings: Settings,
    *,
    clock: Clock | None = None,
    tls: bool = False,
    stopping: asyncio.Event | None = None,
    routes: CompiledRoutes | None = None,
    credentials: Credentials | None = None,
) -> Envelope:
    """The service as an ASGI application. Its lifespan opens and closes everything that it holds.

    `tls` says that browsers reach it by HTTPS only. `stopping` is set when the process is told to end: then event
    streams end and runs pause, before the server waits for its clients and the lifespan ends. `routes` were compiled
    for the same `max_json_bytes` and `app_dir`, and no other service is running behind them. `credentials` are those
    of the settings; whoever passes them can replace them while the service runs.
    """
    clock = clock or SystemClock()
    routes = routes or CompiledRoutes(settings)
    requests = RequestMetrics()
    services = Services(settings, clock, credentials or Credentials.of(settings))
    routes.serve(settings, services, clock, requests, stopping or asyncio.Event())
    log = AccessLog(clock) if settings.log_level in {"debug", "info"} else None
    return Envelope(
        routes.app,
        cors=Cors(settings.cors_origins),
        tls=tls,
        clock=clock,
        log=log,
        requests=requests,
        reserve=services.reserve,
        fence=services.membership.fence if services.membership else None,
    )


async def _pause(services: Services, stopping: asyncio.Event) -> None:
    """Pause runs and end single calls as soon as the process is told to stop, not only after its last client."""
    await stopping.wait()
    await asyncio.gather(services.engine.stop(), services.caller.stop())
