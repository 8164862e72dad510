"""One run under way: claim, call, commit, until the rows say that it is not to go on.

Nothing that matters is kept here: the process may end between any two lines.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from msgspec.structs import replace

from carrel.kit.clock import Clock
from carrel.kit.processes.worker import Worker
from carrel.kit.sqlite.database import Connection
from carrel.providers import keys
from carrel.providers.base import Access, ProviderError, Request
from carrel.providers.registry import Registry, is_free, needs_key, provider_of
from carrel.runs.costs import quotes
from carrel.runs.engine.payer import Funds, Payer
from carrel.runs.judging import evidence, judgement
from carrel.runs.judging.judgement import Packed
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.scheduling.concurrency import Concurrency
from carrel.runs.scheduling.permits import Permits
from carrel.runs.scheduling.scheduler import FairScheduler
from carrel.runs.tasks import claims, outcomes, phases
from carrel.runs.tasks.attempts import Attempt, Failed, Result, request, result
from carrel.runs.tasks.claims import HALTED, Ahead
from carrel.runs.tasks.outcomes import Measured
from carrel.vault.workspace import Workspace

T = TypeVar("T")
P = ParamSpec("P")

_LONG_CHARACTERS = 100_000
"""From here on a prompt is put together in a thread: its fence is looked for in every text."""

_BEGUN_AT_ONCE = 8
_LONG_REST_SECONDS = 10.0
"""A task that rests longer leaves its place to others. One that rests for less keeps it: while a provider is down for a
moment, a run is not to use up the attempts of more and more tasks."""


class EngineDependencies(NamedTuple):
    """What every run of the process works with. `scheduler` shares the calls in flight between all runs."""

    registry: Registry
    worker: Worker
    scheduler: FairScheduler
    clock: Clock
    sleep: Callable[[float], Awaitable[None]]
    funds: Funds | None = None


class RunDriver:
    """The work on one run of one user, in one open workspace. `told` is called after every commit."""

    def __init__(
        self, workspace: Workspace, seq: int, run_id: RunId, means: EngineDependencies, told: Callable[[], None]
    ) -> None:
        self.run_id = run_id
        self.over = False
        self._workspace = workspace
        self._seq = seq
        self._means = means
        self._told = told
        self._setup: Setup | None = None
        self._news = asyncio.Event()
        self._hurry = asyncio.Event()
        self._held = False
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._to_begin: set[str] = set()
        """The tasks that are claimed and whose calls have not been begun."""
        self._called: dict[str, str] = {}
        """The last call that was made for each task that is attended to."""
        self._may_call = asyncio.Event()
        self._may_call.set()
        self._standing = 0
        self._permits = Permits(means.scheduler, workspace.uuid, run_id, self._news.set)
        self._holding: dict[str, str] = {}
        """The tasks whose calls hold a permit, and of which provider."""
        self._concurrency = Concurrency(self._news.set)
        self._payer = Payer(workspace, means.funds, self._relieved)
        self._short = False
        """The next call could cost more than there is to spend, until one under way has ended."""
        self._reliefs = 0

    def wake(self) -> None:
        """Somebody changed the rows: look at them again."""
        self._setup = None
        self._news.set()
        # Wakes whoever waits between two attempts; what comes to rest later is not concerned.
        self._hurry.set()
        self._hurry.clear()

    @contextmanager
    def standing_still(self) -> Iterator[Collection[str]]:
        """For a block, no call is made. The calls that were made; all others that the rows tell of are yet to be."""
        self._standing += 1
        self._may_call.clear()
        try:
            yield frozenset(self._called.values())
        finally:
            self._standing -= 1
            if not self._standing:
                self._may_call.set()

    def drop(self, task_key: str | None) -> None:
        """Nobody wants the result of this task any more, or of any task."""
        self._to_begin = set[str]() if task_key is None else self._to_begin - {task_key}
        for key, call in self._calls.items():
            if task_key in (None, key):
                call.cancel()

    def hold(self) -> None:
        """Begin nothing more; the drive ends when the calls in flight have."""
        self._held = True
        self.wake()

    async def run(self) -> None:
        """Work until the run has ended, is paused, or `hold` was called. Cancelling it cancels its calls.

        Raises:
            ExceptionGroup: a commit failed; calls in flight were cancelled.
        """
        self.over = False
        self._payer.begin()
        try:
            async with asyncio.TaskGroup() as group:
                while not await self._step(group):
                    pass
                # Nothing is awaited between the last look at the news and this.
                self.over = True
        finally:
            self.over = True
            self._permits.settle({})
            self._payer.end()

    async def _step(self, group: asyncio.TaskGroup) -> bool:
        """Do what can be done now; whether there is nothing more to do."""
        self._news.clear()
        ahead = self._look_ahead()
        ready = self._permits.settle(Counter(provider for provider in ahead.providers if provider is not None))
        if ready or None in ahead.providers:
            await self._claim(group)
        elif self._calls or ahead.then == "more":
            await self._news.wait()
        elif ahead.then == "halted":
            return not self._news.is_set()
        else:
            await self._advance()
        return False

    def _look_ahead(self) -> Ahead:
        if self._setup is None:
            self._setup = self._workspace.read(setups.load, self._seq)
        setup = self._setup
        if setup is None or self._held:
            return HALTED
        room = 0 if self._short else self._concurrency.room(setup.concurrency)
        return self._workspace.read(claims.ahead, setup, room)

    def _relieved(self) -> None:
        """There may be more to spend than before."""
        self._short = False
        self._reliefs += 1
        self._news.set()

    async def _claim(self, group: asyncio.TaskGroup) -> None:
        """Begin as many attempts as there are permits. Those of tasks that need no call are kept for others."""
        setup = self._setup
        if setup is None:
            return
        permits = self._permits.take()
        self._concurrency.claiming(permits.total(), setup.concurrency)
        try:
            reliefs = self._reliefs
            attempts, short = await self._write(claims.claim, setup, permits, self._payer.markup)
            self._to_begin = {attempt.key for attempt in attempts}
            # What it would wait for may have come while this was committed.
            self._short = short and reliefs == self._reliefs
            refused = await self._payer.afford(attempts)
            if refused:
                self._short = self._payer.may_come
                await self._write(claims.withdraw, setup, refused, pause=not self._short)
            for number, attempt in enumerate((one for one in attempts if one not in refused), start=1):
                if attempt.key in self._to_begin:
                    permits[provider_of(attempt.model)] -= 1
                    self._begin(group, setup, attempt)
                else:
                    self._payer.done(attempt.key)
                if number % _BEGUN_AT_ONCE == 0:
                    # Others want the loop too, and every call has to be put together.
                    await asyncio.sleep(0)
        finally:
            self._permits.keep(permits)
            self._concurrency.claiming(0, setup.concurrency)

    def _begin(self, group: asyncio.TaskGroup, setup: Setup, attempt: Attempt) -> None:
        """Begin a task, with a permit. A task that is cancelled before its first step releases its permit, too."""
        self._holding[attempt.key] = provider_of(attempt.model)
        self._concurrency.take(attempt.key)
        call = self._calls[attempt.key] = group.create_task(self._attend(setup, attempt))
        call.add_done_callback(lambda _: self._ended(attempt.key, setup))

    def _ended(self, key: str, setup: Setup) -> None:
        self._payer.done(key)
        self._release_permit(key)
        self._concurrency.leave(key, setup.concurrency)
        del self._calls[key]
        self._called.pop(key, None)
        self._relieved()

    def _release_permit(self, key: str) -> None:
        provider = self._holding.pop(key, None)
        if provider is not None:
            self._permits.release(provider)

    async def _attend(self, setup: Setup, attempt: Attempt) -> None:
        """See one task through, attempt by attempt, with a permit while it calls."""
        going: Attempt | None = attempt
        while going is not None:
            found, measured = await self._call(setup, going)
            self._release_permit(attempt.key)
            then = await self._write(outcomes.commit, setup, going, found, measured)
            self._payer.done(attempt.key)
            going = await self._again(setup, going, then.wait_seconds) if then.do == "again" else None

    async def _again(self, setup: Setup, attempt: Attempt, wait_seconds: float) -> Attempt | None:
        """The next attempt, with a permit; `None` if it is not to be made now."""
        rested = not wait_seconds or await self._rest(setup, attempt.key, wait_seconds)
        if not (rested and await self._take_permit(attempt)):
            await self._write(claims.put_back, setup, attempt)
            return None
        following = await self._write(claims.again, setup, attempt, self._payer.markup)
        refused = [] if following is None else await self._payer.afford([following])
        if refused:
            # The ordinary way will find it, and wait or pause.
            await self._write(claims.withdraw, setup, refused, pause=False)
            return None
        return following

    async def _rest(self, setup: Setup, key: str, seconds: float) -> bool:
        """Let others of the run be at work if it is for long; False if the run is halted before it goes on."""
        if seconds <= _LONG_REST_SECONDS:
            return await self._unless_halted(self._means.sleep(seconds))
        self._concurrency.rest(key, setup.concurrency)
        return await self._unless_halted(self._means.sleep(seconds)) and await self._unless_halted(
            self._concurrency.back(key, setup.concurrency)
        )

    async def _take_permit(self, attempt: Attempt) -> bool:
        """Wait for a permit; False if the run is halted meanwhile."""
        provider = provider_of(attempt.model)
        with ExitStack() as undo:
            permit = self._permits.single(provider)
            undo.callback(permit.withdraw)
            if not await self._unless_halted(permit.there.wait()):
                return False
            undo.pop_all()
        self._holding[attempt.key] = provider
        return True

    async def _unless_halted(self, waiting: Awaitable[object]) -> bool:
        """Wait for something; False if the run is not to go on before it has come."""
        waited = asyncio.ensure_future(waiting)
        try:
            while not waited.done():
                if self._look_ahead().then == "halted":
                    return False
                hurry = asyncio.ensure_future(self._hurry.wait())
                try:
                    await asyncio.wait({waited, hurry}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    hurry.cancel()
        finally:
            waited.cancel()
        return True

    async def _call(self, setup: Setup, attempt: Attempt) -> tuple[Result, Measured]:
        provider = self._means.registry.provider_of(attempt.model)
        if provider is None:
            return Failed("model-unknown", retryable=False), Measured(None, 0, 0)
        asked = await self._request(setup, attempt)
        if needs_key(attempt.model):
            asked = replace(asked, access=self._access(setup, provider_of(attempt.model)))
        await self._may_call.wait()
        self._called[attempt.key] = attempt.call_id
        begun = self._means.clock.monotonic()
        usage = None
        unbilled = is_free(attempt.model)
        found: Result
        limiter, caller = self._means.scheduler.limiter, (self._workspace.uuid, provider_of(attempt.model))
        try:
            answer = await provider.complete(asked)
            found, usage = result(attempt, answer), answer.usage
            limiter.answered(*caller, None if usage is None else usage.read_tokens + usage.output_tokens)
        except ProviderError as error:
            found = Failed(error.code, error.retryable, error.retry_after_seconds)
            unbilled = unbilled or error.unbilled
            limiter.failed(*caller, error, begun)
        latency_ms = round((self._means.clock.monotonic() - begun) * 1000)
        cost_micros = 0 if unbilled else None
        if not unbilled and usage is not None and attempt.price is not None:
            cost_micros = attempt.price.cost_micros(usage)
        credit_micros = None if cost_micros is None else quotes.credits_of(cost_micros, self._payer.markup)
        return found, Measured(usage, cost_micros, latency_ms, credit_micros)

    def _access(self, setup: Setup, provider: str) -> Access | None:
        if setup.billing == "credits":
            return self._payer.access(provider)
        return self._workspace.read(keys.access, provider)

    async def _request(self, setup: Setup, attempt: Attempt) -> Request:
        if len(attempt.matter.document) < _LONG_CHARACTERS:
            return request(attempt, setup.fence, setup.timeout_seconds)
        return await asyncio.to_thread(request, attempt, setup.fence, setup.timeout_seconds)

    async def _advance(self) -> None:
        """Everything that was planned is done: look at it, go on to the next phase, or end the round."""
        setup = self._workspace.read(setups.load, self._seq)
        if setup is None:
            return
        # A worker that dies must not leave a finished run without its ranking.
        judge = self._means.worker.run_or_here
        present = self._workspace.read(phases.present, setup)
        if phases.is_to_look(setup, present):
            found = await self._workspace.scan(_collect, setup)
            await self._write(phases.look, setup, decided=await judge(judgement.is_decided, found))
            return
        following = phases.following(setup, present)
        if following is None:
            await self._payer.settled()
            found = await self._workspace.scan(_collect, setup)
            await self._write(phases.finish, setup, await judge(judgement.conclude, found))
            return
        chosen = await self._workspace.scan(phases.choose, setup, following)
        await self._write(phases.enter, setup, following, chosen)

    async def _write(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        value = await self._workspace.write(fn, *args, **kwargs)
        self._told()
        return value


def _collect(conn: Connection, setup: Setup) -> Packed:
    return judgement.pack(evidence.collect(conn, setup))
