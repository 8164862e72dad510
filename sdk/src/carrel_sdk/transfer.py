"""Export a whole workspace to a zip file, and import one."""

import io
from collections.abc import Iterator
from typing import BinaryIO, Final

import httpx

from carrel_sdk.calls import Calls
from carrel_sdk.errors import CarrelUnreachable
from carrel_sdk.models import Imported
from carrel_sdk.transport import Request, cause_of

SECONDS: Final = 300.0
"""The longest wait for a byte: packing big runs takes a while, and an import is committed at once."""

_PIECE_BYTES: Final = 64 * 1024


def export_to(calls: Calls, file: BinaryIO) -> None:
    """Write everything to `file`, a piece at a time.

    Raises:
        CarrelUnreachable: it ended in the middle; what is in the file is no zip.
    """
    save(calls, Request("GET", "/users/me/export", read_seconds=SECONDS), file)


def save(calls: Calls, request: Request, file: BinaryIO) -> None:
    """Write an answer to `file`, a piece at a time. The service makes the answer while it sends it.

    Raises:
        CarrelUnreachable: it ended in the middle.
    """
    try:
        with calls.open_stream(request) as answer:
            for piece in answer.iter_bytes():
                file.write(piece)
    except httpx.HTTPError as error:
        raise CarrelUnreachable("the download ended in the middle", sent=True, cause=cause_of(error)) from None


def import_from(calls: Calls, file: BinaryIO) -> Imported:
    """Import the contents, presets and settings in `file`, all or nothing. Reads and sends a piece at a time."""
    # With its length, the service knows at once that a zip is too large.
    headers = {"Content-Type": "application/zip", "Content-Length": str(file.seek(0, io.SEEK_END))}
    request = Request("POST", "/users/me/import", headers=headers, content=_Body(file), read_seconds=SECONDS)
    return calls.send(request).decode(Imported)


class _Body:
    """A file that is sent from its beginning each time: the token may have expired at the first try."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        while piece := self._file.read(_PIECE_BYTES):
            yield piece
