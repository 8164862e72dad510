"""Export a whole workspace to a zip file, and import one."""

import io
from collections.abc import Iterator
from typing import BinaryIO, Final

import httpx

from carrel_sdk.calls import Calls
from carrel_sdk.errors import CarrelApiError, CarrelUnreachable, TryLater
from carrel_sdk.models import Imported, Received
from carrel_sdk.transport import Answer, Request, cause_of

SECONDS: Final = 300.0
"""The longest wait for a byte: packing big runs takes a while, and an import is committed at once."""

PART_BYTES: Final = 32 * 1024 * 1024
"""What one request of an import has, at most."""
MOST_CUTS: Final = 5
"""An import ends after so many cuts between which nothing came through."""
_PIECE_BYTES: Final = 64 * 1024
_PARTLY: Final = 202
_MISPLACED: Final = "import-part-misplaced"


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
    """Import the contents, presets and settings in `file`, all or nothing. Reads and sends a piece at a time.

    A large file goes in parts. After a cut the service is asked what it has, and gets the rest, also of an import of
    the same file that ended before.

    Raises:
        CarrelUnreachable: it was cut too often; where that was `sent`, the import may be done.
    """
    total = file.seek(0, io.SEEK_END)
    if total <= PART_BYTES:
        return calls.send(_upload(file, 0, total, {})).decode(Imported)
    cuts, last = 0, 0
    answer = _progress(calls, total)
    is_older = answer is not None
    while answer is None or answer.status == _PARTLY:
        received = answer.decode(Received).received_bytes if answer else 0
        start = received if received < total else 0
        end = min(start + PART_BYTES, total)
        cuts, last = 0 if start > last else cuts, start
        try:
            answer = calls.send(_upload(file, start, end, {"Content-Range": f"bytes {start}-{end - 1}/{total}"}))
        except (CarrelUnreachable, CarrelApiError) as error:
            code = error.code if isinstance(error, CarrelApiError) else ""
            if is_older and code == "import-unreadable":
                # What was here was of another file, and is gone.
                answer, is_older = None, False
                continue
            cuts += 1
            is_cut = isinstance(error, CarrelUnreachable | TryLater) or code == _MISPLACED
            answer = _progress(calls, total) if is_cut and cuts < MOST_CUTS else None
            # Nothing is kept of an import that is done.
            if answer is None and (not is_cut or cuts == MOST_CUTS or end == total):
                raise
    return answer.decode(Imported)


def _progress(calls: Calls, total: int) -> Answer | None:
    """How much the service has of the parts of an import; `None` is nothing. If it has all of them, it reads them."""
    headers = {"Content-Type": "application/zip", "Content-Range": f"bytes */{total}"}
    try:
        return calls.send(Request("POST", "/users/me/import", headers=headers, read_seconds=SECONDS, repeatable=True))
    except CarrelApiError as error:
        if error.code != _MISPLACED:
            raise
    return None


def _upload(file: BinaryIO, start: int, end: int, headers: dict[str, str]) -> Request:
    # With its length, the service knows at once that a zip is too large.
    headers = {"Content-Type": "application/zip", "Content-Length": str(end - start), **headers}
    body = _Body(file, start, end)
    return Request("POST", "/users/me/import", headers=headers, content=body, read_seconds=SECONDS)


class _Body:
    """A part of a file, sent from its beginning each time: the token may have expired at the first try."""

    def __init__(self, file: BinaryIO, start: int, end: int) -> None:
        self._file = file
        self._start = start
        self._end = end

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(self._start)
        left = self._end - self._start
        while piece := self._file.read(min(left, _PIECE_BYTES)):
            left -= len(piece)
            yield piece
