"""One user's open database, and the three verbs that are the only door to it: read, scan, write.

A transaction can hold no `await` by construction: a store function is plain synchronous code that is handed a
connection, and this module alone begins and commits.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import apsw

from carrel.errors import Unavailable
from carrel.kit import database
from carrel.kit.database import Connection, transaction, translated
from carrel.vault.keyring import UserUuid

T = TypeVar("T")
P = ParamSpec("P")

_BATCH = 64
"""Writes that share one commit at most; a longer queue is several commits."""
_IDLE_SCANNERS = 2


class WorkspaceClosed(Unavailable):
    """The workspace was closed while the request was under way: a rekey, an eviction or a deletion."""

    code = "workspace-closed"
    detail = "The workspace was closed in the meantime; try again."


class _Outcome(Generic[T]):
    """What a store function returned or raised, kept until it is known that the commit is durable."""

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
    """A queued write: the function, its arguments, and who waits for it."""

    run: Callable[[Connection], Any]
    waiter: asyncio.Future[Any]
    outcome: _Outcome[Any]


class Workspace:
    """The open database of one user.

    `open_connection(readonly)` makes a further keyed connection; it is called in threads of `executor`.
    """

    def __init__(
        self,
        uuid: UserUuid,
        reader: Connection,
        open_connection: Callable[[bool], Connection],
        executor: Executor,
    ) -> None:
        self.uuid = uuid
        self.commits = 0
        self._reader = reader
        self._open_connection = open_connection
        self._executor = executor
        self._writer: Connection | None = None
        self._queue: deque[_Write] = deque()
        self._draining: asyncio.Task[None] | None = None
        self._idle_scanners: list[Connection] = []
        self._scans: dict[Connection, asyncio.Future[Any]] = {}
        self._closed = False

    def __repr__(self) -> str:
        return "<Workspace>"

    def read(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a bounded read now, on the event loop, in one snapshot. For by-key and LIMITed queries of microseconds.

        Raises:
            WorkspaceClosed: the workspace was closed.
            Damaged: a page fails its checksum.
        """
        self._require_open()
        reader = self._reader
        with translated():
            reader.execute("BEGIN")
            try:
                return fn(reader, *args, **kwargs)
            finally:
                reader.execute("COMMIT")

    async def scan(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an unbounded read in a thread, in one snapshot, on a connection that nothing else uses meanwhile.

        Raises:
            WorkspaceClosed: the workspace was closed, also in the middle.
        """
        self._require_open()
        loop = asyncio.get_running_loop()
        if self._idle_scanners:
            scanner = self._idle_scanners.pop()
        else:
            scanner = await loop.run_in_executor(self._executor, self._open_connection, True)
            try:
                self._require_open()
            except WorkspaceClosed:
                scanner.close(True)
                raise
        work = loop.run_in_executor(self._executor, _scan, scanner, lambda: fn(scanner, *args, **kwargs))
        self._scans[scanner] = work
        work.add_done_callback(lambda _: self._give_back(scanner))
        # A caller that goes away leaves the thread to finish; the connection comes back in the callback.
        return await asyncio.shield(work)

    def _give_back(self, scanner: Connection) -> None:
        del self._scans[scanner]
        if self._closed or len(self._idle_scanners) >= _IDLE_SCANNERS:
            scanner.close(True)
        else:
            self._idle_scanners.append(scanner)

    async def write(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `fn` in a transaction of its own or one shared with other waiting writes; return when it is durable.

        `fn` may run more than once (only its last run counts), so it must not keep state outside the connection. What
        it raises rolls back its own changes only and is raised here. A caller's cancellation does not cancel a queued
        write.

        Raises:
            WorkspaceClosed: nothing was written.
            DiskFull: nothing was written.
        """
        self._require_open()
        waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.append(_Write(lambda conn: fn(conn, *args, **kwargs), waiter, _Outcome()))
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain())
        return await asyncio.shield(waiter)

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._queue:
                batch = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
                await loop.run_in_executor(self._executor, self._commit, batch)
                for write in batch:
                    if write.outcome.error is None:
                        write.waiter.set_result(write.outcome.value)
                    else:
                        write.waiter.set_exception(write.outcome.error)
                        # Whoever waited may be gone; an error that nobody fetches is not a leak.
                        write.waiter.exception()
        finally:
            self._draining = None

    def _commit(self, batch: list[_Write]) -> None:
        """Commit `batch` together; if that cannot be, each alone. Runs in a thread, one at a time."""
        if len(batch) > 1:
            with _Outcome[None]() as together:
                self._commit_together(batch)
            if together.error is None:
                return
        for write in batch:
            write.outcome = _Outcome()
            with write.outcome as outcome, translated(), transaction(self._write_connection()) as connection:
                outcome.value = write.run(connection)
            self.commits += 1

    def _commit_together(self, batch: list[_Write]) -> None:
        with translated(), transaction(self._write_connection()) as connection:
            for write in batch:
                connection.execute("SAVEPOINT member")
                with write.outcome as outcome, translated():
                    outcome.value = write.run(connection)
                if not connection.in_transaction:
                    # SQLite rolled the whole batch back (a full disk does): each member runs again alone.
                    raise Unavailable
                if write.outcome.error is not None:
                    connection.execute("ROLLBACK TO member")
                connection.execute("RELEASE member")
        self.commits += 1

    def _write_connection(self) -> Connection:
        if self._writer is None:
            self._writer = self._open_connection(False)
        return self._writer

    def _require_open(self) -> None:
        if self._closed:
            raise WorkspaceClosed

    async def close(self) -> None:
        """Let queued writes commit, stop scans, close every connection. Afterwards every verb raises."""
        self._closed = True
        for scanner, work in list(self._scans.items()):
            scanner.interrupt()
            await asyncio.wait([work])
        if self._draining is not None:
            await asyncio.wait([self._draining])
        await asyncio.get_running_loop().run_in_executor(self._executor, self._close_connections)

    def _close_connections(self) -> None:
        for scanner in self._idle_scanners:
            scanner.close(True)
        self._idle_scanners.clear()
        if self._writer is None:
            database.close(self._reader)
            return
        self._reader.close(True)
        database.close(self._writer)


def _scan(scanner: Connection, run: Callable[[], T]) -> T:
    with translated():
        scanner.execute("BEGIN")
        try:
            return run()
        except apsw.InterruptError:
            raise WorkspaceClosed from None
        finally:
            if scanner.in_transaction:
                scanner.execute("COMMIT")
