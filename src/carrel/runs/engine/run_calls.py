"""The calls of one run: what a task asks of a model, and what the answer costs and means."""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from msgspec.structs import replace

from carrel.keys import store as keys
from carrel.kit.sqlite.rows import Select
from carrel.providers import hosts
from carrel.providers.answer_room import AnswerMemory
from carrel.providers.base import KEY_CHANGED, Access, Answer, ModelRequest, Provider, ProviderError, Streaming
from carrel.providers.registry import lane_of, needs_key, provider_of
from carrel.rate_limits.limiter import DOWN
from carrel.runs.costs import quotes
from carrel.runs.engine.dependencies import EngineDependencies
from carrel.runs.engine.payer import Payer
from carrel.runs.model.setup import Setup
from carrel.runs.progress.live_texts import AnswerKey, LiveAnswer
from carrel.runs.tasks.attempts import Attempt, CallFailure, Result, request, result
from carrel.runs.tasks.outcomes import CallUsage
from carrel.single_calls import metered
from carrel.vault.workspace import Workspace

PAID_CALL_SECONDS = 600.0
"""A call that credits pay for is read to its end for so long, or for the run's own time limit if that is longer. The
provider bills it whoever waits, and only its end tells what it cost."""
_LONG_CHARACTERS = 100_000
"""From this size on a thread builds the prompt, because it searches every text for the mark of the fence."""

_answering = Select(AnswerKey, task_key="key", candidate="label", document="run_documents.name")
_OF_TASK = (
    "FROM tasks JOIN run_candidates ON run_candidates.run = tasks.run AND run_candidates.ordinal = candidate"
    " JOIN run_documents ON run_documents.run = tasks.run AND run_documents.ordinal = document WHERE tasks.seq = ?"
)


class Overdue(NamedTuple):
    """A call that credits pay for, which goes on although its task does not wait any longer."""

    call: asyncio.Task[tuple[Result, CallUsage]]


class RunCalls:
    """Owned by the driver of the run. The driver can suspend calls while somebody decides which of them are wanted."""

    def __init__(self, workspace: Workspace, dependencies: EngineDependencies, payer: Payer) -> None:
        self._workspace = workspace
        self._dependencies = dependencies
        self._payer = payer
        self._allowed = asyncio.Event()
        self._allowed.set()
        self._suspensions = 0
        self._made: dict[str, str] = {}
        """The last call that was made for each task in work."""
        self._overdue: set[str] = set()
        """The calls that go on although their tasks do not wait any longer."""
        self._unrecorded: set[str] = set()
        """The tasks whose last call was made, and whose end is not recorded yet."""
        self._recorded = asyncio.Event()
        self._paid: set[str] = set()
        """The tasks whose last call was made, is paid with credits, and is not recorded yet."""
        self._failing: dict[str, float] = {}
        """When the first call for each task in work failed because its provider did not work."""
        self._places: dict[str, AnswerMemory] = {}
        """What the answer to each task's last call holds, until it is recorded."""

    @contextmanager
    def suspended(self) -> Iterator[Collection[str]]:
        """For the length of a block, make no call.

        Yield the calls that were made; all others in the rows are still to come.
        """
        self._suspensions += 1
        self._allowed.clear()
        try:
            yield frozenset(self._made.values()) | self._overdue
        finally:
            self._suspensions -= 1
            if not self._suspensions:
                self._allowed.set()

    async def make(self, setup: Setup, attempt: Attempt) -> tuple[Result, CallUsage] | Overdue:
        """Call the model. Return what the answer means for the task, and what it took.

        A call that credits pay for may exceed the run's time limit; then this returns the call.
        """
        dependencies = self._dependencies
        provider = dependencies.registry.provider_of(attempt.model)
        if provider is None:
            return CallFailure("model-unknown", retryable=False), CallUsage(None, 0, 0)
        asked = await _request(setup, attempt)
        if needs_key(attempt.model):
            access = self._access(setup, provider_of(attempt.model))
            if access is not None and hosts.host_of(provider_of(attempt.model), access.base_url) != attempt.host:
                return CallFailure(KEY_CHANGED, retryable=True), CallUsage(None, 0, 0, 0)
            asked = replace(asked, access=access)
        else:
            asked = replace(asked, user=self._workspace.uuid)
        if attempt.hold is not None:
            asked = replace(asked, timeout_seconds=max(asked.timeout_seconds, PAID_CALL_SECONDS))
        await self._allowed.wait()
        self._made[attempt.key] = attempt.call_id
        self._unrecorded.add(attempt.key)
        place = self._places[attempt.key] = dependencies.room.place(self._workspace.uuid)
        asked = replace(asked, place=place)
        call = self._call(provider, asked, attempt, self._live(setup, attempt))
        if attempt.hold is None:
            return await call
        self._paid.add(attempt.key)
        made = await _for_seconds(setup.timeout_seconds, asyncio.create_task(call))
        if isinstance(made, Overdue):
            self._paid.discard(attempt.key)
            self._overdue.add(attempt.call_id)
            made.call.add_done_callback(lambda _: place.release())
            del self._places[attempt.key]
        return made

    async def _call(
        self, provider: Provider, asked: ModelRequest, attempt: Attempt, live: LiveAnswer | None
    ) -> tuple[Result, CallUsage]:
        dependencies, begun = self._dependencies, self._dependencies.clock.monotonic()
        made = await metered.call(
            provider.complete(asked) if live is None else _spoken(provider, asked, attempt, live),
            user=self._workspace.uuid,
            model=attempt.model,
            price=attempt.price,
            limiter=dependencies.scheduler.limiter,
            clock=dependencies.clock,
            by_list=attempt.hold is not None,
        )
        if live is not None:
            live.end(made.outcome.text if isinstance(made.outcome, Answer) else "")
        cost_micros = made.cost_micros
        credit_micros = None if cost_micros is None else quotes.credits_of(cost_micros, self._payer.credits.markup)
        measured = CallUsage(made.usage, cost_micros, made.latency_ms, credit_micros, made.is_told)
        if isinstance(made.outcome, ProviderError):
            error = made.outcome
            # What a provider says about the operator's account is none of the user's business.
            said = error.said if attempt.hold is None else ""
            user, lane, limiter = self._workspace.uuid, lane_of(attempt.model), dependencies.scheduler.limiter
            wait = error.retry_after_seconds
            if error.code == "rate-limited":
                wait = max(wait or 0.0, limiter.held_seconds(user, lane))
            silent = None
            if error.code in DOWN:
                since = self._failing.setdefault(attempt.key, dependencies.clock.monotonic())
                silent = limiter.silent_seconds(user, lane, min(since, begun))
            return CallFailure(error.code, error.retryable, wait, said, silent), measured
        return result(attempt, made.outcome), measured

    async def all_recorded(self) -> None:
        """Return when the end of every call that was made is recorded."""
        while self._unrecorded or self._overdue:
            self._recorded.clear()
            await self._recorded.wait()

    def is_owed(self, task_key: str) -> bool:
        """Whether the task's call was made, is paid with credits, and is not recorded yet."""
        return task_key in self._paid

    def recorded(self, task_key: str) -> None:
        """Note that the end of the task's call is recorded."""
        self._paid.discard(task_key)
        self._unrecorded.discard(task_key)
        self._recorded.set()
        self._release(task_key)

    def recorded_overdue(self, call_id: str) -> None:
        """Note that nobody waits for the end of this call any more."""
        self._overdue.discard(call_id)
        self._recorded.set()

    def forget(self, task_key: str) -> None:
        """Forget the task, because nobody works on it any more."""
        self._made.pop(task_key, None)
        self._unrecorded.discard(task_key)
        self._recorded.set()
        self._paid.discard(task_key)
        self._failing.pop(task_key, None)
        self._release(task_key)

    def _release(self, task_key: str) -> None:
        place = self._places.pop(task_key, None)
        if place is not None:
            place.release()

    def _live(self, setup: Setup, attempt: Attempt) -> LiveAnswer | None:
        """Where the text goes while it is written; `None` if nobody watches, or if it is a judgement."""
        texts, user = self._dependencies.texts, self._workspace.uuid
        if texts is None or not texts.is_watched(user, setup.id) or attempt.kind not in ("generate", "combine"):
            return None
        answering = self._workspace.read(_answering.one, _OF_TASK, attempt.task)
        return None if answering is None else texts.of(user, setup.id, answering)

    def _access(self, setup: Setup, provider: str) -> Access | None:
        if setup.billing == "credits":
            return self._payer.credits.access(provider)
        return self._workspace.read(keys.access, provider)


async def _spoken(provider: Provider, asked: ModelRequest, attempt: Attempt, live: LiveAnswer) -> Answer:
    """Call the model for somebody who watches: the text comes part by part where that changes nothing of the answer.

    Pages that an answer cites do not come with every stream. And a server other than the provider's own may tell no
    tokens at the end of one, so nobody would know what a call costs that has a price above 0.
    """
    costs = attempt.price is not None and not attempt.price.is_nothing
    if not isinstance(provider, Streaming) or asked.grounding != "off" or (attempt.host is not None and costs):
        return await provider.complete(asked)
    return await provider.stream(asked, live.add)


async def _for_seconds(
    seconds: float, call: asyncio.Task[tuple[Result, CallUsage]]
) -> tuple[Result, CallUsage] | Overdue:
    try:
        await asyncio.wait([call], timeout=seconds)
    except asyncio.CancelledError:
        call.cancel()
        raise
    return call.result() if call.done() else Overdue(call)


async def _request(setup: Setup, attempt: Attempt) -> ModelRequest:
    if len(attempt.matter.document) < _LONG_CHARACTERS:
        return request(attempt, setup.fence, setup.timeout_seconds)
    return await asyncio.to_thread(request, attempt, setup.fence, setup.timeout_seconds)
