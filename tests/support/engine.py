"""The run engine over a real encrypted workspace, without the web around it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec

from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.processes.worker import Worker
from carrel.kit.sqlite.database import Connection
from carrel.presets.configuration import Configuration
from carrel.providers.base import Provider
from carrel.providers.connections.network import Network
from carrel.providers.local import LocalProvider
from carrel.providers.registry import Registry
from carrel.providers.remote import Remote
from carrel.runs.creation import snapshot
from carrel.runs.engine import commands, jobs
from carrel.runs.engine.dependencies import EngineDependencies
from carrel.runs.engine.engine import Engine
from carrel.runs.model.schemas import Run, RunIn
from carrel.runs.model.setup import RunId
from carrel.runs.progress import store
from carrel.runs.progress.hub import Hub
from carrel.vault.files import Format
from carrel.vault.keyring import Keyring, UserUuid
from carrel.vault.pool import WorkspacePool
from carrel.vault.workspace import Workspace
from tests.support.fast_time import FastTime
from tests.support.limits import scheduler
from tests.support.workspace import SETTINGS, write

P = ParamSpec("P")
T = TypeVar("T")

UUID = UserUuid("reader-0001")
WAIT_SECONDS = 60.0


def key_of(password: str = "first") -> bytearray:
    return bytearray(hashlib.sha256(password.encode()).digest())


class WorkerHere(Worker):
    """Runs things at once instead of in a process, which takes half a second to start."""

    async def run(self, fn: Callable[..., Any], *args: object, timeout_seconds: float | None = None) -> Any:
        return fn(*args)


class WorkersHere(WorkerPool):
    """Workers that run things at once."""

    def new_worker(self) -> Worker:
        return WorkerHere(self._jobs, self._bounds)


class EngineHarness:
    """One process's engine and one signed-in user. `process()` gives the next process over the same files."""

    def __init__(
        self,
        folder: Path,
        provider: Provider,
        remote: Callable[[Network], list[Remote]] = lambda _: [],
        limits: Mapping[str, int] | None = None,
        time: FastTime | None = None,
    ) -> None:
        self.time = time
        self.folder = folder
        self.limits = limits
        self.provider = provider
        self.remote = remote
        self.naps: list[float] = []
        self.open()

    def open(self) -> None:
        """The next process over the same files."""
        clock = SystemClock() if self.time is None else self.time.clock
        hub = Hub(per_user=8)
        self.pool = WorkspacePool(
            Keyring(hub.notify), lambda _: self.folder / "workspace.db", form=Format(clock, uuid7_factory(clock))
        )
        self.workers = WorkersHere(jobs.JOBS, 1, clock)
        self.network = Network()
        self._connected = self.remote(self.network)
        self.registry = Registry([self.provider, LocalProvider(self.workers)], self._connected)
        self.scheduler = scheduler(16, self.limits) if self.time is None else self.time.scheduler(16)
        means = EngineDependencies(
            self.registry, self.workers, self.scheduler, self.network.room, clock, self.nap, texts=hub.texts
        )
        self.engine = Engine(self.pool, means, hub)
        self.pool.subscribe(self.engine)

    async def nap(self, seconds: float) -> None:
        self.naps.append(seconds)
        await (asyncio.sleep(0) if self.time is None else self.time.sleep(seconds))

    async def sign_in(self, password: str = "first") -> None:
        await self.pool.admit(UUID, key_of(password), create=True)
        await self.pool.announce(UUID)

    async def end(self) -> None:
        """The process ends as it should."""
        await self.engine.stop()
        await self._close()

    async def die(self) -> None:
        """The process ends at once: nothing is written any more."""
        works = [work for works in self.engine._active.values() for work in works.values()]
        for work in works:
            work.task.cancel()
        if works:
            await asyncio.wait([work.task for work in works])
        await self.engine.batching.stop_all()
        await self._close()

    async def _close(self) -> None:
        for provider in self._connected:
            await provider.close()
        await self.network.close()
        await self.workers.close()
        await self.pool.close()

    async def restart(self, password: str = "first") -> None:
        """The next process over the same files, and the user signs in again."""
        self.open()
        await self.sign_in(password)

    # Runs -----------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def workspace(self) -> AsyncIterator[Workspace]:
        async with self.pool.leased(UUID) as workspace:
            yield workspace

    async def write(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        async with self.workspace() as workspace:
            return await self.engine.write(workspace, fn, *args, **kwargs)

    async def read(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        async with self.workspace() as workspace:
            return await workspace.scan(fn, *args, **kwargs)

    async def rows(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        return await self.read(lambda conn: conn.all(sql, *params))

    async def make(self, **changes: Any) -> RunId:
        """A pending run of two documents, two candidates, one judge who scores and compares; `changes` to it."""
        configuration = await self.write(small_configuration, **changes)
        return await self.write(snapshot.create, RunIn(configuration=configuration), self.registry, SETTINGS)

    async def start(self, **changes: Any) -> RunId:
        run_id = await self.make(**changes)
        await self.write(commands.start, run_id)
        return run_id

    async def run(self, run_id: RunId) -> Run:
        return await self.read(store.get, run_id)

    async def until(self, run_id: RunId, *states: str) -> Run:
        """Wait until the run is in one of these states, and at rest unless that is `running`."""
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                run = await self.run(run_id)
                if run.state in states and (run.quiesced or run.state == "running"):
                    return run
                await self.moved(run_id)

    async def finished(self, **changes: Any) -> Run:
        """A run taken to its end."""
        return await self.ended(await self.start(**changes))

    async def ended(self, run_id: RunId) -> Run:
        return await self.until(run_id, "completed", "completed_with_errors", "failed", "cancelled")

    async def idle(self) -> None:
        """Wait until no run is being worked on."""
        async with asyncio.timeout(WAIT_SECONDS):
            while self.engine.active_runs:
                await asyncio.sleep(0.01)

    async def moved(self, run_id: RunId) -> None:
        """Wait for the next commit about the run."""
        with self.engine.hub.subscribed(UUID, run_id) as news:
            try:
                async with asyncio.timeout(0.05):
                    await news.wait()
            except TimeoutError:
                return


@asynccontextmanager
async def engine_harness(
    folder: Path,
    provider: Provider,
    remote: Callable[[Network], list[Remote]] = lambda _: [],
    limits: Mapping[str, int] | None = None,
    time: FastTime | None = None,
) -> AsyncIterator[EngineHarness]:
    """A bench with its user signed in, ended at the end. `limits` are of calls at once, by provider."""
    folder.mkdir(parents=True, exist_ok=True)
    made = EngineHarness(folder, provider, remote, limits, time)
    await made.sign_in()
    try:
        yield made
    finally:
        await made.end()


def small_configuration(
    conn: Connection,
    /,
    *,
    documents: int = 2,
    models: tuple[str, ...] = ("test:one", "test:two"),
    judges: tuple[str, ...] = ("test:judge",),
    repeats: int = 1,
    **changes: Any,
) -> Configuration:
    """A configuration and its contents. `changes` are further fields, those of `limits` and `comparison` as dicts."""
    inputs = [
        write(conn, f"Document number {n} says something.", kind="input_document", name=f"Document {n}").id
        for n in range(1, documents + 1)
    ]
    instructions = write(conn, "Summarise this.\n\n{{document}}", kind="generation_instructions").id
    criteria = write(conn, "- name: Coverage\n- name: Clarity", kind="criteria").id
    bench_ = [{"model": model} for model in judges]
    raw: dict[str, Any] = {
        "inputs": inputs,
        "instructions": instructions,
        "generation": {"candidates": [{"model": model} for model in models], "repeats": repeats},
        "scoring": {"judges": bench_, "criteria": criteria},
        "comparison": {"judges": bench_},
    }
    for field, value in changes.items():
        raw[field] = raw.get(field, {}) | value if isinstance(value, dict) else value
    raw = {field: value for field, value in raw.items() if value is not None}
    return msgspec.convert(raw, Configuration)
