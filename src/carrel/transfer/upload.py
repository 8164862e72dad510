"""Receives a zip and stores it in the encrypted database, a megabyte at a time; then few imports at once are read."""

import asyncio
import re
import threading
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, nullcontext, suppress
from typing import Final, NamedTuple

from carrel.checks.compiler import Compiler
from carrel.config import Settings
from carrel.datasets.readers import TableReaders
from carrel.errors import BadInput, CarrelError, TooLarge, Unavailable
from carrel.http import client_connection
from carrel.providers.registry import Registry
from carrel.transfer import incoming, pieces
from carrel.transfer.entries import Imported
from carrel.transfer.pieces import PIECE_BYTES
from carrel.vault.workspace import Workspace

AT_ONCE: Final = 2
"""Imports that are read at once, of all users. Each keeps a writing thread to its end, and up to 90 MB of memory."""
STORED_BYTES: Final = 4 * PIECE_BYTES
"""What one transaction stores."""


class StoredUpload(NamedTuple):
    """A zip that is stored in pieces, or its beginning."""

    id: str
    size: int
    is_whole: bool = True


class Part(NamedTuple):
    """A part of a zip: where it begins, `None` if it only asks how much is here, and the length of the whole."""

    start: int | None
    total: int


_RANGE: Final = re.compile(r"bytes (?:(\d{1,15})-\d{1,15}|\*)/(\d{1,15})", re.ASCII)


def part_of(content_range: str | None) -> Part | None:
    """The part that the header `Content-Range` names; without it, the zip comes as a whole.

    Raises:
        BadInput: it does not read `bytes 0-99/1000` or `bytes */1000`.
    """
    if content_range is None:
        return None
    found = _RANGE.fullmatch(content_range)
    if found is None:
        raise BadInput.at("Content-Range", "must read bytes 0-99/1000, or bytes */1000")
    start, total = found.groups()
    return Part(None if start is None else int(start), int(total))


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
async def kept(
    workspace: Workspace, stream: AsyncIterator[bytes], most_bytes: int, part: Part | None
) -> AsyncIterator[StoredUpload]:
    """Store the upload until the block ends, or a part of it for the parts that follow.

    What came in parts stays until it was read, also when a part is cut. The next import deletes what a crash left.

    Raises:
        TooLarge: the upload is larger than allowed, or says that it will be.
        PartMisplaced: the part is not the next one.
        ImportReplaced: the same user began another import meanwhile.
    """
    if part is not None and part.total > most_bytes:
        raise TooLarge
    received = 0
    if part is None or part.start == 0:
        import_id = await workspace.write(pieces.begin)
    else:
        import_id, received = await workspace.scan(pieces.resume, part.start)
    is_over = part is None
    try:
        size = await _keep(workspace, import_id, stream, received, part, most_bytes)
        is_whole = part is None or size == part.total
        try:
            yield StoredUpload(import_id, size, is_whole)
        except (Unavailable, asyncio.CancelledError):
            # Not read to the end: the client has left, or the service stops.
            raise
        except BaseException:
            is_over = True
            raise
        is_over = is_over or is_whole
    finally:
        if is_over:
            # The workspace is closed or the disk is full: the next import deletes the pieces.
            with suppress(CarrelError):
                await workspace.write(pieces.drop, import_id)


async def _keep(
    workspace: Workspace,
    import_id: str,
    stream: AsyncIterator[bytes],
    received: int,
    part: Part | None,
    most_bytes: int,
) -> int:
    """Store what comes after so many bytes. Of a part that is not the last, whole pieces are stored: how many bytes."""
    most = most_bytes if part is None else part.total
    size, ordinal = received, received // PIECE_BYTES
    waiting = bytearray()
    async for chunk in stream:
        size += len(chunk)
        if size > most:
            raise TooLarge
        waiting += chunk
        if len(waiting) >= STORED_BYTES:
            ordinal += await _put(workspace, import_id, ordinal, waiting)
    if part is not None and size < part.total:
        ordinal += await _put(workspace, import_id, ordinal, waiting)
        return ordinal * PIECE_BYTES
    if waiting or part is None:
        await workspace.write(pieces.put, import_id, ordinal, bytes(waiting))
    return size


async def _put(workspace: Workspace, import_id: str, ordinal: int, waiting: bytearray) -> int:
    """Store the whole pieces that wait, and leave the rest there; how many they are."""
    whole = len(waiting) // PIECE_BYTES
    if whole:
        await workspace.write(pieces.put, import_id, ordinal, bytes(waiting[: whole * PIECE_BYTES]))
        del waiting[: whole * PIECE_BYTES]
    return whole
