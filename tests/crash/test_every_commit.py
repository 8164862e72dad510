"""The process dies at every commit of a run of sixty tasks in turn, before it or right after it, and with its calls in
flight. Whatever the instant: the next process ends the run as if nothing had happened, and pays for nothing twice.

Dying is an end of all writing here: nothing that the first process does after its crash reaches the file. `make soak`
does the same with SIGKILL (`test_campaign.py`).
"""

import asyncio
import shutil
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

from carrel.keys import store as keys
from carrel.keys.store import ProviderKeyIn
from carrel.kit.clock import SystemClock
from carrel.kit.sqlite.database import Connection, transaction
from carrel.providers.base import Answer, ModelRequest
from carrel.providers.catalogue import KNOWN
from carrel.providers.connections.network import Network
from carrel.providers.http_provider import HttpProvider
from carrel.providers.remote import Remote
from carrel.runs.engine import commands
from carrel.runs.model.setup import RunId
from carrel.vault import write_queue
from carrel.vault.workspace import WorkspaceClosed
from tests.support.engine import EngineHarness, engine_harness
from tests.support.model_server import Counts, Fault, Running, model_server, prompt_of
from tests.support.models import TestModels, honest
from tests.support.run_results import Books, books_of, result_of

When = Literal["before", "after"]

TASKS = 60
SETUP: dict[str, Any] = {"documents": 10, "limits": {"concurrency": 4}}
"""Ten documents, two candidates, one judge: 20 answers, 20 scores, 20 comparisons."""


class Crash:
    """Stands in for the workspace's `transaction`: the process dies at number `at`, or when `strike` is called."""

    def __init__(self, at: int | None = None, when: When = "after") -> None:
        self.commits = 0
        self.dead = False
        self._at = at
        self._when = when

    def strike(self) -> None:
        self.dead = True

    @contextmanager
    def transaction(self, connection: Connection) -> Iterator[Connection]:
        if self.dead:
            raise WorkspaceClosed
        self.commits += 1
        now = self.commits == self._at
        if now and self._when == "before":
            self.dead = True
            raise WorkspaceClosed
        with transaction(connection):
            yield connection
        # A call in flight may have killed the process meanwhile: what was committed stands, and nobody hears of it.
        self.dead = self.dead or now
        if self.dead:
            raise WorkspaceClosed


def strike_from(call: int, crash: Crash, number: int) -> None:
    """The process dies at this call, and at each later one."""
    if number >= call:
        crash.strike()


class Asked:
    """Models that cost an unknown amount, and who dies at which of their calls."""

    def __init__(self) -> None:
        self.models = TestModels(self._answer)
        # Not the reserved name: calls of that one are free, so their loss would cost nothing.
        self.models.name = "paid_"
        self.on_call: Callable[[int], None] = lambda _: None

    def _answer(self, request: ModelRequest) -> Answer:
        self.on_call(len(self.models.asked))
        return honest(request)

    def counts(self) -> Counter[bytes]:
        """How often each prompt was asked."""
        return Counter(prompt_of(repr((asked.model, asked.prompt)).encode()) for asked in self.models.asked)


class Undisturbed(NamedTuple):
    """A run that is ready to be started, copied for each crash, and how it ends if nobody dies."""

    folder: Path
    run_id: RunId
    commits: int
    result: list[tuple[Any, ...]]
    books: Books


def over_http(server: Running, network: Network) -> list[Remote]:
    """What the next process calls the server with."""
    known = KNOWN["openai"]
    return [HttpProvider("openai", known, network, connections=16, rules=(server.host,), clock=SystemClock())]


@asynccontextmanager
async def paid(folder: Path) -> AsyncIterator[tuple[EngineHarness, Asked]]:
    asked = Asked()
    async with engine_harness(folder, asked.models) as harness:
        yield harness, asked


async def prepare(harness: EngineHarness, folder: Path, **changes: Any) -> RunId:
    """A pending run; its workspace is copied to `folder`."""
    run_id: RunId = await harness.make(**SETUP | changes)
    await harness.end()
    shutil.copytree(harness.folder, folder)
    await harness.restart()
    return run_id


async def run_to_completion(harness: EngineHarness, run_id: RunId, crash: Crash) -> None:
    """Start the run and work on it until it has ended or the process is dead."""
    with suppress(WorkspaceClosed):
        await harness.write(commands.start, run_id)
    await at_work(harness, crash)


async def at_work(harness: EngineHarness, crash: Crash) -> None:
    """Until nobody works on the run, or the process is dead."""
    while harness.engine.active_runs and not crash.dead:
        await asyncio.sleep(0.001)


async def resumed(harness: EngineHarness, run_id: RunId) -> None:
    """The next process, which takes the run to its end."""
    await harness.restart()
    # It may have died before anybody was told that the run had been started.
    if (await harness.run(run_id)).state == "pending":
        await harness.write(commands.start, run_id)
    assert (await harness.ended(run_id)).state == "completed"


async def hold(harness: EngineHarness, undisturbed: Undisturbed, at: object) -> Books:
    """The run came to the same, and its books say what it paid for and what nobody knows."""
    assert await result_of(harness) == undisturbed.result, at
    books = await books_of(harness)
    assert books.answered_twice == [], at
    assert books.answered == TASKS, at
    assert books.tokens == undisturbed.books.tokens, at
    assert books.rows == TASKS + books.unknown_outcome, at
    assert books.unknown_cost == undisturbed.books.unknown_cost + books.unknown_outcome, at
    assert books.lost_in_log, at
    return books


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Callable[[Crash | None], None]:
    """From now on, commits die as `Crash` says; `None`: none does."""

    def arrange(crash: Crash | None) -> None:
        monkeypatch.setattr(write_queue, "transaction", crash.transaction if crash is not None else transaction)

    return arrange


@pytest.fixture
async def undisturbed(tmp_path: Path, dying: Callable[[Crash | None], None]) -> Undisturbed:
    async with paid(tmp_path / "undisturbed") as (harness, _):
        run_id = await prepare(harness, tmp_path / "ready", models=("paid_:one", "paid_:two"), judges=("paid_:judge",))
        return await _undisturbed(harness, tmp_path / "ready", run_id, dying)


async def _undisturbed(
    harness: EngineHarness, ready: Path, run_id: RunId, dying: Callable[[Crash | None], None]
) -> Undisturbed:
    nobody = Crash()
    dying(nobody)
    await run_to_completion(harness, run_id, nobody)
    dying(None)
    assert (await harness.run(run_id)).progress.succeeded == TASKS
    return Undisturbed(ready, run_id, nobody.commits, await result_of(harness), await books_of(harness))


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with model_server() as server:
        yield server


@pytest.fixture
def no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading the machine's, of no use here, would take as long as the calls."""
    monkeypatch.setattr("ssl.create_default_context", lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))


async def undisturbed_over_http(
    folder: Path, server: Running, dying: Callable[[Crash | None], None]
) -> tuple[Undisturbed, Counts]:
    """The run, and what the server was asked."""
    async with engine_harness(folder / "undisturbed", TestModels(), partial(over_http, server)) as harness:
        key = ProviderKeyIn(provider="openai", key=server.key, base_url=server.base_url)
        await harness.write(keys.put, key, (server.host,))
        run_id = await prepare(
            harness,
            folder / "ready",
            models=("openai:alpha", "openai:beta"),
            judges=("openai:judge-one",),
            # More at once are fewer commits for so many real calls.
            limits={"concurrency": 8},
        )
        server.forget()
        return await _undisturbed(harness, folder / "ready", run_id, dying), server.counts()


@asynccontextmanager
async def died_over_http(
    folder: Path, server: Running, undisturbed: Undisturbed, dying: Callable[[Crash | None], None], crash: Crash
) -> AsyncIterator[EngineHarness]:
    """The next process over the same files, in which the run has ended."""
    server.forget()
    shutil.copytree(undisturbed.folder, folder)
    async with engine_harness(folder, TestModels(), partial(over_http, server)) as harness:
        dying(crash)
        await run_to_completion(harness, undisturbed.run_id, crash)
        await harness.die()
        dying(None)
        await resumed(harness, undisturbed.run_id)
        yield harness
    shutil.rmtree(folder)


@pytest.mark.usefixtures("no_certificates")
async def test_dying_at_any_commit_repeats_no_answered_call_over_http(
    tmp_path: Path, dying: Callable[[Crash | None], None], server: Running
) -> None:
    """Every third commit, before and after it by turns; below, without HTTP, it is every one.

    What is on the books is held against what the server was really asked.
    """
    server.faults()
    undisturbed, once = await undisturbed_over_http(tmp_path, server, dying)
    assert once.completed == TASKS
    for at in range(1, 300, 3):
        crash = Crash(at, "before" if at % 2 else "after")
        async with died_over_http(tmp_path / f"{at}", server, undisturbed, dying, crash) as harness:
            books = await hold(harness, undisturbed, at)
            counts = server.counts()
        assert counts.started <= books.rows, "no call is made that is not on the books"
        assert counts.repeated(once) <= books.unknown_outcome, "what was committed is not asked for again"
        if not crash.dead:
            break
    assert at > 20


@pytest.mark.usefixtures("no_certificates")
async def test_dying_among_failed_and_malformed_calls_changes_no_result(
    tmp_path: Path, dying: Callable[[Crash | None], None], server: Running
) -> None:
    server.faults(Fault("status", every=5, times=1, status=429, retry_after="1"), Fault("malformed", every=3))
    undisturbed, _ = await undisturbed_over_http(tmp_path, server, dying)
    assert undisturbed.books.rows > TASKS + 10
    for at in range(2, undisturbed.commits, 9):
        crash = Crash(at, "after")
        async with died_over_http(tmp_path / f"{at}", server, undisturbed, dying, crash) as harness:
            assert await result_of(harness) == undisturbed.result, at
            books = await books_of(harness)
            assert (books.answered, books.answered_twice, books.lost_in_log) == (TASKS, [], True), at
            assert server.counts().started <= books.rows, at


@pytest.mark.parametrize("when", ["before", "after"])
async def test_dying_at_any_commit_changes_nothing_in_the_end(
    tmp_path: Path, undisturbed: Undisturbed, dying: Callable[[Crash | None], None], when: When
) -> None:
    lost = crashes = 0
    for at in range(1, 200):
        crash = Crash(at, when)
        folder = shutil.copytree(undisturbed.folder, tmp_path / f"{at}")
        async with paid(folder) as (harness, asked):
            dying(crash)
            await run_to_completion(harness, undisturbed.run_id, crash)
            await harness.die()
            dying(None)
            await resumed(harness, undisturbed.run_id)
            books = await hold(harness, undisturbed, at)
            repeated = sum(times - 1 for times in asked.counts().values())
            assert repeated <= books.unknown_outcome, at
            lost += books.unknown_outcome
        shutil.rmtree(folder)
        if not crash.dead:
            break
        crashes += 1
    assert crashes >= 30
    # Not of every crash: with the last answer of a phase nothing is in flight.
    assert lost > crashes


async def test_dying_while_calls_are_in_flight_loses_these_and_no_other(
    tmp_path: Path, undisturbed: Undisturbed, dying: Callable[[Crash | None], None]
) -> None:
    for call in range(1, TASKS + 1, 4):
        folder = shutil.copytree(undisturbed.folder, tmp_path / f"{call}")
        async with paid(folder) as (harness, asked):
            crash = Crash()
            asked.on_call = partial(strike_from, call, crash)
            dying(crash)
            await run_to_completion(harness, undisturbed.run_id, crash)
            await harness.die()
            dying(None)
            await resumed(harness, undisturbed.run_id)
            books = await hold(harness, undisturbed, call)
            assert 1 <= books.unknown_outcome <= 4
        shutil.rmtree(folder)


async def test_dying_again_and_again_ends_all_the_same(
    tmp_path: Path, undisturbed: Undisturbed, dying: Callable[[Crash | None], None]
) -> None:
    """Each process gets as far as its third commit; the first of them is what it writes about the one before."""
    folder = shutil.copytree(undisturbed.folder, tmp_path / "again")
    async with paid(folder) as (harness, asked):
        processes = 0
        while True:
            crash = Crash(3, "after")
            dying(crash)
            if processes:
                await harness.restart()
                await at_work(harness, crash)
            else:
                await run_to_completion(harness, undisturbed.run_id, crash)
            if not crash.dead:
                break
            processes += 1
            await harness.die()
        dying(None)
        assert (await harness.run(undisturbed.run_id)).state == "completed"
        assert processes > 10
        books = await hold(harness, undisturbed, processes)
        assert sum(times - 1 for times in asked.counts().values()) <= books.unknown_outcome
