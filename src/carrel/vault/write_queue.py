"""The writes of one workspace: they wait in a queue, and those that wait together share a commit."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from carrel.errors import Unavailable
from carrel.kit import meters, traces
from carrel.kit.concurrency.threads import in_thread
from carrel.kit.concurrency.turns import QueuedWork
from carrel.kit.sqlite.database import Connection, transaction, translated
from carrel.vault.executors import Executors
from carrel.vault.keyring import UserUuid
from carrel.vault.spares import Spares

if TYPE_CHECKING:
    from opentelemetry.context import Context

T = TypeVar("T")

_BATCH = 64
"""The most writes that share one commit; a longer queue takes several commits."""


class _Outcome(Generic[T]):
    """The result or the error of a store function, kept until the commit is durable."""

    def __init__(self) -> None:
        self.value: T | None = None
        self.error: BaseException | None = None

    def __enter__(self) -> "_Outcome[T]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self.error = error
        return True


@dataclass(eq=False, slots=True)
class _Write:
    """A queued write: the function, its arguments, and the future of its caller."""

    run: Callable[[Connection], Any]
    waiter: asyncio.Future[Any]
    outcome: _Outcome[Any]
    span: "Context | None"
    """The caller's."""

    def tell(self) -> None:
        """Tell the caller, unless it is gone."""
        if self.waiter.done():
            return
        if self.outcome.error is None:
            self.waiter.set_result(self.outcome.value)
        else:
            self.waiter.set_exception(self.outcome.error)
            # Retrieve the exception; otherwise asyncio would report it if the caller is cancelled just now.
            self.waiter.exception()


class WriteQueue:
    """Owned by the event loop."""

    def __init__(self, uuid: UserUuid, spares: Spares, executors: Executors) -> None:
        self.commits = 0
        self._uuid = uuid
        self._spares = spares
        self._executors = executors
        self._queue: deque[_Write] = deque()
        self._draining: asyncio.Task[None] | None = None

    def add(self, run: Callable[[Connection], T]) -> asyncio.Future[T]:
        """What `run` returns or raises, once its transaction is durable. See `Workspace.write`."""
        waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.append(_Write(run, waiter, _Outcome(), traces.current()))
        if self._draining is None:
            self._draining = asyncio.create_task(self._run())
        return waiter

    @property
    def is_busy(self) -> bool:
        """Whether something waits, or is being written."""
        return self._draining is not None

    async def drain(self) -> None:
        """Wait until everything that was added is durable."""
        if self._draining is not None:
            await asyncio.wait([self._draining])

    async def _run(self) -> None:
        try:
            while self._queue:
                # What arrived meanwhile shares this commit. Without it, four writers at once took a quarter more of
                # the processor.
                await asyncio.sleep(0)
                batch = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
                await in_thread(self._executors.writes, partial(self._commit, batch))
                for write in batch:
                    write.tell()
                # An error has the frames that it came through, and those have the batch with the error.
                batch.clear()
        finally:
            self._draining = None

    def _commit(self, batch: list[_Write]) -> None:
        """Commit `batch` together; if that fails, commit each write alone. Runs in a thread, one at a time."""
        if len(batch) > 1:
            with _Outcome[None]() as together:
                self._commit_together(batch)
            if together.error is None:
                return
        for write in batch:
            write.outcome = _Outcome()
            with write.outcome as outcome, translated(), self._transaction(write) as connection:
                outcome.value = call(write.run, connection)
            self.commits += 1

    def _commit_together(self, batch: list[_Write]) -> None:
        with translated(), self._transaction(batch[0]) as connection:
            for write in batch:
                connection.execute("SAVEPOINT member")
                with write.outcome as outcome, translated():
                    outcome.value = call(write.run, connection)
                if not connection.in_transaction:
                    # SQLite rolled the whole batch back (a full disk does): each member runs again alone.
                    raise Unavailable
                if write.outcome.error is not None:
                    connection.execute("ROLLBACK TO member")
                connection.execute("RELEASE member")
        self.commits += 1

    @contextmanager
    def _transaction(self, first: _Write) -> Iterator[Connection]:
        writer = self._spares.to_write()
        # Only where a store function says so: a transaction is short, and its statements never wait.
        turn = self._executors.turns.of(self._uuid)
        try:
            # Those that share a commit wait for it all; it belongs to the span of the first.
            with (
                meters.COMMIT_SECONDS.time(),
                traces.span("commit", within=first.span),
                transaction(writer) as connection,
            ):
                with pausing(connection, turn):
                    yield connection
                # The commit of short work waits for the disk. That of long work encrypts what it has written, without
                # a pause: outside its turn, a few at once would take every core, the event loop's as well.
                if not turn.is_long:
                    turn.end()
        finally:
            turn.end()
            self._spares.give_back(writer)


@contextmanager
def pausing(connection: Connection, turn: QueuedWork) -> Iterator[None]:
    """During the block, the connection takes turns with other long work."""
    connection.pause = turn.take
    try:
        yield
    finally:
        connection.pause = None


def call(run: Callable[[Connection], T], connection: Connection) -> T:
    """What the store function returns."""
    try:
        return run(connection)
    except StopIteration:
        # A future does not accept this exception, so its caller would wait for ever.
        raise RuntimeError("a store function exhausted an iterator") from None
