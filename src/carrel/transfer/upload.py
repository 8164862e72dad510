"""Receives a zip and stores it in the encrypted database, a megabyte at a time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from carrel.errors import CarrelError, TooLarge
from carrel.transfer import pieces
from carrel.transfer.pieces import PIECE_BYTES
from carrel.vault.workspace import Workspace


class Kept(NamedTuple):
    """A zip that is stored in pieces."""

    id: str
    size: int


@asynccontextmanager
async def kept(workspace: Workspace, stream: AsyncIterator[bytes], most_bytes: int) -> AsyncIterator[Kept]:
    """Store the upload until the block ends. After a crash the next import deletes it.

    Raises:
        TooLarge: the upload is larger than allowed.
        ImportReplaced: the same user began another import meanwhile.
    """
    import_id = await workspace.write(pieces.begin)
    try:
        size = await _keep(workspace, import_id, stream, most_bytes)
        yield Kept(import_id, size)
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
        while len(waiting) >= PIECE_BYTES:
            await workspace.write(pieces.put, import_id, ordinal, bytes(waiting[:PIECE_BYTES]))
            del waiting[:PIECE_BYTES]
            ordinal += 1
    if waiting:
        await workspace.write(pieces.put, import_id, ordinal, bytes(waiting))
    return size
