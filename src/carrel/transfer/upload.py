"""Receives a zip and stores it in the encrypted database, a megabyte at a time; then few imports at once are read."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, nullcontext, suppress
from typing import Final, NamedTuple

from carrel.checks.compiler import Compiler
from carrel.config import Settings
from carrel.datasets.readers import TableReaders
from carrel.errors import CarrelError, TooLarge
from carrel.http import client_connection
from carrel.providers.registry import Registry
from carrel.transfer import incoming, pieces
from carrel.transfer.entries import Imported
from carrel.transfer.pieces import PIECE_BYTES
from carrel.vault.workspace import Workspace

AT_ONCE: Final = 4
"""Imports that are read at once, of all users. Each keeps a writing thread to its end, and there are sixteen."""
_STORED_BYTES: Final = 4 * PIECE_BYTES
"""What one transaction stores."""


class StoredUpload(NamedTuple):
    """A zip that is stored in pieces."""

    id: str
    size: int


class Imports:
    """The imports that are being read. The others wait, in order, without a thread."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)

    async def bring_in(
        self,
        workspace: Workspace,
        package: StoredUpload,
        settings: Settings,
        registry: Registry,
        compiler: Compiler,
        tables: TableReaders,
    ) -> Imported:
        """Read what was kept. As `incoming.bring_in`. It ends without a change when the client leaves."""
        client = client_connection.current()
        await self._free.acquire()
        with ExitStack() as undo:
            undo.callback(self._free.release)
            sources = await workspace.scan(incoming.sources, package.id, package.size, settings)
            await compiler.require(workspace.uuid, sources)
            has_left = threading.Event()
            args = (package.id, package.size, settings, registry, tables.for_thread(workspace.uuid), has_left.is_set)
            reading = asyncio.ensure_future(workspace.write(incoming.bring_in, *args))
            # Not with the request: what is being read keeps its thread until it has ended.
            reading.add_done_callback(self._ended)
            undo.pop_all()
        with nullcontext() if client is None else client.stopping(has_left.set):
            return await asyncio.shield(reading)

    def _ended(self, reading: "asyncio.Future[Imported]") -> None:
        self._free.release()
        if not reading.cancelled():
            reading.exception()


@asynccontextmanager
async def kept(workspace: Workspace, stream: AsyncIterator[bytes], most_bytes: int) -> AsyncIterator[StoredUpload]:
    """Store the upload until the block ends. After a crash the next import deletes it.

    Raises:
        TooLarge: the upload is larger than allowed.
        ImportReplaced: the same user began another import meanwhile.
    """
    import_id = await workspace.write(pieces.begin)
    try:
        size = await _keep(workspace, import_id, stream, most_bytes)
        yield StoredUpload(import_id, size)
    finally:
        # The workspace is closed or the disk is full: the next import deletes the pieces.
        with suppress(CarrelError):
            await workspace.write(pieces.drop, import_id)


async def _keep(workspace: Workspace, import_id: str, stream: AsyncIterator[bytes], most_bytes: int) -> int:
    size = ordinal = 0
    waiting = bytearray()
    async for chunk in stream:
        size += len(chunk)
        if size > most_bytes:
            raise TooLarge
        waiting += chunk
        if len(waiting) >= _STORED_BYTES:
            whole = len(waiting) // PIECE_BYTES
            await workspace.write(pieces.put, import_id, ordinal, bytes(waiting[: whole * PIECE_BYTES]))
            del waiting[: whole * PIECE_BYTES]
            ordinal += whole
    await workspace.write(pieces.put, import_id, ordinal, bytes(waiting))
    return size
