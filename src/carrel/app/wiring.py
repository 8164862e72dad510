"""The whole service on one page: all routes, and what they are given."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import tzinfo
from functools import cache
from zoneinfo import ZoneInfo

from carrel.accounts import issuance
from carrel.app import docs, health, metrics, operators_page
from carrel.app.browser import browser_routes
from carrel.app.health import Probe, Vitals
from carrel.app.metrics import Meters
from carrel.app.services import Services
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
from carrel.github import routes as github
from carrel.http.requests import auditing
from carrel.http.requests.body import LIMITS
from carrel.http.requests.cors import Cors
from carrel.http.requests.envelope import Envelope
from carrel.http.requests.idempotency import Idempotency
from carrel.http.requests.parameters import provide_if_match, provide_paging
from carrel.http.requests.routing import Router, Routes
from carrel.http.watching.access_log import AccessLog
from carrel.http.watching.request_metrics import RequestMetrics
from carrel.judges import routes as judges
from carrel.keys import routes as keys
from carrel.keys.probe import KeyTests
from carrel.kit.clock import Clock, SystemClock
from carrel.metering import routes as metering
from carrel.models import price_routes as model_prices
from carrel.models import routes as models
from carrel.presets import draft_routes as preset_drafts
from carrel.presets import routes as presets
from carrel.providers.recent_lists import RecentLists
from carrel.rate_limits import routes as rate_limits
from carrel.receipts import routes as receipts
from carrel.reports import routes as reports
from carrel.runs.progress.events import Streams
from carrel.runs.routes import control, criteria, leaderboard, logs, notes, results, runs, shared_logs, trends, votes
from carrel.runs.routes import github as run_github
from carrel.settings import routes as settings_
from carrel.settings import store as settings_store
from carrel.single_calls import routes as single_calls
from carrel.suites import routes as suites
from carrel.transfer import routes as transfer
from carrel.transfer.upload import Imports
from carrel.users import admin_routes as admin_users
from carrel.users import routes as users
from carrel.vault.workspace import Workspace

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
    suites.router,
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
    keys.router,
    rate_limits.router,
    github.router,
    run_github.router,
    single_calls.generation_router,
    single_calls.evaluation_router,
    leaderboard.router,
    trends.router,
    judges.router,
    keys.system_router,
    admin_users.router,
    backup.router,
    operators_page.router,
)


def create_app(
    settings: Settings,
    *,
    clock: Clock | None = None,
    tls: bool = False,
    stopping: asyncio.Event | None = None,
    credentials: Credentials | None = None,
) -> Envelope:
    """The service as an ASGI application. Its lifespan opens and closes everything that it holds.

    `tls` says that browsers reach it by HTTPS only. `stopping` is set when the process is told to end: then event
    streams end and runs pause, before the server waits for its clients and the lifespan ends. `credentials` are those
    of the settings; whoever passes them can replace them while the service runs.
    """
    clock = clock or SystemClock()
    stopping = stopping or asyncio.Event()
    requests = RequestMetrics()
    services = Services(settings, clock, credentials or Credentials.of(settings))
    log = AccessLog(clock, settings.log_addresses) if settings.log_level in {"debug", "info"} else None
    return Envelope(
        _routes(settings, services, clock, requests, stopping),
        cors=Cors(settings.cors_origins),
        tls=tls,
        clock=clock,
        log=log,
        requests=requests,
        reserve=services.reserve,
        fence=services.cluster_membership.fence if services.cluster_membership else None,
    )


def _routes(
    settings: Settings, services: Services, clock: Clock, requests: RequestMetrics, stopping: asyncio.Event
) -> Routes:
    streams = Streams(services.pool, services.engine.hub, clock, stopping)
    imports, recent, key_tests = Imports(), RecentLists(clock), KeyTests(clock)
    vitals = Vitals(
        clock,
        clock.monotonic(),
        active_runs=lambda: services.engine.active_runs,
        cached_keys=lambda: len(services.keyring),
        stopping=stopping,
        may_serve=services.may_serve,
        disk=Probe(lambda: services.service.run(issuance.latest)),
    )
    routes = Routes(
        [Router("/api", ROUTERS), docs.front_router, *browser_routes(settings.app_dir)],
        {
            "paging": provide_paging,
            "if_match": provide_if_match,
            "once": Idempotency().provide,
            "workspace": guard.provide_workspace,
            "user": guard.provide_user,
            "session": guard.provide_session,
            "signed_in": guard.provide_signed_in,
            "timezone": _timezone,
            "settings": lambda: settings,
            "streams": lambda: streams,
            "imports": lambda: imports,
            "recent": lambda: recent,
            "key_tests": lambda: key_tests,
            "accounts": lambda: services.accounts,
            "service": lambda: services.service,
            "sessions": lambda: services.sessions,
            "sign_in": lambda: services.sign_in,
            "sign_out": lambda: services.sign_out,
            "program_keys": lambda: services.program_keys,
            "program_sign_in": lambda: services.program_sign_in,
            "users": lambda: services.users,
            "administration": lambda: services.administration,
            "registry": lambda: services.registry,
            "system_keys": lambda: services.system_keys,
            "workers": lambda: services.report_workers,
            "compiler": lambda: services.compiler,
            "limiter": lambda: services.limiter,
            "caller": lambda: services.caller,
            "github": lambda: services.github,
            "intake": lambda: services.intake,
            "tables": lambda: services.tables,
            "room": lambda: services.room,
            "engine": lambda: services.engine,
            "exports": lambda: services.exports,
            "judge_checks": lambda: services.judge_checks,
            "signer": lambda: services.signer,
            "live_backup": lambda: services.live_backup,
        },
        {
            LIMITS: settings,
            health.VITALS: vitals,
            metrics.METERS: Meters(
                requests,
                open_workspaces=lambda: len(services.pool),
                open_streams=lambda: services.engine.hub.open_streams,
                waiting_calls=lambda: services.scheduler.waiting,
                data_dir=settings.data_dir,
            ),
            guard.STATE: services.gatekeeper,
            auditing.WRITE_ENTRY: services.write_audit_entry,
            docs.DESCRIBED: cache(lambda: docs.describe(routes, settings)),
        },
        settings.max_json_bytes,
        lambda: _lifespan(services, stopping),
    )
    return routes


def _timezone(workspace: Workspace) -> tzinfo:
    """The user's time zone, for features below the settings: what a day is."""
    settings, _ = workspace.read(settings_store.get)
    return ZoneInfo(settings.timezone or "UTC")


@asynccontextmanager
async def _lifespan(services: Services, stopping: asyncio.Event) -> AsyncIterator[None]:
    pausing = asyncio.create_task(_pause(services, stopping))
    try:
        await services.start()
        yield
    finally:
        if not stopping.is_set():
            pausing.cancel()
        await asyncio.wait([pausing])
        await services.stop()


async def _pause(services: Services, stopping: asyncio.Event) -> None:
    """Pause runs and end single calls as soon as the process is told to stop, not only after its last client."""
    await stopping.wait()
    await asyncio.gather(services.engine.stop(), services.caller.stop())
