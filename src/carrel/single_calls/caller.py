"""Single calls: checked, admitted by the user's limits, recorded before and after, and never lost by a disconnect."""

import asyncio
import math
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from typing import Concatenate, Literal, NamedTuple, ParamSpec, Protocol, TypeVar

from msgspec.structs import replace

from carrel.errors import BadInput, CarrelError, FieldError, Unavailable
from carrel.keys import store as keys
from carrel.keys.store import ProviderKeyMissing
from carrel.kit.clock import Clock
from carrel.kit.concurrency.cancellation import cancel, run_to_completion
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.metering import calls, quota
from carrel.metering.calls import CallEnd, Outcome, Terms
from carrel.models import listing
from carrel.providers import hosts, own_prices, prices
from carrel.providers.answer_room import AnswerRoom
from carrel.providers.base import Answer, ModelRequest, Provider, ProviderError, Role, Streaming
from carrel.providers.prices import Price
from carrel.providers.registry import Registry, is_free, lane_of, name_of, needs_key, provider_of
from carrel.rate_limits.limiter import Limiter
from carrel.single_calls import metered, refusals
from carrel.single_calls.metered import MeteredCall
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, WorkspaceBusy, WorkspacePool
from carrel.vault.workspace import Workspace, WorkspaceClosed

T = TypeVar("T")
P = ParamSpec("P")

TIMEOUT_SECONDS = 10.0
"""How long a call waits for its turn among those that are under way."""
_COME_AGAIN_SECONDS = 1.0
_END_AGAIN_SECONDS = 1.0
_END_TRIES = 60


class CallPermits(Protocol):
    """The calls in flight of the whole process, shared fairly with runs."""

    async def enter(self, user: UserUuid, lane: str, timeout_seconds: float) -> bool:
        """Wait for the user's turn; False if it has not come."""
        ...

    def leave(self, user: UserUuid, lane: str) -> None:
        """Release the permit: the call is over."""
        ...


class SingleCall(NamedTuple):
    """A model as the request names it, at `path` in the body, and what it is asked for."""

    model: str
    path: str
    phase: Literal["generate", "score", "compare"]

    @property
    def role(self) -> Role:
        """What the model must be able to do."""
        return "generate" if self.phase == "generate" else "judge"


class CallResult(NamedTuple):
    """A call that was answered at `host` (`None`: the provider's own).

    `cost_micros` is `None` where the price or the tokens are unknown.
    """

    call_id: str
    host: str | None
    answer: Answer
    cost_micros: int | None
    latency_ms: int


class _Call(NamedTuple):
    """A call that has its row, and the price by which it is charged."""

    id: str
    wanted: SingleCall
    host: str | None
    price: Price | None


class Caller:
    """Makes single calls for every user of the process. Listens to the pool: a call ends with its user's key."""

    def __init__(
        self,
        pool: WorkspacePool,
        registry: Registry,
        limiter: Limiter,
        permits: CallPermits,
        room: AnswerRoom,
        clock: Clock,
        calls_per_day: Callable[[UserUuid], int | None] = lambda _: None,
    ) -> None:
        self._pool = pool
        self._registry = registry
        self._limiter = limiter
        self._permits = permits
        self._room = room
        self._clock = clock
        self._calls_per_day = calls_per_day
        """What the operator lets a user make."""
        self._stopping = False
        self._live: dict[UserUuid, dict[str, asyncio.Task[Answer]]] = {}

    async def call(
        self,
        workspace: Workspace,
        wanted: SingleCall,
        request: ModelRequest,
        *,
        attempt: int = 1,
        fault_of: Callable[[Answer], str | None] = lambda _: None,
        on_piece: Callable[[str], None] | None = None,
    ) -> CallResult:
        """Return one answer. `fault_of` returns a code if the answer is not in the form that was asked for.

        `on_piece` gets the text piece by piece: all of it, if the call succeeds.

        Raises:
            BadInput: there is no such model, or not in this role.
            ProviderKeyMissing: the user has no key for it.
            RateLimited, ModelCallFailed, ModelCallRefused: as `refusals` says.
        """
        provider, request = self.prepared(workspace, wanted, request)
        url = None if request.access is None else request.access.base_url
        host = hosts.host_of(provider_of(wanted.model), url)
        with self._room.place(workspace.uuid) as place:
            request = replace(request, place=place)
            return await self.through(
                workspace.uuid, wanted, host, lambda: _answered(provider, request, on_piece), attempt, fault_of
            )

    def prepared(
        self, workspace: Workspace, wanted: SingleCall, request: ModelRequest
    ) -> tuple[Provider, ModelRequest]:
        """Return the provider and the complete request, after every check that costs nothing.

        Raises:
            BadInput, ProviderKeyMissing: as `call` says.
        """
        fault = listing.fault(self._registry, wanted.model, wanted.role)
        provider = self._registry.provider_of(wanted.model)
        if fault is not None or provider is None:
            raise BadInput.at(wanted.path, fault or "is not a known model")
        name = name_of(wanted.model)
        if not needs_key(wanted.model):
            return provider, replace(request, model=name, user=workspace.uuid)
        access = workspace.read(keys.access, provider_of(wanted.model))
        if access is None:
            raise ProviderKeyMissing(errors=(FieldError(wanted.path, "has no stored key of its provider"),))
        return provider, replace(request, model=name, access=access)

    async def through(
        self,
        user: UserUuid,
        wanted: SingleCall,
        host: str | None,
        work: Callable[[], Coroutine[None, None, Answer]],
        attempt: int = 1,
        fault_of: Callable[[Answer], str | None] = lambda _: None,
    ) -> CallResult:
        """Do `work`, which calls the model at `host`, within the user's limits and with a row in the metering.

        Raises:
            CallsUsedUp: it is more than the operator allows the user today.
            RateLimited, ModelCallFailed, ModelCallRefused: as `refusals` says.
        """
        if self._stopping:
            raise Unavailable
        lane = lane_of(wanted.model)
        await self._enter(user, lane)
        try:
            if not is_free(wanted.model):
                await prices.ready()
            most = self._calls_per_day(user)
            call_id, price = await self._write(user, _begin, wanted, host, attempt, most)
            return await self._recorded(user, _Call(call_id, wanted, host, price), work, fault_of)
        finally:
            self._permits.leave(user, lane)

    def headers(self, user: UserUuid, model: str) -> tuple[tuple[bytes, bytes], ...]:
        """Return the user's present limits for the model's provider as headers of the answer."""
        return refusals.headers(self._limiter.standings(user, lane_of(model)))

    async def _enter(self, user: UserUuid, lane: str) -> None:
        """Take a permit, or refuse at once a call that would have to wait for a rate limit."""
        wait = self._limiter.wait_seconds(user, lane)
        if 0 < wait < math.inf:
            raise refusals.rate_limited(wait, self._limiter.standings(user, lane))
        if not await self._permits.enter(user, lane, TIMEOUT_SECONDS):
            wait = self._limiter.wait_seconds(user, lane)
            wait = wait if 0 < wait < math.inf else _COME_AGAIN_SECONDS
            raise refusals.rate_limited(wait, self._limiter.standings(user, lane))

    async def _recorded(
        self,
        user: UserUuid,
        made: _Call,
        work: Callable[[], Coroutine[None, None, Answer]],
        fault_of: Callable[[Answer], str | None],
    ) -> CallResult:
        wanted = made.wanted
        call = CallEnd(outcome="unknown-outcome")
        try:
            found = await metered.call(
                self._run(user, made.id, work),
                user=user,
                model=wanted.model,
                price=made.price,
                limiter=self._limiter,
                clock=self._clock,
            )
            outcome = found.outcome
            call = _ended(found, fault_of)
            if isinstance(outcome, ProviderError):
                standings = self._limiter.standings(user, lane_of(wanted.model))
                raise refusals.of_provider(wanted.path, outcome, standings)
        finally:
            # Record the end also if the caller is gone: the call was made.
            cost_micros = await run_to_completion(self._end(user, made.id, call))
        return CallResult(made.id, made.host, outcome, cost_micros, found.latency_ms)

    async def _run(self, user: UserUuid, call_id: str, work: Callable[[], Coroutine[None, None, Answer]]) -> Answer:
        """Run the work in a task of its own, which ends when the user's key leaves the process.

        Raises:
            WorkspaceClosed: it did.
        """
        task = asyncio.create_task(work())
        self._live.setdefault(user, {})[call_id] = task
        try:
            await asyncio.wait([task])
            if task.cancelled():
                raise WorkspaceClosed
            return task.result()
        finally:
            task.cancel()

    async def _end(self, user: UserUuid, call_id: str, call: CallEnd) -> int | None:
        try:
            # If the key is gone, or the disk is full, the next opening of the workspace finds the row.
            with suppress(CarrelError):
                for _ in range(_END_TRIES):
                    try:
                        charge = await self._write(user, calls.end, call_id, call)
                    except (WorkspaceBusy, WorkspaceClosed):
                        # A rekey takes longer than a request would wait.
                        await asyncio.sleep(_END_AGAIN_SECONDS)
                    else:
                        return None if charge is None else charge.cost_micros
            return None
        finally:
            # The call is forgotten only now: while this waited for a rekey, the row still said `running`, and the call
            # was no orphan.
            live = self._live[user]
            del live[call_id]
            if not live:
                del self._live[user]

    async def _write(
        self, user: UserUuid, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        # It takes a lease of its own: the workspace may have been closed and opened again since the request came in.
        async with self._pool.leased(user) as workspace:
            return await workspace.write(fn, *args, **kwargs)

    # What happens to workspaces (Listener) --------------------------------------------------------------------------

    async def opened(self, uuid: UserUuid) -> None:
        """Mark the calls that were under way when the process ended: nobody can learn their outcome any more."""
        async with self._pool.leased(uuid) as workspace:
            if workspace.read(any_left, self._live.get(uuid, ())):
                await workspace.write(abandon, tuple(self._live.get(uuid, ())))

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """End the calls under way, unless the workspace opens again at once."""
        if why == "rekey":
            return
        await cancel(self._live.get(uuid, {}).values())

    async def stop(self) -> None:
        """End every call under way and begin none: the process is about to end."""
        self._stopping = True
        await cancel(task for live in self._live.values() for task in live.values())


async def _answered(provider: Provider, request: ModelRequest, on_piece: Callable[[str], None] | None) -> Answer:
    if on_piece is not None and isinstance(provider, Streaming):
        return await provider.stream(request, on_piece)
    answer = await provider.complete(request)
    if on_piece is not None and answer.text:
        on_piece(answer.text)
    return answer


def _begin(
    conn: Connection, wanted: SingleCall, host: str | None, attempt: int, per_day: int | None
) -> tuple[str, Price | None]:
    """Record the call, which the user's own key pays for. Return the id of its row, and the price.

    Raises:
        CallsUsedUp: it is more than the operator allows.
    """
    quota.require(conn, per_day)
    price = own_prices.price_of(conn, wanted.model, host, conn.clock.now())
    call_id = calls.begin(
        conn,
        run_id=None,
        task_key=None,
        attempt=attempt,
        model=wanted.model,
        host=host,
        free=is_free(wanted.model) or (price is not None and price.is_nothing),
        phase=wanted.phase,
        terms=Terms(price.id if price is not None else None),
    )
    return call_id, price


def _ended(found: MeteredCall, fault_of: Callable[[Answer], str | None]) -> CallEnd:
    how: Outcome
    code: str | None
    if isinstance(found.outcome, ProviderError):
        how, code = "failed", found.outcome.code
    else:
        fault = fault_of(found.outcome)
        how, code = ("answered", None) if fault is None else ("malformed", fault)
    return CallEnd(
        outcome=how,
        code=code,
        usage=found.usage,
        cost_micros=found.cost_micros,
        latency_ms=found.latency_ms,
        is_told=found.is_told,
    )


def any_left(conn: Connection, live: Collection[str]) -> bool:
    """Whether calls outside of runs are recorded as running that are not among `live`."""
    rows = conn.all("SELECT id FROM calls WHERE run_id IS NULL AND outcome = 'running' LIMIT ?", len(live) + 1)
    return any(call_id not in live for (call_id,) in rows)


def abandon(conn: Connection, live: Collection[str]) -> None:
    """Mark running calls outside of runs as `unknown-outcome`, except those in `live`."""
    conn.run(
        "UPDATE calls SET outcome = 'unknown-outcome', finished_at = ? WHERE run_id IS NULL AND outcome = 'running'"
        " AND id NOT IN (SELECT value FROM json_each(?))",
        *(conn.now(), as_json(list(live))),
    )
