"""Sends the batches of a user's runs, asks how far they are, and records their results, while the key is here.

It works on rows alone, so it makes no difference whether the process ended in between. A batch whose row says
`sending` may have arrived: its provider is asked for it, and it is sent again only if the provider does not have it.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, Final

from carrel.errors import CarrelError
from carrel.keys import store as keys
from carrel.kit import logs
from carrel.kit.concurrency.cancellation import cancel
from carrel.kit.logs import tail
from carrel.providers import hosts
from carrel.providers.base import KEY_CHANGED, Access, Answer, ProviderError
from carrel.providers.batch_client import BatchClient
from carrel.providers.batches import CANCELLED, LOST, BatchLine, Result, UnconfirmedBatch, Unsure
from carrel.providers.registry import provider_of
from carrel.runs.engine.dependencies import EngineDependencies
from carrel.runs.tasks import attempts, batches, collecting
from carrel.runs.tasks.attempts import Attempt
from carrel.runs.tasks.batches import Batch
from carrel.runs.tasks.collecting import OpenAttempts
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import WorkspacePool
from carrel.vault.workspace import Workspace, WorkspaceClosed

LOOK_SECONDS: Final = 30.0
"""How often a provider is asked how far a batch is."""
FULL_SECONDS: Final = 600.0
"""How long a batch waits if too much of the account waits already."""
_MISSES: Final = 4
"""So often in a row a batch that may have arrived is not found before it is sent again."""
_UNREADABLE: Final = 5
"""So often a reply that nobody can read is asked for again before the calls of the batch fail."""
_AT_ONCE: Final = 50
"""How many results one transaction records."""
_MENDED_BY_USERS = frozenset({"provider-key-rejected", "provider-host-not-allowed"})
"""What does not end a batch that was sent: its results wait until there is a good key again."""


class Batching:
    """Works on every open batch of the users whose workspaces are open. Owned by the event loop.

    It calls `on_results` after it worked on a user's batch.
    """

    def __init__(
        self, pool: WorkspacePool, dependencies: EngineDependencies, on_results: Callable[[UserUuid], None]
    ) -> None:
        self._pool = pool
        self._dependencies = dependencies
        self._on_results = on_results
        self._reading = asyncio.Lock()
        """Results take up to `MAX_RESULT_BYTES`, so those of one batch are read at a time, of all users."""
        self._tasks: dict[UserUuid, asyncio.Task[None]] = {}
        self._changed: dict[UserUuid, asyncio.Event] = {}

    def follow(self, workspace: Workspace) -> None:
        """Work on the open batches of the user, if there are any, or look at their rows again."""
        uuid = workspace.uuid
        if uuid in self._tasks:
            self._changed[uuid].set()
        elif workspace.read(batches.any_to_do):
            leased = self._pool.try_lease(uuid)
            if leased is not None:
                self._changed[uuid] = asyncio.Event()
                task = self._tasks[uuid] = asyncio.create_task(self._run(leased, self._changed[uuid]))
                # A callback, because a task that is cancelled before its first step runs none of its own clean-up.
                task.add_done_callback(lambda done: self._on_end(leased, done))

    async def stop(self, uuid: UserUuid) -> None:
        """Stop working on the user's batches. The rows say where to go on."""
        if uuid in self._tasks:
            await cancel([self._tasks[uuid]])

    async def stop_all(self) -> None:
        """Stop all work, because the process is about to end."""
        await cancel(list(self._tasks.values()))

    def _on_end(self, workspace: Workspace, done: asyncio.Task[None]) -> None:
        del self._tasks[workspace.uuid], self._changed[workspace.uuid]
        self._pool.release(workspace)
        if not done.cancelled() and (error := done.exception()) is not None:
            logs.error("batches-broke-down", user=tail(workspace.uuid), kind=type(error).__name__)

    async def _run(self, workspace: Workspace, changed: asyncio.Event) -> None:
        """Work until no batch is open: on all of them from time to time, on those that are to be sent at once."""
        worker = _BatchWorker(workspace, self._dependencies, self._reading)
        timer: asyncio.Future[None] | None = None
        try:
            while found := workspace.read(batches.to_do):
                changed.clear()
                is_time = timer is None or timer.done()
                if timer is None or timer.done():
                    timer = asyncio.ensure_future(self._dependencies.sleep(LOOK_SECONDS))
                for batch in found:
                    if is_time or batch.state == "prepared" or worker.is_to_cancel(batch):
                        await self._advance(worker, batch)
                        self._on_results(workspace.uuid)
                await _either(timer, changed)
        except WorkspaceClosed:
            return
        finally:
            if timer is not None:
                timer.cancel()

    async def _advance(self, worker: "_BatchWorker", batch: Batch) -> None:
        try:
            await worker.advance(batch)
        except WorkspaceClosed:
            raise
        except CarrelError as error:
            # The disk is full. The rows are as they were, and the next look finds them.
            logs.warning("batch-not-recorded", user=tail(worker.workspace.uuid), code=error.code)


class _BatchWorker:
    """Works on the batches of one open workspace, step by step. What it remembers matters to this process only."""

    def __init__(self, workspace: Workspace, dependencies: EngineDependencies, reading: asyncio.Lock) -> None:
        self.workspace = workspace
        self._reading = reading
        self._dependencies = dependencies
        self._asked_to_cancel: set[str] = set()
        self._missed = Counter[str]()
        self._unreadable = Counter[str]()

    def is_to_cancel(self, batch: Batch) -> bool:
        """Whether the provider is still to be told that nobody wants the batch."""
        return batch.cancelled and batch.id not in self._asked_to_cancel

    async def advance(self, batch: Batch) -> None:
        """Send the batch, find it, or look how far it is. What fails on the way is tried again at the next look."""
        if batch.state == "prepared" and batch.cancelled:
            await self.workspace.write(batches.remove, batch.seq)
            return
        if batch.state == "prepared" and not self.workspace.read(batches.may_be_sent, batch):
            return
        with suppress(ProviderError, Unsure):
            access = self.workspace.read(keys.access, provider_of(batch.model))
            if access is None and batch.state == "prepared":
                await self._fail(batch, ProviderError("provider-key-missing", retryable=False, unbilled=True))
                return
            client = None if access is None else self._client(batch, access)
            if client is None and batch.state == "prepared":
                await self._fail(batch, ProviderError(KEY_CHANGED, retryable=True, unbilled=True))
            elif client is not None and batch.state == "prepared":
                await self._send(client, batch)
            elif client is not None and batch.state == "sending":
                await self._find(client, batch)
            elif client is not None:
                await self._look(client, batch, batch.remote_id or "")

    def _client(self, batch: Batch, access: Access) -> BatchClient | None:
        """The batches of the host to which this one goes; `None` if the key names another one now.

        Nobody else may answer. What was sent waits until a key names that host again.
        """
        provider = provider_of(batch.model)
        remote = self._dependencies.registry.remote(provider)
        is_there = batch.host in (hosts.UNKNOWN, hosts.host_of(provider, access.base_url))
        return remote.batch_client(access) if remote is not None and is_there else None

    async def _send(self, client: BatchClient, batch: Batch) -> None:
        """Record that the batch is being sent, then send it."""
        asked = await self.workspace.scan(collecting.asked, batch)
        lines, refused = ([], []) if asked is None else await asyncio.to_thread(_lines, client, asked)
        if asked is not None and refused:
            await self.workspace.write(collecting.put, asked.setup, refused)
        if not lines:
            await self.workspace.write(collecting.end, batch)
            return
        present = await self.workspace.write(batches.begin_sending, batch.seq)
        if present is None:
            return
        try:
            remote_id = await client.create(batch.id, lines)
        except ProviderError as error:
            if error.code == "rate-limited":
                wait_seconds = error.retry_after_seconds or LOOK_SECONDS
                await self.workspace.write(batches.send_later, batch.seq, wait_seconds)
            elif error.unbilled and not error.retryable:
                await self._fail(batch, error)
            # After any other failure it may have arrived, and the next look asks for it.
        else:
            await self.workspace.write(batches.sent, batch.seq, remote_id)

    async def _find(self, client: BatchClient, batch: Batch) -> None:
        """Look for a batch that may have arrived. If it did not, not even a while later, send it."""
        calls = {call.id for call in self.workspace.read(batches.open_calls, batch.seq)}
        known = self.workspace.read(batches.remote_ids)
        async with self._reading:
            remote_id = await client.find(UnconfirmedBatch(batch.id, calls, float(batch.sending_at or 0), known))
        if remote_id is not None:
            await self.workspace.write(batches.sent, batch.seq, remote_id)
            return
        self._missed[batch.id] += 1
        if self._missed[batch.id] < _MISSES:
            return
        del self._missed[batch.id]
        if batch.cancelled:
            await self._fail(batch, ProviderError(CANCELLED, retryable=False, unbilled=True))
        else:
            await self._send(client, batch)

    async def _look(self, client: BatchClient, batch: Batch, remote_id: str) -> None:
        """Ask how far the batch is, and record its results if it has ended."""
        try:
            if self.is_to_cancel(batch):
                await client.cancel(remote_id)
                self._asked_to_cancel.add(batch.id)
            status = await client.look(remote_id)
            if status.state == "ended":
                async with self._reading:
                    await self._record(client, batch, await client.results(status.results))
        except ProviderError as error:
            self._unreadable[batch.id] += error.code == "provider-malformed"
            hopeless = not error.retryable and error.code not in _MENDED_BY_USERS
            if hopeless or self._unreadable[batch.id] >= _UNREADABLE:
                await self._fail(batch, ProviderError(error.code, retryable=False))
            return
        if status.state == "full" and not batch.cancelled:
            await self.workspace.write(batches.send_later, batch.seq, FULL_SECONDS)
        elif status.state not in ("open", "ended"):
            await self._fail(batch, ProviderError(status.code, retryable=False, unbilled=True))

    async def _record(self, client: BatchClient, batch: Batch, results: Collection[Result]) -> None:
        """Record what became of each call, and end the batch."""
        asked = await self.workspace.scan(collecting.asked, batch)
        if asked is not None:
            found = await asyncio.to_thread(_outcomes, client, asked, {result.id: result for result in results})
            for start in range(0, len(found), _AT_ONCE):
                await self.workspace.write(collecting.put, asked.setup, found[start : start + _AT_ONCE])
        await self.workspace.write(collecting.end, batch)

    async def _fail(self, batch: Batch, error: ProviderError) -> None:
        """Give every call of the batch the same error, and end the batch."""
        asked = await self.workspace.scan(collecting.asked, batch)
        if asked is not None:
            await self.workspace.write(collecting.put, asked.setup, [(attempt, error) for attempt in asked.attempts])
        await self.workspace.write(collecting.end, batch)


async def _either(timer: asyncio.Future[None], changed: asyncio.Event) -> None:
    """Wait for the first of the two. The timer goes on."""
    waits: list[asyncio.Future[Any]] = [timer, asyncio.ensure_future(changed.wait())]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waits[1].cancel()


def _lines(client: BatchClient, asked: OpenAttempts) -> tuple[list[BatchLine], list[tuple[Attempt, ProviderError]]]:
    """The lines of the batch, and the calls that the protocol has no words for."""
    lines: list[BatchLine] = []
    refused: list[tuple[Attempt, ProviderError]] = []
    for attempt in asked.attempts:
        try:
            request = attempts.request(attempt, asked.setup.fence, asked.setup.timeout_seconds)
            lines.append(client.line(attempt.call_id, request))
        except ProviderError as error:
            refused.append((attempt, error))
    return lines, refused


def _outcomes(
    client: BatchClient, asked: OpenAttempts, results: Mapping[str, Result]
) -> list[tuple[Attempt, Answer | ProviderError]]:
    found: list[tuple[Attempt, Answer | ProviderError]] = []
    for attempt in asked.attempts:
        try:
            result = results.get(attempt.call_id)
            if result is None:
                raise ProviderError(LOST, retryable=False)
            request = attempts.request(attempt, asked.setup.fence, asked.setup.timeout_seconds)
            found.append((attempt, client.answer(request, result)))
        except ProviderError as error:
            found.append((attempt, error))
    return found
