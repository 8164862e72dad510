"""One user's open database, and the three verbs that are the only access to it: read, scan, write.

A transaction cannot hold an `await`: a store function is plain synchronous code that gets a connection, and only
`WriteQueue` begins and commits transactions.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, Concatenate, ParamSpec, TypeVar

import apsw

from carrel.errors import Unavailable
from carrel.http import client_connection
from carrel.kit.concurrency.threads import in_thread, tell_when_done
from carrel.kit.concurrency.turns import QueuedWork
from carrel.kit.sqlite.database import Connection, ReadTooLong, translated
from carrel.vault.executors import Executors
from carrel.vault.keyring import UserUuid
from carrel.vault.spares import Spares
from carrel.vault.write_queue import WriteQueue, call, pausing

T = TypeVar("T")
P = ParamSpec("P")

_SCANS = 2
"""The most scans of one workspace at a time: a user who starts more waits for them, and other users do not."""
_INTERRUPT_SECONDS = 0.02
MAX_SCAN_SECONDS = 1.9
"""Processor time of one scan for a request, whatever the workspace holds. Scans for runs under way have no limit."""


class WorkspaceClosed(Unavailable):
    """A rekey, an eviction or a deletion closed the workspace during the request."""

    code = "workspace-closed"
    detail = "The workspace was closed in the meantime; try again."


class _Scan:
    """A scan on its way to a thread or in one; `scanner` is its connection while it has one."""

    def __init__(self, *, is_limited: bool) -> None:
        self.job: Future[Any]
        self.ended: asyncio.Future[None]
        self.look: asyncio.TimerHandle | None = None
        """The next look at whether a limited scan has taken its processor time."""
        self.is_limited = is_limited
        self._scanner: Connection | None = None
        self._turn: QueuedWork | None = None
        self._is_stopped = False
        self._lock = threading.Lock()

    @contextmanager
    def on(self, scanner: Connection, turn: QueuedWork) -> Iterator[None]:
        """During the block, `interrupt` stops the statement that runs on `scanner`, and never any other."""
        with self._lock:
            self._scanner, self._turn = scanner, turn
            scanner.stopped = self._is_stopped
            scanner.cpu_clock = time.pthread_getcpuclockid(threading.get_ident())
            scanner.until = time.thread_time() + MAX_SCAN_SECONDS if self.is_limited else math.inf
        try:
            with pausing(scanner, turn):
                turn.begin()
                yield
        finally:
            turn.end()
            with self._lock:
                self._scanner = self._turn = None

    def interrupt(self) -> None:
        """Stop the statement that is running, and let no further one begin."""
        with self._lock:
            self._is_stopped = True
            if self._scanner is not None and self._turn is not None:
                self._scanner.stopped = True
                self._scanner.interrupt()
                self._turn.stop()

    def end_if_too_long(self) -> None:
        """Stop the statement that is running if the scan has taken its processor time."""
        with self._lock:
            if self._scanner is not None and self._scanner.is_too_long():
                self._scanner.interrupt()

    def stop(self) -> None:
        """Stop it wherever it is."""
        if not self.job.cancel():
            self.interrupt()


class Workspace:
    """The open database of one user.

    `open_connection(readonly)` makes a further keyed connection; it is called in threads of `executors`. `note_spare`
    hears whenever one was used besides the reader, so that `close_spares` closes them some time later.
    """

    def __init__(
        self,
        uuid: UserUuid,
        reader: Connection,
        open_connection: Callable[[bool], Connection],
        executors: Executors,
        note_spare: Callable[[UserUuid], None] = lambda _: None,
    ) -> None:
        self.uuid = uuid
        self.announced: tuple[int, float] | None = None
        """How many commits there were, and when, as the pool's listeners last looked for work that waits."""
        self._reader = reader
        self._executors = executors
        self._note_spare = note_spare
        self._closing_spares = asyncio.Lock()
        self._spares = Spares(open_connection)
        self._writes = WriteQueue(uuid, self._spares, executors)
        self._scans: set[_Scan] = set()
        self._recalled: dict[Callable[[Connection], Any], tuple[int, Any]] = {}
        self._scanned: asyncio.Future[None] | None = None  # That the last scan has ended, while the workspace closes.
        self._scan_slots = asyncio.Semaphore(_SCANS)
        self._closed = False

    def __repr__(self) -> str:
        return "<Workspace>"

    @property
    def commits(self) -> int:
        """How many transactions were committed here."""
        return self._writes.commits

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
                _end_snapshot(reader)

    async def scan(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an unbounded read in a thread, in one snapshot, on a connection that nothing else uses meanwhile.

        When the caller goes away, or the client of the request that it serves, the scan is stopped. Scans take turns,
        and those of users who used little of late come first.

        Raises:
            WorkspaceClosed: the workspace was closed, also in the middle; or the client has left.
            ReadTooLong: it is for a request, and takes more processor time than one may.
        """
        client = client_connection.current()
        await self._scan_slots.acquire()
        with ExitStack() as undo:
            undo.callback(self._scan_slots.release)
            self._require_open()
            scan = _Scan(is_limited=client is not None)
            scan.ended = asyncio.get_running_loop().create_future()
            scan.job = self._executors.scans.submit(self._scan, scan, lambda conn: fn(conn, *args, **kwargs))
            tell_when_done(scan.job, lambda: self._forget(scan))
            self._scans.add(scan)
            undo.pop_all()
        if scan.is_limited:
            self._look_in(MAX_SCAN_SECONDS, scan)
        try:
            with nullcontext() if client is None else client.stopping(scan.stop):
                await scan.ended
        except asyncio.CancelledError:
            scan.stop()
            raise
        if scan.job.cancelled():
            # `stop` or `close` cancelled it before it got a thread.
            raise WorkspaceClosed
        result: T = scan.job.result()
        return result

    async def recall(self, fn: Callable[[Connection], T]) -> T:
        """`scan`, from memory if nothing was committed since `fn`, a function of a module, was called here.

        Raises:
            WorkspaceClosed, ReadTooLong: as a scan does.
        """
        self._require_open()
        before = self.commits
        commits, recalled = self._recalled.get(fn, (-1, None))
        found: T = recalled if commits == before else await self.scan(fn)
        self._recalled[fn] = before, found
        return found

    def _look_in(self, seconds: float, scan: _Scan) -> None:
        scan.look = asyncio.get_running_loop().call_later(seconds, self._look_at, scan)

    def _look_at(self, scan: _Scan) -> None:
        # The scan looks itself between steps of the engine's virtual machine. But a search for words does all its work
        # in one step: it sees an interrupt whenever it reads a page.
        scan.end_if_too_long()
        self._look_in(_INTERRUPT_SECONDS, scan)

    def _forget(self, scan: _Scan) -> None:
        if scan.look is not None:
            scan.look.cancel()
        self._scans.discard(scan)
        self._note_spare(self.uuid)
        self._scan_slots.release()
        if not scan.ended.done():
            scan.ended.set_result(None)
        if not self._scans and self._scanned is not None:
            self._scanned.set_result(None)

    def _scan(self, scan: _Scan, run: Callable[[Connection], T]) -> T:
        with translated():
            scanner = self._spares.to_scan()
            try:
                with scan.on(scanner, self._executors.turns.of(self.uuid)):
                    self._require_open()
                    scanner.execute("BEGIN")
                    try:
                        return call(run, scanner)
                    finally:
                        _end_snapshot(scanner)
            except apsw.InterruptError:
                raise (WorkspaceClosed if scanner.stopped else ReadTooLong) from None
            finally:
                self._spares.give_back(scanner)

    async def write(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `fn` in a transaction of its own or one shared with other waiting writes; return when it is durable.

        `fn` may run more than once (only its last run counts), so it must not keep state outside the connection. An
        error in `fn` rolls back only its own changes, and `write` raises it. If the caller is cancelled, a queued write
        still runs.

        Raises:
            WorkspaceClosed: nothing was written.
            DiskFull: nothing was written.
        """
        self._require_open()
        self._note_spare(self.uuid)
        return await self._writes.add(lambda conn: fn(conn, *args, **kwargs))

    def _require_open(self) -> None:
        if self._closed:
            raise WorkspaceClosed

    async def close(self) -> None:
        """Let queued writes commit, stop scans, close every connection. Afterwards every verb raises."""
        self._closed = True
        await self._stop_scans()
        await self._writes.drain()
        async with self._closing_spares:
            await in_thread(self._executors.writes, self._close_connections)

    async def close_spares(self) -> None:
        """Close every connection but the reader, whose pages are freed, unless something is at work here.

        The next write or scan opens one in a millisecond.
        """
        if self._closed:
            return
        if self._scans or self._writes.is_busy:
            self._note_spare(self.uuid)
            return
        self._reader.release_memory()
        async with self._closing_spares:
            await in_thread(self._executors.writes, self._spares.close)

    async def hold(self) -> None:
        """Let the file stay as it is: commits go into the log, and stay there when the workspace closes."""
        self.set_held(on=True)
        async with self._closing_spares:
            if not self._closed:
                await in_thread(self._executors.writes, self._spares.empty_log)

    def set_held(self, *, on: bool) -> None:
        """Whether the file stays as it is from now on."""
        self._spares.is_held = on

    async def _stop_scans(self) -> None:
        self._scanned = asyncio.get_running_loop().create_future()
        for scan in self._scans:
            scan.job.cancel()
        while self._scans:
            for scan in self._scans:
                scan.interrupt()
            # Interrupt again: a scan may have got its connection only now, or may run several statements.
            await asyncio.wait([self._scanned], timeout=_INTERRUPT_SECONDS)

    def _close_connections(self) -> None:
        self._spares.close()
        self._spares.close_last(self._reader)


def _end_snapshot(connection: Connection) -> None:
    # A failing disk may have ended it already.
    if connection.in_transaction:
        connection.execute("COMMIT")
