"""Drives one run that is under way: it claims tasks, calls models and commits results until the rows tell it to stop.

It keeps nothing that matters in memory: the process may end between any two lines.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractContextManager, ExitStack, suppress
from enum import Enum
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from carrel.errors import CarrelError, DiskFull, NotFound, Unavailable
from carrel.kit import logs, meters, traces
from carrel.kit.logs import tail
from carrel.kit.sqlite.database import Connection
from carrel.providers.registry import lane_of
from carrel.runs.checking import marks, results
from carrel.runs.costs.quotes import Credits
from carrel.runs.engine import answer_checks, commands, payer
from carrel.runs.engine.dependencies import EngineDependencies
from carrel.runs.engine.payer import Payer
from carrel.runs.engine.run_calls import Overdue, RunCalls
from carrel.runs.model import run_transitions, states
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.scheduling.concurrency import Concurrency
from carrel.runs.scheduling.permits import Permits
from carrel.runs.tasks import claims, outcomes, phases
from carrel.runs.tasks.attempts import Attempt, CallFailure, Result
from carrel.runs.tasks.claims import HALTED, Ahead
from carrel.runs.verdicts import evidence, judgement
from carrel.runs.verdicts.judgement import PackedEvidence
from carrel.vault.workspace import Workspace, WorkspaceClosed

T = TypeVar("T")
P = ParamSpec("P")

_BEGUN_AT_ONCE = 8
_LONG_REST_SECONDS = 10.0
"""A task that rests for longer gives its place to others. A task that rests for less keeps it: while a provider is down
for a moment, the run must not use up the attempts of more and more tasks."""
_RANKING_SECONDS = 600.0
"""The longest ranking, ten times as long as one for a request. One that takes longer is no result but a fault."""
SILENT_SECONDS = 30.0
"""After so long in which a provider answers no call, the run pauses."""
RETRY_SECONDS = 15.0
"""How long the driver waits after a failed commit before it tries again."""


class DriverState(Enum):
    """What a driver does. Only the driver sets it."""

    WORKING = "working"
    """The driver looks at the rows again after every change."""
    RETRYING = "retrying"
    """A commit failed. After a wait the driver looks at the rows again."""
    ENDED = "ended"
    """The driver does not look at the rows any more. If the run is to continue, it needs another driver."""


class RunDriver:
    """The work on one run of one user, in one open workspace. The driver calls `on_commit` after every commit.

    It calls `on_halted` if the run has halted and the driver only waits for the ends of calls that credits pay for, and
    `on_silent` if it has paused because a provider answers nothing.
    """

    def __init__(
        self,
        workspace: Workspace,
        seq: int,
        run_id: RunId,
        dependencies: EngineDependencies,
        on_commit: Callable[[], None],
        on_halted: Callable[[], None] = lambda: None,
        on_silent: Callable[[], None] = lambda: None,
    ) -> None:
        self.run_id = run_id
        self._state = DriverState.WORKING
        self._workspace = workspace
        self._seq = seq
        self._dependencies = dependencies
        self._on_commit = on_commit
        self._on_halted = on_halted
        self._on_silent = on_silent
        self._setup: Setup | None = None
        self._lanes: set[str] | None = None
        """In which its models are called; `None` if it has to be found out."""
        self._something_changed = asyncio.Event()
        self._rows_changed = asyncio.Event()
        self._draining = False
        self._working: dict[str, asyncio.Task[None]] = {}
        """The tasks that the driver works on, by their keys."""
        self._overdue: set[asyncio.Task[None]] = set()
        """The calls that go on although their tasks do not wait any longer, because credits pay for them."""
        self._to_begin: set[str] = set()
        """The tasks that are claimed and whose calls have not begun."""
        self._permits = Permits(dependencies.scheduler, workspace.uuid, run_id, self._something_changed.set)
        self._permit_of: dict[str, str] = {}
        """The tasks that have a permit, and the lane for which it is."""
        self._concurrency = Concurrency(self._something_changed.set)
        self._payer = Payer(workspace, dependencies.funds, self._on_money_freed)
        self._calls = RunCalls(workspace, dependencies, self._payer)
        self._short_of_money = False
        """The next call is one too many, or could cost more than the budget has left, until one under way has ended."""

    # What the engine asks -------------------------------------------------------------------------------------------

    @property
    def has_ended(self) -> bool:
        """Whether the driver no longer looks at the rows."""
        return self._state is DriverState.ENDED

    def wake(self) -> None:
        """Look at the rows again, because somebody changed them."""
        self._setup, self._short_of_money = None, False
        self._something_changed.set()
        # This wakes the tasks that wait now. Tasks that wait later read the new rows first.
        self._rows_changed.set()
        self._rows_changed.clear()

    def calls_suspended(self) -> AbstractContextManager[Collection[str]]:
        """For the length of a block, make no call; see `RunCalls.suspended`."""
        return self._calls.suspended()

    async def all_recorded(self) -> None:
        """Return when the ends of all calls under way are recorded; see `RunCalls.all_recorded`."""
        await self._calls.all_recorded()

    def cancel_calls(self, task_key: str | None) -> None:
        """Cancel the call of this task, or of every task, because nobody wants the result any more.

        A call that credits pay for goes on to its end, which tells what it cost.
        """
        self._to_begin = set[str]() if task_key is None else self._to_begin - {task_key}
        for key, working in self._working.items():
            if task_key in (None, key) and not self._calls.is_owed(key):
                working.cancel()

    def drain(self) -> None:
        """Begin nothing more. The driver ends when the calls in flight have ended, and does not retry."""
        self._draining = True
        self.wake()

    async def run(self) -> None:
        """Work until the run has ended or is paused, or `drain` was called; try again while commits fail.

        An error of our own pauses the run. Cancelling this cancels the run's calls.

        Raises:
            ExceptionGroup: something broke that a new try does not mend.
        """
        try:
            while await self._is_interrupted():
                self._state = DriverState.RETRYING
                await self._dependencies.sleep(RETRY_SECONDS)
                await self._clean_up(claims.release)
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._state = DriverState.ENDED
            await self._clean_up(commands.give_up)
            raise

    async def _is_interrupted(self) -> bool:
        """Work. Return whether the work ended because a commit failed that may succeed later."""
        closed = interrupted = False
        try:
            await self._work()
        except* WorkspaceClosed:
            closed = True
        except* (DiskFull, Unavailable):
            interrupted = True
        return interrupted and not closed and not self._draining

    async def _clean_up(self, write: Callable[[Connection, int, RunId], None]) -> None:
        """Write that nobody works on the run, and end its reservations. If that fails, the next opening does it."""
        with suppress(CarrelError):
            await self._workspace.write(write, self._seq, self.run_id)
            await payer.reconcile(self._dependencies.funds, self._workspace)

    # The run --------------------------------------------------------------------------------------------------------

    async def _work(self) -> None:
        """Do everything that the rows ask for.

        Raises:
            ExceptionGroup: a commit failed; calls in flight were cancelled.
        """
        self._state = DriverState.WORKING
        self._payer.begin()
        try:
            async with asyncio.TaskGroup() as group:
                while not await self._step(group):
                    pass
                # The code awaits nothing between the last look at the rows and this.
                self._state = DriverState.ENDED
            self._count_halt()
        finally:
            self._state = DriverState.ENDED
            self._permits.settle({})
            self._payer.end()

    def _count_halt(self) -> None:
        """Tell the operator how the run stands now: a state, a reason, and nothing of what it is about."""
        with suppress(NotFound):
            now = self._workspace.read(run_transitions.present, self.run_id)
            if now.state in states.ENDED or now.state == "paused":
                meters.RUNS.labels(now.state, now.pause_reason or "").inc()
                found = {"carrel.state": now.state, "carrel.reason": now.pause_reason or ""}
                traces.note("run", found, failed=now.state == "failed")
            if now.state == "failed" or now.pause_reason == "provider":
                who = tail(self._workspace.uuid)
                logs.warning("run-halted", run=self.run_id, user=who, state=now.state, reason=now.pause_reason)

    async def _step(self, group: asyncio.TaskGroup) -> bool:
        """Do what can be done now. Return whether nothing is left to do."""
        self._something_changed.clear()
        ahead = self._look_ahead()
        ready = self._permits.settle(Counter(lane for lane in ahead.lanes if lane is not None))
        if ready or None in ahead.lanes:
            await self._claim(group)
        elif self._working or ahead.then == "more":
            await self._something_changed.wait()
        elif ahead.then == "halted":
            if not self._overdue:
                return not self._something_changed.is_set()
            self._on_halted()
            await self._something_changed.wait()
        else:
            await self._advance()
        return False

    def _look_ahead(self) -> Ahead:
        if self._setup is None:
            self._setup, self._lanes = self._workspace.read(setups.load, self._seq), None
        setup = self._setup
        if setup is None or self._draining:
            return HALTED
        room = 0 if self._short_of_money else self._concurrency.room(setup.concurrency)
        return self._workspace.read(claims.ahead, setup, room, self._held_lanes(setup))

    def _held_lanes(self, setup: Setup) -> set[str]:
        """The lanes of the run in which a provider refuses calls now."""
        limiter, user = self._dependencies.scheduler.limiter, self._workspace.uuid
        if self._lanes is None:
            models = [*(one.model for one in setup.candidates), *(one.model for one in setup.round.judges)]
            self._lanes = {lane_of(model) for model in models if model is not None}
        return {lane for lane in self._lanes if limiter.held_seconds(user, lane)}

    async def _advance(self) -> None:
        """All planned tasks are done: look at the results, enter the next phase, or end the round."""
        setup = self._workspace.read(setups.load, self._seq)
        if setup is None:
            return
        # A run needs its ranking: this process computes it if the worker dies. One that takes too long pauses the run.
        judge = partial(self._dependencies.workers.run_or_here, self._workspace.uuid, timeout_seconds=_RANKING_SECONDS)
        made = await answer_checks.make_next(self._workspace, self._dependencies.workers, setup)
        if made is not None:
            if not self._draining:  # Otherwise the worker may have ended in the middle of them.
                await self._write(marks.put, setup, made)
            return
        present = self._workspace.read(phases.present, setup)
        if phases.is_to_look(setup, present):
            found = await self._workspace.scan(_collect, setup)
            await self._write(phases.look, setup, found=await judge(judgement.decide, found))
            return
        following = phases.following(setup, present)
        if following is None:
            await self._payer.settled()
            found = await self._workspace.scan(_collect, setup)
            checked = await self._workspace.scan(results.of, setup)
            await self._write(phases.finish, setup, await judge(judgement.conclude, found), checked)
            return
        chosen = await self._workspace.scan(phases.choose, setup, following)
        await self._write(phases.enter, setup, following, chosen)

    @property
    def _credits(self) -> Credits:
        """What the operator pays for and allows now."""
        return self._payer.credits._replace(calls_per_day=self._dependencies.calls_per_day(self._workspace.uuid))

    def _on_money_freed(self) -> None:
        """Look again, because there may be more to spend than before."""
        self._short_of_money = False
        self._something_changed.set()

    async def _write(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        value = await self._workspace.write(fn, *args, **kwargs)
        self._on_commit()
        return value

    # Its tasks ------------------------------------------------------------------------------------------------------

    async def _claim(self, group: asyncio.TaskGroup) -> None:
        """Begin as many attempts as there are permits. Keep the permits of tasks that need no call for other tasks."""
        setup = self._setup
        if setup is None:
            return
        permits = self._permits.take()
        self._concurrency.claiming(permits.total(), setup.concurrency)
        try:
            attempts, short = await self._write(claims.claim, setup, permits, self._credits, self._held_lanes(setup))
            self._to_begin = {attempt.key for attempt in attempts}
            self._short_of_money = short
            refused = await self._payer.reserve(attempts)
            if refused:
                self._short_of_money = self._payer.may_come
                await self._write(claims.withdraw, setup, refused, pause=not self._short_of_money)
            for number, attempt in enumerate((one for one in attempts if one not in refused), start=1):
                if attempt.key in self._to_begin:
                    permits[lane_of(attempt.model)] -= 1
                    self._begin(group, setup, attempt)
                else:
                    self._payer.done(attempt.key)
                if number % _BEGUN_AT_ONCE == 0:
                    # Each call has to be put together, so this lets other work on the loop run in between.
                    await asyncio.sleep(0)
        finally:
            self._permits.keep(permits)
            self._concurrency.claiming(0, setup.concurrency)

    def _begin(self, group: asyncio.TaskGroup, setup: Setup, attempt: Attempt) -> None:
        """Begin a task that has a permit. A task that is cancelled before its first step still releases it."""
        self._permit_of[attempt.key] = lane_of(attempt.model)
        self._concurrency.take(attempt.key)
        working = self._working[attempt.key] = group.create_task(self._work_on(group, setup, attempt))
        working.add_done_callback(lambda _: self._on_task_ended(attempt.key, setup))

    def _on_task_ended(self, key: str, setup: Setup) -> None:
        self._payer.done(key)
        self._release_permit(key)
        self._concurrency.leave(key, setup.concurrency)
        del self._working[key]
        self._calls.forget(key)
        self._on_money_freed()

    async def _work_on(self, group: asyncio.TaskGroup, setup: Setup, attempt: Attempt) -> None:
        """Work on one task to its end, attempt by attempt, with a permit for each call."""
        present: Attempt | None = attempt
        while present is not None:
            made = await self._calls.make(setup, present)
            if isinstance(made, Overdue):
                self._follow_overdue(group, setup, present, made)
                then = await self._write(outcomes.commit, setup, present, outcomes.TIMED_OUT, None)
            else:
                self._release_permit(attempt.key)
                then = await self._write(outcomes.commit, setup, present, *made)
                self._calls.recorded(attempt.key)
                self._payer.done(attempt.key)
                if then.do == "again" and self._is_silent(setup, present, made[0]):
                    await self._write(claims.pause_for_provider, setup, present)
                    # The others rest, perhaps for long.
                    self.wake()
                    self._on_silent()
                    return
            present = await self._next_attempt(setup, present, then.wait_seconds) if then.do == "again" else None

    def _is_silent(self, setup: Setup, attempt: Attempt, result: Result) -> bool:
        """Whether the provider has answered nothing for so long that the run pauses, and nothing else is under way."""
        silent = result.silent_seconds if isinstance(result, CallFailure) else None
        lane = lane_of(attempt.model)
        return silent is not None and silent >= SILENT_SECONDS and set(self._permit_of.values()) <= {lane}

    def _follow_overdue(self, group: asyncio.TaskGroup, setup: Setup, attempt: Attempt, overdue: Overdue) -> None:
        """Let a call go on without its task. It keeps its permit and its reservation until its end is recorded."""
        reservation = self._payer.overdue(attempt.key)
        lane = self._permit_of.pop(attempt.key)

        def on_end(following: asyncio.Task[None]) -> None:
            overdue.call.cancel()
            self._calls.recorded_overdue(attempt.call_id)
            self._payer.done_overdue(reservation)
            self._permits.release(lane)
            self._overdue.discard(following)
            self._on_money_freed()

        following = group.create_task(self._record_overdue(setup, attempt, overdue))
        self._overdue.add(following)
        following.add_done_callback(on_end)

    async def _record_overdue(self, setup: Setup, attempt: Attempt, overdue: Overdue) -> None:
        _, measured = await overdue.call
        await self._write(outcomes.end_call, setup, attempt, outcomes.TIMED_OUT, measured)

    async def _next_attempt(self, setup: Setup, attempt: Attempt, wait_seconds: float) -> Attempt | None:
        """Return the next attempt, with a permit; `None` if it is not to be made now."""
        rested = not wait_seconds or await self._rest(setup, attempt.key, wait_seconds)
        if not (rested and await self._take_permit(attempt)):
            await self._write(claims.put_back, setup, attempt)
            return None
        following = await self._write(claims.again, setup, attempt, self._credits)
        refused = [] if following is None else await self._payer.reserve([following])
        if refused:
            # The next claim finds the task, and waits or pauses the run.
            await self._write(claims.withdraw, setup, refused, pause=False)
            return None
        return following

    async def _rest(self, setup: Setup, key: str, seconds: float) -> bool:
        """Wait, and during a long wait let other tasks of the run work.

        Return False if the run is halted before the end.
        """
        if seconds <= _LONG_REST_SECONDS:
            return await self._unless_halted(self._dependencies.sleep(seconds))
        self._concurrency.rest(key, setup.concurrency)
        return await self._unless_halted(self._dependencies.sleep(seconds)) and await self._unless_halted(
            self._concurrency.back(key, setup.concurrency)
        )

    async def _take_permit(self, attempt: Attempt) -> bool:
        """Wait for a permit. Return False if the run is halted meanwhile."""
        lane = lane_of(attempt.model)
        with ExitStack() as undo:
            permit = self._permits.single(lane)
            undo.callback(permit.withdraw)
            if not await self._unless_halted(permit.there.wait()):
                return False
            undo.pop_all()
        self._permit_of[attempt.key] = lane
        return True

    def _release_permit(self, key: str) -> None:
        lane = self._permit_of.pop(key, None)
        if lane is not None:
            self._permits.release(lane)

    async def _unless_halted(self, waiting: Awaitable[object]) -> bool:
        """Wait for something. Return False if the run is halted before it has come."""
        waited = asyncio.ensure_future(waiting)
        try:
            while not waited.done():
                if self._look_ahead().then == "halted":
                    return False
                changed = asyncio.ensure_future(self._rows_changed.wait())
                try:
                    await asyncio.wait({waited, changed}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
        finally:
            waited.cancel()
        return True


def _collect(conn: Connection, setup: Setup) -> PackedEvidence:
    return evidence.packed(conn, setup)
