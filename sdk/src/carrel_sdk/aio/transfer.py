"""Written by `sdk/generate.py` from `carrel_sdk.transfer`. Change that, and run it again."""

import io
from collections.abc import AsyncIterator
from typing import BinaryIO

import httpx

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.errors import CarrelUnreachable
from carrel_sdk.models import Imported
from carrel_sdk.transfer import _PIECE_BYTES, SECONDS
from carrel_sdk.transport import Request, cause_of


async def export_to(calls: AsyncCalls, file: BinaryIO) -> None:
    """Write everything to `file`, a piece at a time.

    Raises:
        CarrelUnreachable: it ended in the middle; what is in the file is no zip.
    """
    await save(calls, Request("GET", "/users/me/export", read_seconds=SECONDS), file)


async def save(calls: AsyncCalls, request: Request, file: BinaryIO) -> None:
    """Write an answer to `file`, a piece at a time. The service makes the answer while it sends it.

    Raises:
        CarrelUnreachable: it ended in the middle.
    """
    try:
        async with calls.open_stream(request) as answer:
            async for piece in answer.aiter_bytes():
                file.write(piece)
    except httpx.HTTPError as error:
        raise CarrelUnreachable("the download ended in the middle", sent=True, cause=cause_of(error)) from None


async def import_from(calls: AsyncCalls, file: BinaryIO) -> Imported:
    """Import the contents, presets and settings in `file`, all or nothing. Reads and sends a piece at a time."""
    headers = {"Content-Type": "application/zip", "Content-Length": str(file.seek(0, io.SEEK_END))}
    request = Request("POST", "/users/me/import", headers=headers, content=_AsyncBody(file), read_seconds=SECONDS)
    return (await calls.send(request)).decode(Imported)


class _AsyncBody:
    """A file that is sent from its beginning each time: the token may have expired at the first try."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._file.seek(0)
        while piece := self._file.read(_PIECE_BYTES):
            yield piece
