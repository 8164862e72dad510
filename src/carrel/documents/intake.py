"""Takes uploaded files: how many at once, how long each may take, and which process reads them."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, Final

from litestar import Request
from litestar.exceptions import HTTPException

from carrel.config import Settings
from carrel.documents import upload
from carrel.documents.extract import text_of
from carrel.documents.refusals import DocumentTooComplex
from carrel.documents.schemas import Upload
from carrel.errors import Unavailable
from carrel.kit.http.problem import Malformed
from carrel.kit.processes.jobs import WorkerError
from carrel.kit.processes.pool import WorkerPool
from carrel.vault.keyring import UserUuid

_AT_ONCE: Final = 8
"""The memory for all uploads together, as a number of files of the greatest size."""
_OF_ONE_USER: Final = 3
_SILENCE_SECONDS: Final = 30.0
READING_SECONDS: Final = 20.0
"""On the clock of the wall, where others have the processor, too. `max_reading_seconds` counts the file's own time."""
_LATER_SECONDS: Final = 5


class Busy(Unavailable):
    """Other uploads take all the memory that uploads have."""

    code = "uploads-busy"
    detail = "Too many files are being uploaded right now; try again in a moment."


class Intake:
    """The uploads that are under way. Owned by the event loop.

    `readers` are workers of their own, because a file that takes all of its time must not delay the models of runs.
    """

    def __init__(self, readers: WorkerPool, settings: Settings) -> None:
        self._readers = readers
        self._settings = settings
        self._held = 0
        self._users: dict[UserUuid, int] = {}

    @contextmanager
    def place(self, uuid: UserUuid) -> Iterator["Place"]:
        """Reserve room for one upload of a user; the end of the block releases it.

        Raises:
            Busy: the user's other uploads take all the room.
        """
        if self._users.get(uuid, 0) >= _OF_ONE_USER:
            raise Busy(retry_after_seconds=_LATER_SECONDS)
        self._users[uuid] = self._users.get(uuid, 0) + 1
        place = Place(self)
        try:
            yield place
        finally:
            self._held -= place.held
            self._users[uuid] -= 1
            if not self._users[uuid]:
                del self._users[uuid]

    async def read(self, request: Request[Any, Any, Any], place: "Place") -> Upload:
        """The file that a request brings.

        Raises:
            Busy: the uploads of all users take all the memory for uploads.
            CarrelError: see `upload.read`; `Malformed` also when nothing came for half a minute.
        """
        kind = request.headers.get("content-type", "")
        async with aclosing(_brisk(request)) as stream:
            return await upload.read(stream, kind, self._settings, place.take)

    async def text(self, uuid: UserUuid, file: Upload) -> str:
        """The text of a user's file. A worker reads one file at a time, and users take turns.

        Raises:
            CarrelError: one of this package's refusals.
        """
        most = self._settings.max_body_bytes
        try:
            body = memoryview(file.body)
            text = await self._readers.run(uuid, text_of, file.format, body, most, timeout_seconds=READING_SECONDS)
        except WorkerError:
            # Reading took too long, or the system ended the process because it took too much memory.
            raise DocumentTooComplex from None
        # `text_of` promises this, but a file that took its process over need not keep the promise.
        if "\0" in text or not text.strip() or len(text.encode()) > most:
            raise DocumentTooComplex
        return text

    def hold(self, size: int) -> None:
        """Count bytes that are kept from now on.

        Raises:
            Busy: there is no room for them.
        """
        if self._held + size > _AT_ONCE * self._settings.max_upload_bytes:
            raise Busy(retry_after_seconds=_LATER_SECONDS)
        self._held += size

    async def stop(self) -> None:
        """End the processes that read."""
        await self._readers.close()


class Place:
    """The room of one upload."""

    def __init__(self, intake: Intake) -> None:
        self.held = 0
        self._intake = intake

    def take(self, size: int) -> None:
        """Count bytes before they are kept.

        Raises:
            Busy: there is no room for them.
        """
        self._intake.hold(size)
        self.held += size


async def _brisk(request: Request[Any, Any, Any]) -> AsyncGenerator[bytes, None]:
    """The body as it arrives; refuses a client that sends nothing for a while, because it keeps the workspace open."""
    stream = request.stream()
    try:
        while True:
            async with asyncio.timeout(_SILENCE_SECONDS):
                chunk = await anext(stream, None)
            if chunk is None:
                return
            yield chunk
    except (TimeoutError, HTTPException):
        # The framework's error for a client that has left would count as one of our own faults.
        raise Malformed(detail="The upload broke off.") from None
