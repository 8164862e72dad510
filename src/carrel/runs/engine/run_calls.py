"""The calls of one run: what a task asks of a model, and what the answer costs and means."""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from carrel.model_calls import metered
from carrel.providers import keys
from carrel.providers.base import Access, ProviderError, Request
from carrel.providers.registry import needs_key, provider_of
from carrel.runs.costs import quotes
from carrel.runs.engine.dependencies import EngineDependencies
from carrel.runs.engine.payer import Payer
from carrel.runs.model.setup import Setup
from carrel.runs.tasks.attempts import Attempt, Failed, Result, request, result
from carrel.runs.tasks.outcomes import Measured
from carrel.vault.workspace import Workspace

_LONG_CHARACTERS = 100_000
"""From this size on a thread builds the prompt, because it searches every text for the mark of the fence."""


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

    @contextmanager
    def suspended(self) -> Iterator[Collection[str]]:
        """For the length of a block, make no call.

        Yield the calls that were made; all others in the rows are still to come.
        """
        self._suspensions += 1
        self._allowed.clear()
        try:
            yield frozenset(self._made.values())
        finally:
            self._suspensions -= 1
            if not self._suspensions:
                self._allowed.set()

    async def make(self, setup: Setup, attempt: Attempt) -> tuple[Result, Measured]:
        """Call the model. Return what the answer means for the task, and what it took."""
        dependencies = self._dependencies
        provider = dependencies.registry.provider_of(attempt.model)
        if provider is None:
            return Failed("model-unknown", retryable=False), Measured(None, 0, 0)
        asked = await _request(setup, attempt)
        if needs_key(attempt.model):
            asked = replace(asked, access=self._access(setup, provider_of(attempt.model)))
        await self._allowed.wait()
        self._made[attempt.key] = attempt.call_id
        made = await metered.call(
            provider.complete(asked),
            user=self._workspace.uuid,
            model=attempt.model,
            price=attempt.price,
            limiter=dependencies.scheduler.limiter,
            clock=dependencies.clock,
        )
        cost_micros = made.cost_micros
        credit_micros = None if cost_micros is None else quotes.credits_of(cost_micros, self._payer.markup)
        measured = Measured(made.usage, cost_micros, made.latency_ms, credit_micros)
        if isinstance(made.outcome, ProviderError):
            error = made.outcome
            return Failed(error.code, error.retryable, error.retry_after_seconds), measured
        return result(attempt, made.outcome), measured

    def forget(self, task_key: str) -> None:
        """Forget the task, because nobody works on it any more."""
        self._made.pop(task_key, None)

    def _access(self, setup: Setup, provider: str) -> Access | None:
        if setup.billing == "credits":
            return self._payer.access(provider)
        return self._workspace.read(keys.access, provider)


async def _request(setup: Setup, attempt: Attempt) -> Request:
    if len(attempt.matter.document) < _LONG_CHARACTERS:
        return request(attempt, setup.fence, setup.timeout_seconds)
    return await asyncio.to_thread(request, attempt, setup.fence, setup.timeout_seconds)
