"""What lives as long as the process: made in one place, started and stopped in one order."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING

from carrel.accounts import audit
from carrel.accounts.accounts import Accounts
from carrel.accounts.audit import AuditEntry
from carrel.accounts.service import ServiceDatabase
from carrel.accounts.slots import serve_everybody
from carrel.auth.credentials import Credentials
from carrel.auth.guard import Gatekeeper
from carrel.auth.programs.keys import ProgramKeyStore
from carrel.auth.programs.sign_in import ProgramSignIn
from carrel.auth.sessions import Sessions
from carrel.auth.sign_in import SignIn
from carrel.auth.sign_out import SignOut
from carrel.backup.live import LiveBackup
from carrel.checks import jobs as check_jobs
from carrel.checks.compiler import BOUNDS as COMPILER_BOUNDS
from carrel.checks.compiler import Compiler
from carrel.config import Settings
from carrel.credits import ledger
from carrel.credits.reservations import Books, CreditReservations
from carrel.credits.sweep import HoldSweep
from carrel.datasets.readers import TableReaders
from carrel.documents import jobs as document_jobs
from carrel.documents.intake import Intake
from carrel.errors import CarrelError
from carrel.github.client import Github
from carrel.http.requests.auditing import Audited
from carrel.judges.checking import Checks
from carrel.keys.system_keys import SystemKeys
from carrel.kit.clock import Clock
from carrel.kit.concurrency.cancellation import cancel
from carrel.kit.ids import uuid7_factory
from carrel.kit.logs import tail
from carrel.kit.money import MICROS
from carrel.kit.processes.jobs import CallLimits
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.reserve import Reserve
from carrel.metering import calls, unknown_costs
from carrel.providers import http_provider
from carrel.providers.connections.network import Network
from carrel.providers.local import LocalProvider
from carrel.providers.registry import Registry
from carrel.rate_limits.known import KnownLimits
from carrel.rate_limits.limiter import Limiter
from carrel.rate_limits.store import DEFAULTS
from carrel.receipts.keys import Signer
from carrel.reports import jobs as report_jobs
from carrel.reports.exports import Exports
from carrel.runs.costs.quotes import Credits
from carrel.runs.engine import commands
from carrel.runs.engine import jobs as engine_jobs
from carrel.runs.engine.dependencies import EngineDependencies
from carrel.runs.engine.engine import Engine
from carrel.runs.engine.payer import Funds
from carrel.runs.engine.retention import Retention
from carrel.runs.progress.hub import Hub
from carrel.runs.publishing.deliveries import Deliveries
from carrel.runs.publishing.run_events import RunEvents
from carrel.runs.scheduling.permits import DirectPermits
from carrel.runs.scheduling.scheduler import FairScheduler
from carrel.single_calls.caller import Caller
from carrel.transfer.given_up import GivenUpImports
from carrel.uploads.memory import UploadMemory
from carrel.users.administration import Administration
from carrel.users.lifecycle import Users
from carrel.vault import process
from carrel.vault.data_folder import DataFolder
from carrel.vault.files import Format
from carrel.vault.keyring import Keyring, UserUuid
from carrel.vault.pool import WorkspacePool
from carrel.vault.selftest import run_self_test
from carrel.vault.workspace import Workspace
from carrel.webhooks.outbox import Event
from carrel.webhooks.sender import Webhooks

if TYPE_CHECKING:
    from carrel.app.cluster_membership import ClusterMembership

SPARE_SECONDS = 5.0
"""A connection for writes or scans that was not used for so long is closed; one that reads stays."""
IDLE_CHECK_SECONDS = 60.0
IDLE_SECONDS = 900.0
"""A workspace that nobody has used for so long is closed, which frees a megabyte; its next request opens it in 2 ms."""
_LOCAL_CALLS = 8
"""Calls of built-in models at once. They go through a few workers: more would only wait there."""
_FRAME_BYTES = 1024
"""What a frame adds to the file or the text that it carries."""
_ENDING_SECONDS = 0.05
"""Of the time for a file, this is left for its process to be ended and its memory to be taken back."""


class Services:
    """Making them does no I/O; `start` opens what is on the disk."""

    def __init__(self, settings: Settings, clock: Clock, credentials: Credentials) -> None:
        service_key = settings.service_key.reveal()
        new_id = uuid7_factory(clock)
        self.settings = settings
        self.clock = clock
        self.folder = DataFolder(settings.data_dir)
        self.reserve = Reserve(settings.data_dir)
        hub = Hub(settings.max_event_streams)
        self.keyring = Keyring(on_epoch_raised=hub.notify)
        self.cluster_membership: ClusterMembership | None = None
        if settings.node_name is not None:
            # Imported here, so that a service without other nodes neither waits for this nor depends on it.
            from carrel.app import cluster_membership

            self.cluster_membership = cluster_membership.ClusterMembership(settings, self.keyring)
        require_served = self.cluster_membership.fence.require if self.cluster_membership else serve_everybody
        self.accounts = Accounts(
            settings.data_dir, service_key, clock=clock, new_id=new_id, require_served=require_served
        )
        self.service = ServiceDatabase(settings.data_dir, service_key, clock=clock, new_id=new_id)
        self.pool = WorkspacePool(
            self.keyring,
            self.accounts.workspace_path,
            form=Format(clock, new_id, settings.cipher, settings.max_workspace_mb),
            max_open=settings.max_open_workspaces,
            megabytes_of=lambda uuid: self.sessions.megabytes_of(uuid),  # noqa: PLW0108  # they are made later
            require_served=require_served,
        )
        self.workers = WorkerPool(engine_jobs.JOBS, settings.workers, clock)
        self.report_workers = WorkerPool(report_jobs.JOBS, settings.workers, clock)
        """Reports and rankings of big runs take long: in workers of their own, they keep no model waiting."""
        self.compiler = Compiler(WorkerPool(check_jobs.JOBS, settings.workers, clock, COMPILER_BOUNDS))
        texts = CallLimits(
            settings.max_upload_bytes + _FRAME_BYTES,
            settings.max_body_bytes + _FRAME_BYTES,
            settings.max_reading_seconds - _ENDING_SECONDS,
        )
        self.room = UploadMemory(settings.max_upload_bytes)
        readers = WorkerPool(document_jobs.JOBS, settings.workers, clock, texts)
        self.intake = Intake(readers, settings)
        self.tables = TableReaders(readers, settings)
        self.network = Network(settings.max_answer_bytes)
        remote = http_provider.every_known(
            self.network, connections=settings.max_provider_calls, rules=settings.provider_hosts, clock=clock
        )
        self.registry = Registry([LocalProvider(self.workers)], remote)
        self.webhooks = Webhooks(
            settings.webhook_url, settings.webhook_secret, self.service, self.accounts.owner, self.network, clock
        )
        self.github = Github(self.network, settings.github_hosts, clock)
        self.limiter = Limiter(clock, DEFAULTS)
        self.scheduler = FairScheduler(
            settings.max_provider_calls,
            {LocalProvider.name: _LOCAL_CALLS},
            self.limiter,
            _later,
            may_call=self.may_serve,
        )
        self.system_keys = SystemKeys(self.service)
        self.reservations = CreditReservations(
            self.accounts,
            self.service,
            Books(calls.charged, unknown_costs.any_undecided, self._decide_unknown_costs, unknown_costs.borne),
            self._tell_if_low,
        )
        self.hold_sweep = HoldSweep(self.accounts, self.service, self.reservations, clock, settings.credit_hold_days)
        funds = Funds(self.reservations, Credits(settings.credit_markup, self.system_keys.access))
        dependencies = EngineDependencies(
            *(self.registry, self.workers, self.scheduler, self.network.room, clock, asyncio.sleep, funds, hub.texts),
            calls_per_day=self._calls_per_day,
        )
        self.deliveries = Deliveries(self.pool, self.github, _later)
        self.run_events = RunEvents(self.pool, self.webhooks)
        self.engine = Engine(
            self.pool,
            dependencies,
            hub,
            may_execute=self._may_execute,
            holds_credits=self._holds_credits,
            on_halted=self._halted,
        )
        self.exports = Exports(self.pool, self.report_workers)
        self.retention = Retention(self.pool, self.engine, _later)
        self.caller = Caller(
            *(self.pool, self.registry, self.limiter, DirectPermits(self.scheduler), self.network.room, clock),
            calls_per_day=self._calls_per_day,
        )
        self.judge_checks = Checks(self.caller)
        # The limits first: runs that go on have to keep to them.
        self.pool.subscribe(
            KnownLimits(self.pool, self.limiter),
            self.engine,
            self.caller,
            self.exports,
            self.deliveries,
            self.run_events,
            self.retention,
            GivenUpImports(self.pool),
        )
        self.sessions = Sessions(self.pool, self.accounts, self.service, credentials, clock)
        self.sign_in = SignIn(self.sessions, self.service)
        self.sign_out = SignOut(self.sessions, clock)
        self.program_keys = ProgramKeyStore(self.sessions, clock, allowed=settings.program_keys == "on")
        self.program_sign_in = ProgramSignIn(self.sessions, self.sign_out, self.program_keys, clock)
        self.users = Users(self.sessions, self.service, self._deactivated)
        self.administration = Administration(
            self.sessions, self.sign_out, self.service, self.webhooks, self.engine.deactivated, self.engine.active_of
        )
        self.gatekeeper = Gatekeeper(self.sessions, credentials, settings.free_plan == "full")
        self.signer = Signer(service_key)
        self.live_backup = LiveBackup(
            settings.data_dir, service_key, self.accounts, self.pool, self.service, clock, self.cluster_membership
        )
        self._idle: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Take the data folder, prove the process fit to hold keys, and finish what a crash interrupted.

        Raises:
            CarrelError: the service must not serve.
        """
        self.folder.lock()
        process.harden()
        with self.reserve.lent():
            run_self_test(self.settings.data_dir, self.settings.cipher)
            is_new = self.service.open()
            if self.cluster_membership is not None:
                try:
                    await self.cluster_membership.join(self)
                except CarrelError:
                    if is_new:
                        # An empty disk stays empty, so that it is not taken for one that holds something.
                        self.service.discard()
                    raise
            await self.signer.publish(self.service)
            await self.system_keys.load()
            await self.users.start(
                self.cluster_membership.fence.serving if self.cluster_membership is not None else None
            )
            await self.sessions.start()
            await self.sign_in.start()
        self.reserve.keep()
        self.hold_sweep.start()
        self.webhooks.start()
        closing = (self._close_spares(), self._close_idle(self.settings.key_idle_minutes * 60))
        self._idle = [asyncio.create_task(one) for one in closing]

    async def write_audit_entry(self, audited: Audited) -> None:
        """Write what the host or the operator ordered, durably."""
        asking, what, uuid, request_id = audited
        entry = AuditEntry(asking.by, asking.secret, what, tail(uuid), request_id)
        # Where the disk is full, too: otherwise nobody could remove anything.
        with self.reserve.lent():
            await self.service.run(audit.append, self.settings.data_dir, entry)

    def may_serve(self) -> bool:
        """Whether the process may act now; a node of a cluster may not while its lease may have ended."""
        return self.cluster_membership is None or self.cluster_membership.fence.is_open

    async def _close_spares(self) -> None:
        while True:
            await asyncio.sleep(SPARE_SECONDS)
            with suppress(CarrelError):
                await self.pool.close_spares(SPARE_SECONDS)

    async def _close_idle(self, key_seconds: float) -> None:
        while True:
            await asyncio.sleep(IDLE_CHECK_SECONDS)
            with suppress(CarrelError):
                await self.pool.rest_idle(IDLE_SECONDS)
            if key_seconds:
                await self.sign_out.evict_idle(key_seconds)

    def _may_execute(self, uuid: UserUuid) -> bool:
        return self.gatekeeper.free_is_full or self.sessions.is_paid(uuid)

    def _holds_credits(self, uuid: UserUuid) -> bool:
        return self.sessions.holds_credits(uuid) or self.reservations.has_left(uuid)

    async def _decide_unknown_costs(self, workspace: Workspace, held: Collection[str], are_all: bool) -> None:
        most_micros = int(self.settings.unknown_costs_per_day * MICROS)
        await self.engine.write(workspace, commands.decide_unknown_costs, most_micros, held, are_all=are_all)

    def _calls_per_day(self, uuid: UserUuid) -> int | None:
        return self.sessions.calls_per_day_of(uuid)

    def _halted(self, uuid: UserUuid) -> None:
        self.deliveries.look(uuid)
        self.run_events.look(uuid)

    async def _tell_if_low(self, uuid: UserUuid) -> None:
        if self.webhooks.url is None:
            return
        # The next call that ends looks again.
        with suppress(CarrelError):
            added = await self.accounts.read(uuid, ledger.low, int(self.settings.low_credits * MICROS))
            if added is not None:
                await self.webhooks.tell(uuid, Event("credits.low", added, {}))

    async def _deactivated(self, uuid: UserUuid) -> None:
        if not self.gatekeeper.free_is_full:
            await self.engine.deactivated(uuid)

    async def stop(self) -> None:
        """Close every database and zero every key."""
        # The last one first; what fails keeps none of the others from closing.
        async with AsyncExitStack() as ending:
            ending.callback(self.folder.unlock)
            if self.cluster_membership is not None:
                ending.push_async_callback(self.cluster_membership.leave)
            ending.callback(self.service.close)
            ending.callback(self.accounts.close)
            ending.push_async_callback(self.reservations.close)
            ending.push_async_callback(self.hold_sweep.stop)
            ending.push_async_callback(self.pool.close)
            ending.push_async_callback(self.workers.close)
            ending.push_async_callback(self.report_workers.close)
            ending.push_async_callback(self.compiler.stop)
            ending.callback(self.tables.stop)
            ending.push_async_callback(self.intake.stop)
            ending.push_async_callback(self.network.close)
            ending.push_async_callback(self.registry.close)
            ending.push_async_callback(self.github.close)
            ending.push_async_callback(self.webhooks.stop)
            ending.push_async_callback(self.exports.stop)
            ending.push_async_callback(self.deliveries.stop)
            ending.push_async_callback(self.retention.stop)
            ending.push_async_callback(self.caller.stop)
            ending.push_async_callback(self.engine.stop)
            ending.push_async_callback(self.sessions.stop)
            ending.push_async_callback(self.sign_out.stop)
            if self.cluster_membership is not None:
                ending.push_async_callback(self.cluster_membership.stop_moving)
            await cancel(self._idle)


def _later(seconds: float, do: Callable[[], None]) -> asyncio.TimerHandle:
    return asyncio.get_running_loop().call_later(seconds, do)
