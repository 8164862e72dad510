"""Has workers read tables: uploaded files, and tables of imports."""

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from itertools import chain
from typing import Final

from carrel.config import Settings
from carrel.datasets.batches import cleaned, read_answers, read_table
from carrel.datasets.refusals import TableTooComplex
from carrel.datasets.schemas import SPREADSHEETS, Column, Format, Role, TableUpload
from carrel.datasets.table import Limits
from carrel.kit import logs
from carrel.kit.concurrency.threads import in_thread
from carrel.kit.processes.jobs import MIB, WorkerError, WorkerLied
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.processes.stream import Stream

_PIECE_BYTES: Final = 256 * 1024

ReadTable = Callable[[Iterable[bytes], Format, Mapping[str, Role]], Generator[bytes, None, None]]
"""Reads a table in the thread that calls it, and returns its rows in batches. Close it when no more are wanted."""


class TableReaders:
    """`readers` are the workers that read documents, too. Owned by the event loop."""

    def __init__(self, readers: WorkerPool, settings: Settings) -> None:
        self._readers = readers
        most = settings.max_body_bytes
        self._most_packed = settings.max_upload_bytes
        self._limits = Limits(settings.max_data_set_rows, most, 2 * most)
        # An export escapes quotation marks and line breaks, and has a column's name beside each cell.
        self._limits_of_imports = self._limits._replace(row_characters=4 * most, guesses=False)
        self._threads = ThreadPoolExecutor(settings.workers, "tables")

    async def read(self, user: str, file: TableUpload, before: Sequence[Column] = ()) -> list[bytes]:
        """The rows of an uploaded table, in batches. The bytes of the file are gone afterwards.

        `before` are the columns of the version before, whose roles stay.

        Raises:
            CarrelError: one of `TABLE_REFUSALS`.
        """
        # Rows take no more than the file, but for UTF-16, and a number and a sign for each row and cell. A spreadsheet
        # is packed, as some results are.
        is_packed = file.format in SPREADSHEETS or file.source != "table"
        most = 2 * (self._most_packed if is_packed else len(file.body)) + 32 * MIB

        def gathered(stream: Stream) -> list[bytes]:
            found: list[bytes] = []
            size = 0
            limits = self._limits
            files = [(file.file_name, len(file.body)), *((name, len(body)) for name, body in file.others)]
            pieces = chain(_taken(file.body), *(_taken(body) for _, body in file.others))
            if file.source == "table" and not file.others:
                read = stream.read(read_table, pieces, file.format, file.roles, list(before), limits, file.sheet)
            else:
                read = stream.read(read_answers, pieces, files, file.source, file.format, file.roles, limits)
            for batch in read:
                size += len(batch)
                if size > most:
                    raise WorkerLied
                found.append(batch)
            return cleaned(found)

        with _refusing():
            async with self._readers.turn(user) as worker, worker.stream() as stream:
                return await in_thread(self._threads, lambda: gathered(stream))

    def for_thread(self, user: str) -> ReadTable:
        """What reads tables for a thread. Call this on the event loop, and the result elsewhere.

        Raises there:
            CarrelError: one of `TABLE_REFUSALS`.
        """
        loop = asyncio.get_running_loop()

        @contextmanager
        def lent() -> Iterator[Stream]:
            stack = AsyncExitStack()

            async def enter() -> Stream:
                worker = await stack.enter_async_context(self._readers.turn(user))
                return await stack.enter_async_context(worker.stream())

            try:
                yield asyncio.run_coroutine_threadsafe(enter(), loop).result()
            finally:
                asyncio.run_coroutine_threadsafe(stack.aclose(), loop).result()

        def read(pieces: Iterable[bytes], kind: Format, roles: Mapping[str, Role]) -> Generator[bytes, None, None]:
            with _refusing(), lent() as stream:
                yield from stream.read(read_table, pieces, kind, dict(roles), [], self._limits_of_imports)

        return read

    def stop(self) -> None:
        """Wait for the threads; the workers have to be closed before."""
        self._threads.shutdown()


def _taken(body: bytearray) -> Iterator[bytes]:
    """The bytes in pieces, each of which is gone when the next is wanted."""
    while body:
        yield bytes(memoryview(body)[:_PIECE_BYTES])
        del body[:_PIECE_BYTES]


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except WorkerError as error:
        # It took too long, or the system ended the process because it took too much memory.
        logs.warning("worker-error", kind="tables", reason=type(error).__name__, code=str(error))
        raise TableTooComplex from None
